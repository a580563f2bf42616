//! The group replication.

mod add_peer;
mod append_peer_exclude_namespaces;
mod append_peer_exclude_table_cfs;
mod append_peer_namespaces;
mod append_peer_table_cfs;
mod config;
mod disable_peer;
mod disable_table_replication;
mod enable_peer;
mod enable_table_replication;
mod get_peer_config;
mod list_peer_configs;
mod list_peers;
mod list_replicated_tables;
mod peer_modification_enabled;
mod peer_modification_switch;
mod remove_peer;
mod remove_peer_exclude_namespaces;
mod remove_peer_exclude_table_cfs;
mod remove_peer_namespaces;
mod remove_peer_table_cfs;
mod set_peer_bandwidth;
mod set_peer_exclude_namespaces;
mod set_peer_exclude_table_cfs;
mod set_peer_namespaces;
mod set_peer_replicate_all;
mod set_peer_serial;
mod set_peer_table_cfs;
mod show_peer_table_cfs;
mod update_peer_config;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &add_peer::COMMAND,
    &remove_peer::COMMAND,
    &list_peers::COMMAND,
    &enable_peer::COMMAND,
    &disable_peer::COMMAND,
    &set_peer_replicate_all::COMMAND,
    &set_peer_serial::COMMAND,
    &set_peer_namespaces::COMMAND,
    &append_peer_namespaces::COMMAND,
    &remove_peer_namespaces::COMMAND,
    &set_peer_exclude_namespaces::COMMAND,
    &append_peer_exclude_namespaces::COMMAND,
    &remove_peer_exclude_namespaces::COMMAND,
    &set_peer_table_cfs::COMMAND,
    &append_peer_table_cfs::COMMAND,
    &remove_peer_table_cfs::COMMAND,
    &set_peer_exclude_table_cfs::COMMAND,
    &append_peer_exclude_table_cfs::COMMAND,
    &remove_peer_exclude_table_cfs::COMMAND,
    &show_peer_table_cfs::COMMAND,
    &set_peer_bandwidth::COMMAND,
    &list_replicated_tables::COMMAND,
    &enable_table_replication::COMMAND,
    &disable_table_replication::COMMAND,
    &get_peer_config::COMMAND,
    &list_peer_configs::COMMAND,
    &update_peer_config::COMMAND,
    &peer_modification_enabled::COMMAND,
    &peer_modification_switch::COMMAND,
];
