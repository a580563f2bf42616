//! The group configuration.

mod update_all_config;
mod update_config;
mod update_rsgroup_config;

use super::Command;

pub const COMMANDS: &[&Command] =
    &[&update_config::COMMAND, &update_all_config::COMMAND, &update_rsgroup_config::COMMAND];
