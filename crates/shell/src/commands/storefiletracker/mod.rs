//! The group storefiletracker.

mod change_sft;
mod change_sft_all;

use super::Command;

pub const COMMANDS: &[&Command] = &[&change_sft::COMMAND, &change_sft_all::COMMAND];
