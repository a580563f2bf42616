//! `truncate_preserve`: empties a table and keeps its regions.

use super::truncate::truncate;
use crate::commands::{Arity, Command};

pub const COMMAND: Command = Command {
    name: "truncate_preserve",
    aliases: &[],
    summary: "empty a table, keep the bounds of its regions",
    help: "\
Disables a table, drops its data, and makes it anew with the regions that it had.

  hbase> truncate_preserve 't1'
",
    arity: Arity::exactly(1),
    run: |session, arguments| truncate(session, &arguments, true),
};
