//! The group namespace.

use super::Command;

pub const COMMANDS: &[&Command] = &[];
