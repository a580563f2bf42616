//! The group snapshots.

mod clone_snapshot;
mod delete_all_snapshot;
mod delete_snapshot;
mod delete_table_snapshots;
mod list_snapshots;
mod list_table_snapshots;
mod listing;
mod restore_snapshot;
mod snapshot;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &snapshot::COMMAND,
    &clone_snapshot::COMMAND,
    &restore_snapshot::COMMAND,
    &delete_snapshot::COMMAND,
    &delete_all_snapshot::COMMAND,
    &delete_table_snapshots::COMMAND,
    &list_snapshots::COMMAND,
    &list_table_snapshots::COMMAND,
];
