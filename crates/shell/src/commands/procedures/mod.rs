//! The group procedures.

mod list_locks;
mod list_procedures;

use super::Command;

pub const COMMANDS: &[&Command] = &[&list_procedures::COMMAND, &list_locks::COMMAND];
