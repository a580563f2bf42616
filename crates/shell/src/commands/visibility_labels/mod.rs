//! The group visibility labels.

mod add_labels;
mod clear_auths;
mod feature;
mod get_auths;
mod list_labels;
mod set_auths;
mod set_visibility;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &add_labels::COMMAND,
    &list_labels::COMMAND,
    &set_auths::COMMAND,
    &get_auths::COMMAND,
    &clear_auths::COMMAND,
    &set_visibility::COMMAND,
];
