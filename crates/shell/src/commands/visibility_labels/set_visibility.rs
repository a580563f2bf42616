//! `set_visibility`: sets the visibility of cells that are there.

use super::feature;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_client::Put;

pub const COMMAND: Command = Command {
    name: "set_visibility",
    aliases: &[],
    summary: "sets the visibility of cells that are there",
    help: "\
Writes the cells that a scan finds anew, with a visibility expression. Of the scan's options it knows COLUMNS, STARTROW,
STOPROW, ROWPREFIXFILTER, TIMERANGE, TIMESTAMP and FILTER.

  hbase> set_visibility 't1', 'A|B', {COLUMNS => ['c1', 'c2']}
  hbase> set_visibility 't1', '(A&B)|C', {COLUMNS => 'c1', TIMERANGE => [1303668804000, 1303668904000]}
  hbase> set_visibility 't1', 'A&B&C', {ROWPREFIXFILTER => 'row2', FILTER => \"(QualifierFilter (>=, 'binary:xyz'))\"}
",
    arity: Arity::exactly(3),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = session.table(&arguments.text(0))?;
    let expression = arguments.text(1);
    let scan = feature::scan(&mut arguments.options(2)?)?;
    session.restart_clock();
    let mut scanner = table.scan(scan);
    let mut rows = 0;
    while let Some(row) = session.wait(scanner.next())? {
        for cell in row.cells() {
            let put = Put::row(cell.row()).column_at(cell.family(), cell.qualifier(), cell.timestamp(), cell.value);
            session.wait(table.put(put.visibility(&expression)))?;
        }
        rows += 1;
    }
    session.print.footer(Some(rows));
    Ok(Value::Nil)
}
