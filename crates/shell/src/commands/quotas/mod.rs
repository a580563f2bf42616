//! The group quotas.

mod disable_exceed_throttle_quota;
mod disable_rpc_throttle;
mod enable_exceed_throttle_quota;
mod enable_rpc_throttle;
mod list_quota_snapshots;
mod list_quota_table_sizes;
mod list_quotas;
mod list_snapshot_sizes;
mod list_throttle_usage;
mod rpc_throttle_enabled;
mod set_quota;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &set_quota::COMMAND,
    &list_quotas::COMMAND,
    &list_quota_table_sizes::COMMAND,
    &list_quota_snapshots::COMMAND,
    &list_snapshot_sizes::COMMAND,
    &list_throttle_usage::COMMAND,
    &enable_rpc_throttle::COMMAND,
    &disable_rpc_throttle::COMMAND,
    &rpc_throttle_enabled::COMMAND,
    &enable_exceed_throttle_quota::COMMAND,
    &disable_exceed_throttle_quota::COMMAND,
];
