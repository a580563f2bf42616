//! Space quotas: writes to tables that hold more than they may are refused.

use crate::error::Fault;
use arc_swap::ArcSwap;
use martite_proto::SpaceViolationPolicy as Policy;
use martite_quota::space::Usage;
use martite_region::{MutationKind, Region, WriteBody, WriteRequest};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The usage of tables with a limit, as the master judged it last.
#[derive(Default)]
pub(crate) struct Space {
    /// Whether any table holds too much: all that a write looks at while none does.
    any_violated: AtomicBool,
    in_force: ArcSwap<BTreeMap<String, Usage>>,
}

impl Space {
    pub fn change(&self, in_force: Arc<BTreeMap<String, Usage>>) {
        let any = in_force.values().any(|usage| usage.violated.is_some());
        self.in_force.store(in_force);
        self.any_violated.store(any, Ordering::Release);
    }

    pub fn in_force(&self) -> Arc<BTreeMap<String, Usage>> {
        self.in_force.load_full()
    }

    /// SpaceLimitingException, if the region's table may not be written so.
    pub fn check(&self, region: &Region, write: &WriteRequest) -> Result<(), Fault> {
        let Some(policy) = self.violated(region) else { return Ok(()) };
        let mutations = match &write.body {
            WriteBody::Batch(mutations) | WriteBody::Atomic { mutations, .. } => mutations,
        };
        match mutations.iter().find_map(|mutation| refusal(policy, mutation.kind)) {
            Some(text) => Err(Fault::space_limiting(format!("{} {text}", policy.as_str_name()))),
            None => Ok(()),
        }
    }

    /// Refuses a bulk load that would bring a table over its limit.
    pub fn check_bulk_load(&self, region: &Region, bytes: u64, paths: impl FnOnce() -> String) -> Result<(), Fault> {
        match self.in_force.load().get(region.info().table().as_str()) {
            Some(usage) if bytes > usage.limit_bytes.saturating_sub(usage.used_bytes) => {
                let policy = usage.violated.map_or("BulkLoadVerifying", |policy| policy.as_str_name());
                let paths = paths();
                let text = "is disallowed because the file(s) exceed the limits of a space quota.";
                Err(Fault::space_limiting(format!("{policy} Bulk load of [{paths}] {text}")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses compactions that somebody asks for.
    pub fn check_compaction(&self, region: &Region) -> Result<(), Fault> {
        match self.violated(region) {
            Some(Policy::NoWritesCompactions) => {
                Err(Fault::do_not_retry("Compactions on this region are disabled due to a space quota violation."))
            }
            _ => Ok(()),
        }
    }

    fn violated(&self, region: &Region) -> Option<Policy> {
        if !self.any_violated.load(Ordering::Acquire) {
            return None;
        }
        self.in_force.load().get(region.info().table().as_str())?.violated
    }
}

/// HBase's text for a mutation that a policy refuses.
fn refusal(policy: Policy, kind: MutationKind) -> Option<String> {
    let name = match kind {
        MutationKind::Put => "Put",
        MutationKind::Delete => "Delete",
        MutationKind::Increment => "Increment",
        MutationKind::Append => "Append",
    };
    match policy {
        Policy::NoInserts if kind == MutationKind::Delete => None,
        Policy::Disable => Some("This table is disabled due to violating a space quota.".into()),
        _ => Some(format!("{name}s are disallowed due to a space quota.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_refuses_its_mutations() {
        use MutationKind::{Append, Delete, Increment, Put};
        let text = |policy, kind| refusal(policy, kind).unwrap_or_default();
        assert_eq!(text(Policy::NoInserts, Put), "Puts are disallowed due to a space quota.");
        assert_eq!(text(Policy::NoInserts, Append), "Appends are disallowed due to a space quota.");
        assert_eq!(text(Policy::NoInserts, Delete), "");
        assert_eq!(text(Policy::NoWrites, Delete), "Deletes are disallowed due to a space quota.");
        assert_eq!(text(Policy::NoWritesCompactions, Increment), "Increments are disallowed due to a space quota.");
        assert_eq!(text(Policy::Disable, Delete), "This table is disabled due to violating a space quota.");
    }
}
