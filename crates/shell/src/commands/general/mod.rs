//! The group general.

mod load;
mod processlist;
mod replication;
mod status;
mod table_help;
mod version;
mod whoami;

use super::Command;

pub const COMMANDS: &[&Command] =
    &[&processlist::COMMAND, &status::COMMAND, &table_help::COMMAND, &version::COMMAND, &whoami::COMMAND];
