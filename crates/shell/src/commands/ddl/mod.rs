//! The group ddl.

use super::Command;

pub const COMMANDS: &[&Command] = &[];
