//! The group ddl: tables made, changed, listed, dropped.

mod alter;
mod alter_async;
mod alter_status;
mod alteration;
mod clone_table_schema;
mod create;
mod describe;
mod description;
mod disable;
mod disable_all;
mod drop;
mod drop_all;
mod enable;
mod enable_all;
mod exists;
mod family;
mod get_table;
mod is_disabled;
mod is_enabled;
mod list;
mod list_disabled_tables;
mod list_enabled_tables;
mod list_regions;
mod locate_region;
pub mod matching;
mod pretty;
mod settings;
mod show_filters;
mod splits;
pub mod table;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &alter::COMMAND,
    &alter_async::COMMAND,
    &alter_status::COMMAND,
    &clone_table_schema::COMMAND,
    &create::COMMAND,
    &describe::COMMAND,
    &disable::COMMAND,
    &disable_all::COMMAND,
    &drop::COMMAND,
    &drop_all::COMMAND,
    &enable::COMMAND,
    &enable_all::COMMAND,
    &exists::COMMAND,
    &get_table::COMMAND,
    &is_disabled::COMMAND,
    &is_enabled::COMMAND,
    &list::COMMAND,
    &list_disabled_tables::COMMAND,
    &list_enabled_tables::COMMAND,
    &list_regions::COMMAND,
    &locate_region::COMMAND,
    &show_filters::COMMAND,
];
