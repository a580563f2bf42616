//! The group namespace.

mod alter_namespace;
mod create_namespace;
mod describe_namespace;
mod drop_namespace;
mod list_namespace;
mod list_namespace_tables;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &alter_namespace::COMMAND,
    &create_namespace::COMMAND,
    &describe_namespace::COMMAND,
    &drop_namespace::COMMAND,
    &list_namespace::COMMAND,
    &list_namespace_tables::COMMAND,
];
