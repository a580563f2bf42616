//! The group rsgroup.

mod add_rsgroup;
mod alter_rsgroup_config;
mod balance_rsgroup;
mod get_namespace_rsgroup;
mod get_rsgroup;
mod get_server_rsgroup;
mod get_table_rsgroup;
mod list_rsgroups;
mod members;
mod move_namespaces_rsgroup;
mod move_servers_namespaces_rsgroup;
mod move_servers_rsgroup;
mod move_servers_tables_rsgroup;
mod move_tables_rsgroup;
mod remove_rsgroup;
mod remove_servers_rsgroup;
mod rename_rsgroup;
mod show_rsgroup_config;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &list_rsgroups::COMMAND,
    &get_rsgroup::COMMAND,
    &add_rsgroup::COMMAND,
    &remove_rsgroup::COMMAND,
    &balance_rsgroup::COMMAND,
    &move_servers_rsgroup::COMMAND,
    &move_tables_rsgroup::COMMAND,
    &move_namespaces_rsgroup::COMMAND,
    &move_servers_tables_rsgroup::COMMAND,
    &move_servers_namespaces_rsgroup::COMMAND,
    &get_server_rsgroup::COMMAND,
    &get_table_rsgroup::COMMAND,
    &remove_servers_rsgroup::COMMAND,
    &rename_rsgroup::COMMAND,
    &alter_rsgroup_config::COMMAND,
    &show_rsgroup_config::COMMAND,
    &get_namespace_rsgroup::COMMAND,
];
