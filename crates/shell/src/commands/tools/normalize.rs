//! `normalize`: splits and merges regions towards an even size.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;

pub const COMMAND: Command = Command {
    name: "normalize",
    aliases: &[],
    summary: "splits and merges regions towards an even size",
    help: "\
Runs the normalizer over all tables, or over those that every argument matches; prints whether it ran.

  hbase> normalize
  hbase> normalize TABLE_NAME => 'my_table'
  hbase> normalize TABLE_NAMES => ['foo', 'bar', 'baz']
  hbase> normalize REGEX => 'my_.*'
  hbase> normalize NAMESPACE => 'ns1'
  hbase> normalize NAMESPACE => 'ns', REGEX => '*._BIG_.*'
",
    arity: Arity::at_least(0),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let (mut tables, mut regex, mut namespace) = (Vec::new(), None, None);
    for index in 0..arguments.len() {
        let mut options = arguments.options(index)?;
        for table in options.take_texts("TABLE_NAME").into_iter().chain(options.take_texts("TABLE_NAMES")).flatten() {
            tables.push(TableName::parse(&table)?);
        }
        regex = options.take_text("REGEX").or(regex);
        namespace = options.take_text("NAMESPACE").or(namespace);
        if !options.is_empty() {
            let left = Value::hash(options.pairs().to_vec()).inspect();
            return Err(Failure::argument(format!("Unrecognized argument {left}")));
        }
    }
    let admin = session.admin()?;
    let ran = session.wait(admin.normalize(&tables, regex.as_deref(), namespace.as_deref()))?;
    session.print.row(&[ran.to_string()]);
    Ok(Value::Bool(ran))
}
