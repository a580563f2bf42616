//! The group tools.

mod assign;
mod balance_switch;
pub(crate) mod balancer;
mod balancer_enabled;
mod catalogjanitor_enabled;
mod catalogjanitor_run;
mod catalogjanitor_switch;
mod cleaner_chore_enabled;
mod cleaner_chore_run;
mod cleaner_chore_switch;
mod clear_block_cache;
mod clear_compaction_queues;
mod clear_deadservers;
mod clear_slowlog_responses;
mod close_region;
mod compact;
mod compact_rs;
mod compaction_state;
mod compaction_switch;
mod decommission_regionservers;
mod flush;
mod flush_master_store;
mod get_balancer_decisions;
mod get_balancer_rejections;
mod get_largelog_responses;
mod get_slowlog_responses;
mod hbck_chore_run;
mod is_in_maintenance_mode;
mod json;
mod list_deadservers;
mod list_decommissioned_regionservers;
mod list_liveservers;
mod list_unknownservers;
mod major_compact;
mod merge_region;
mod move_region;
mod normalize;
mod normalizer_enabled;
mod normalizer_switch;
mod recommission_regionserver;
mod regioninfo;
mod rit;
mod snapshot_cleanup_enabled;
mod snapshot_cleanup_switch;
mod split;
mod splitormerge_enabled;
mod splitormerge_switch;
mod stop_master;
mod stop_regionserver;
mod trace;
mod truncate_region;
mod unassign;
mod wal_roll;
mod zk_dump;

use super::Command;

pub const COMMANDS: &[&Command] = &[
    &assign::COMMAND,
    &balancer::COMMAND,
    &balance_switch::COMMAND,
    &balancer_enabled::COMMAND,
    &normalize::COMMAND,
    &normalizer_switch::COMMAND,
    &normalizer_enabled::COMMAND,
    &is_in_maintenance_mode::COMMAND,
    &clear_slowlog_responses::COMMAND,
    &close_region::COMMAND,
    &compact::COMMAND,
    &major_compact::COMMAND,
    &compaction_switch::COMMAND,
    &flush::COMMAND,
    &flush_master_store::COMMAND,
    &get_balancer_decisions::COMMAND,
    &get_balancer_rejections::COMMAND,
    &get_slowlog_responses::COMMAND,
    &get_largelog_responses::COMMAND,
    &move_region::COMMAND,
    &split::COMMAND,
    &merge_region::COMMAND,
    &unassign::COMMAND,
    &zk_dump::COMMAND,
    &wal_roll::COMMAND,
    &hbck_chore_run::COMMAND,
    &catalogjanitor_run::COMMAND,
    &catalogjanitor_switch::COMMAND,
    &catalogjanitor_enabled::COMMAND,
    &cleaner_chore_run::COMMAND,
    &cleaner_chore_switch::COMMAND,
    &cleaner_chore_enabled::COMMAND,
    &compact_rs::COMMAND,
    &compaction_state::COMMAND,
    &trace::COMMAND,
    &snapshot_cleanup_switch::COMMAND,
    &snapshot_cleanup_enabled::COMMAND,
    &splitormerge_switch::COMMAND,
    &splitormerge_enabled::COMMAND,
    &clear_compaction_queues::COMMAND,
    &list_deadservers::COMMAND,
    &list_liveservers::COMMAND,
    &list_unknownservers::COMMAND,
    &clear_deadservers::COMMAND,
    &clear_block_cache::COMMAND,
    &stop_master::COMMAND,
    &stop_regionserver::COMMAND,
    &regioninfo::COMMAND,
    &rit::COMMAND,
    &list_decommissioned_regionservers::COMMAND,
    &decommission_regionservers::COMMAND,
    &recommission_regionserver::COMMAND,
    &truncate_region::COMMAND,
];
