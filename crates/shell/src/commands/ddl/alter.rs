//! `alter`: changes a table.

use super::alteration::alter;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "alter",
    aliases: &[],
    summary: "change families and settings of a table",
    help: "\
Adds, changes or drops families of a table, and changes its settings; what is not named stays as it is. See create for
the settings.

  hbase> alter 't1', NAME => 'f1', VERSIONS => 5
  hbase> alter 't1', 'f1', {NAME => 'f2', IN_MEMORY => true}, {NAME => 'f3', VERSIONS => 5}
  hbase> alter 't1', NAME => 'f1', METHOD => 'delete'
  hbase> alter 't1', 'delete' => 'f1'
  hbase> alter 't1', MAX_FILESIZE => '134217728', SPLIT_ENABLED => false
  hbase> alter 't1', CONFIGURATION => {'hbase.hregion.scan.loadColumnFamiliesOnDemand' => 'true'}
  hbase> alter 't1', {NAME => 'f2', CONFIGURATION => {'hbase.hstore.blockingStoreFiles' => '10'}}
  hbase> alter 't1', METHOD => 'table_att_unset', NAME => 'MAX_FILESIZE'
  hbase> alter 't1', METHOD => 'table_conf_unset', NAME => 'hbase.hregion.majorcompaction'
  hbase> alter 't1', 'coprocessor' => 'hdfs:///foo.jar|com.foo.FooRegionObserver|1001|arg1=1,arg2=2'
  hbase> alter 't1', METHOD => 'table_remove_coprocessor', CLASSNAME => 'com.foo.FooRegionObserver'

With REOPEN_REGIONS => 'false' regions take the change when they are opened next:

  hbase> alter 't1', REOPEN_REGIONS => 'false', MAX_FILESIZE => '134217728'
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    alter(session, &arguments, true)?;
    Ok(Value::Nil)
}
