//! `flush`: writes memstores to files.

use crate::commands::target::{self, Target};
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;

pub const COMMAND: Command = Command {
    name: "flush",
    aliases: &[],
    summary: "writes memstores to files",
    help: "\
Flushes all regions of a table, one region, or all regions of a server; of one family, or of all.

  hbase> flush 'TABLENAME'
  hbase> flush 'TABLENAME','FAMILYNAME'
  hbase> flush 'REGIONNAME'
  hbase> flush 'REGIONNAME','FAMILYNAME'
  hbase> flush 'ENCODED_REGIONNAME'
  hbase> flush 'ENCODED_REGIONNAME','FAMILYNAME'
  hbase> flush 'REGION_SERVER_NAME'
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let family = arguments.get(1).map(Value::to_bytes);
    if let Ok(server) = ServerName::parse(&arguments.text(0)) {
        let admin = session.admin()?;
        session.wait(admin.flush_server(&server))?;
        return Ok(Value::Nil);
    }
    let target = target::region_or_table(session, &arguments.bytes(0))?;
    let admin = session.admin()?;
    match target {
        Target::Region(region) => session.wait(admin.flush_region_family(&region.info, family.as_deref()))?,
        Target::Table(table) => {
            let families: Vec<&[u8]> = family.iter().map(|family| &family[..]).collect();
            session.wait(admin.flush_families(&table, &families))?;
        }
    }
    Ok(Value::Nil)
}
