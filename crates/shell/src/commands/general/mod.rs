//! The group general.

mod version;

use super::Command;

pub const COMMANDS: &[&Command] = &[&version::COMMAND];
