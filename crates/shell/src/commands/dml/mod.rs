//! The group dml: data in tables.

mod append;
mod count;
mod delete;
mod deleteall;
mod get;
mod get_counter;
mod get_splits;
mod incr;
mod mutation;
mod put;
mod query;
mod scan;
mod truncate;
mod truncate_preserve;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &append::COMMAND,
    &count::COMMAND,
    &delete::COMMAND,
    &deleteall::COMMAND,
    &get::COMMAND,
    &get_counter::COMMAND,
    &get_splits::COMMAND,
    &incr::COMMAND,
    &put::COMMAND,
    &scan::COMMAND,
    &truncate::COMMAND,
    &truncate_preserve::COMMAND,
];
