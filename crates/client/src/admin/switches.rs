//! The master's chores: run now, switched on and off. A switch answers what it was before.

use super::Admin;
use crate::Error;
use martite_catalog::TableName;
use martite_proto as pb;

pub use pb::MasterSwitchType as SplitOrMerge;

/// What a run of the balancer came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balanced {
    pub ran: bool,
    pub moves_calculated: u32,
    pub moves_executed: u32,
}

impl Admin {
    /// `dry_run`: only calculates; `ignore_transitions`: also while regions are on their way.
    pub async fn balance(&self, dry_run: bool, ignore_transitions: bool) -> Result<Balanced, Error> {
        let request = pb::BalanceRequest { ignore_rit: Some(ignore_transitions), dry_run: Some(dry_run) };
        let answer: pb::BalanceResponse = self.master("Balance", &request).await?;
        let (moves_calculated, moves_executed) = (answer.moves_calculated(), answer.moves_executed());
        Ok(Balanced { ran: answer.balancer_ran, moves_calculated, moves_executed })
    }

    /// `drain`: waits for a run that is on.
    pub async fn set_balancer(&self, on: bool, drain: bool) -> Result<bool, Error> {
        let request = pb::SetBalancerRunningRequest { on, synchronous: Some(drain) };
        let answer: pb::SetBalancerRunningResponse = self.master("SetBalancerRunning", &request).await?;
        Ok(answer.prev_balance_value())
    }

    pub async fn is_balancer_enabled(&self) -> Result<bool, Error> {
        let answer: pb::IsBalancerEnabledResponse =
            self.master("IsBalancerEnabled", &pb::IsBalancerEnabledRequest {}).await?;
        Ok(answer.enabled)
    }

    /// Splits and merges regions towards an even size: of all tables, or of those that meet every given condition.
    pub async fn normalize(
        &self,
        tables: &[TableName],
        regex: Option<&str>,
        namespace: Option<&str>,
    ) -> Result<bool, Error> {
        let request = pb::NormalizeRequest {
            table_names: tables.iter().map(TableName::to_proto).collect(),
            regex: regex.map(str::to_owned),
            namespace: namespace.map(str::to_owned),
        };
        let answer: pb::NormalizeResponse = self.master("Normalize", &request).await?;
        Ok(answer.normalizer_ran)
    }

    pub async fn set_normalizer(&self, on: bool) -> Result<bool, Error> {
        let request = pb::SetNormalizerRunningRequest { on };
        let answer: pb::SetNormalizerRunningResponse = self.master("SetNormalizerRunning", &request).await?;
        Ok(answer.prev_normalizer_value())
    }

    pub async fn is_normalizer_enabled(&self) -> Result<bool, Error> {
        let answer: pb::IsNormalizerEnabledResponse =
            self.master("IsNormalizerEnabled", &pb::IsNormalizerEnabledRequest {}).await?;
        Ok(answer.enabled)
    }

    /// Cleans hbase:meta of parents of splits and merges; answers how many.
    pub async fn run_catalog_janitor(&self) -> Result<i32, Error> {
        let answer: pb::RunCatalogScanResponse = self.master("RunCatalogScan", &pb::RunCatalogScanRequest {}).await?;
        Ok(answer.scan_result())
    }

    pub async fn set_catalog_janitor(&self, on: bool) -> Result<bool, Error> {
        let request = pb::EnableCatalogJanitorRequest { enable: on };
        let answer: pb::EnableCatalogJanitorResponse = self.master("EnableCatalogJanitor", &request).await?;
        Ok(answer.prev_value())
    }

    pub async fn is_catalog_janitor_enabled(&self) -> Result<bool, Error> {
        let answer: pb::IsCatalogJanitorEnabledResponse =
            self.master("IsCatalogJanitorEnabled", &pb::IsCatalogJanitorEnabledRequest {}).await?;
        Ok(answer.value)
    }

    /// Deletes archived files and logs that nobody needs.
    pub async fn run_cleaner_chore(&self) -> Result<bool, Error> {
        let answer: pb::RunCleanerChoreResponse =
            self.master("RunCleanerChore", &pb::RunCleanerChoreRequest {}).await?;
        Ok(answer.cleaner_chore_ran)
    }

    pub async fn set_cleaner_chore(&self, on: bool) -> Result<bool, Error> {
        let request = pb::SetCleanerChoreRunningRequest { on };
        let answer: pb::SetCleanerChoreRunningResponse = self.master("SetCleanerChoreRunning", &request).await?;
        Ok(answer.prev_value())
    }

    pub async fn is_cleaner_chore_enabled(&self) -> Result<bool, Error> {
        let answer: pb::IsCleanerChoreEnabledResponse =
            self.master("IsCleanerChoreEnabled", &pb::IsCleanerChoreEnabledRequest {}).await?;
        Ok(answer.value)
    }

    /// Whether regions split, or merge, by themselves or when asked; `drain`: waits for those that are on.
    pub async fn set_split_or_merge(&self, which: SplitOrMerge, on: bool, drain: bool) -> Result<bool, Error> {
        let switch_types = vec![which as i32];
        let request = pb::SetSplitOrMergeEnabledRequest { enabled: on, synchronous: Some(drain), switch_types };
        let answer: pb::SetSplitOrMergeEnabledResponse = self.master("SetSplitOrMergeEnabled", &request).await?;
        let before = answer.prev_value.first().copied();
        before.ok_or_else(|| Error::Malformed("SetSplitOrMergeEnabled answers no previous value".to_owned()))
    }

    pub async fn is_split_or_merge_enabled(&self, which: SplitOrMerge) -> Result<bool, Error> {
        let request = pb::IsSplitOrMergeEnabledRequest { switch_type: which as i32 };
        let answer: pb::IsSplitOrMergeEnabledResponse = self.master("IsSplitOrMergeEnabled", &request).await?;
        Ok(answer.enabled)
    }

    /// Whether snapshots whose time is over are deleted.
    pub async fn set_snapshot_cleanup(&self, on: bool, drain: bool) -> Result<bool, Error> {
        let request = pb::SetSnapshotCleanupRequest { enabled: on, synchronous: Some(drain) };
        let answer: pb::SetSnapshotCleanupResponse = self.master("SwitchSnapshotCleanup", &request).await?;
        Ok(answer.prev_snapshot_cleanup)
    }

    pub async fn is_snapshot_cleanup_enabled(&self) -> Result<bool, Error> {
        let answer: pb::IsSnapshotCleanupEnabledResponse =
            self.master("IsSnapshotCleanupEnabled", &pb::IsSnapshotCleanupEnabledRequest {}).await?;
        Ok(answer.enabled)
    }
}
