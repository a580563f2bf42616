//! The group dml.

use super::Command;

pub const COMMANDS: &[&Command] = &[];
