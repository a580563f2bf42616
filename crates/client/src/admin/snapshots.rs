//! Snapshots.

use super::Admin;
use crate::Error;
use martite_catalog::TableName;
use martite_catalog::table_name::check_snapshot_name;
use martite_proto as pb;
use std::time::Duration;

pub use pb::snapshot_description::Type as SnapshotType;

/// How often it is looked whether a snapshot is done that no procedure makes.
const LOOK: Duration = Duration::from_millis(100);

fn check_name(name: &str) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::Invalid("Snapshot".into()));
    }
    Ok(check_snapshot_name(name)?)
}

impl Admin {
    /// Takes a snapshot; `description` has its name, its table, and what else is wanted of it.
    pub async fn snapshot(&self, description: &pb::SnapshotDescription) -> Result<(), Error> {
        check_name(&description.name)?;
        if TableName::parse(description.table())?.is_system() {
            return Err(Error::Invalid("System table snapshots are not allowed".into()));
        }
        let (nonce_group, nonce) = self.nonce();
        let request = pb::SnapshotRequest { snapshot: description.clone(), nonce_group, nonce };
        let answer: pb::SnapshotResponse = self.master("Snapshot", &request).await?;
        if let Some(id) = answer.proc_id.and_then(|id| u64::try_from(id).ok()) {
            return self.pending(Some(id)).wait().await;
        }
        // Servers before 2.6 only say how long it may take.
        let looks = u128::try_from(answer.expected_timeout).unwrap_or(0) / LOOK.as_millis() + 1;
        for _ in 0..looks {
            if self.is_snapshot_done(description).await? {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        let (name, timeout_ms) = (&description.name, answer.expected_timeout);
        Err(Error::Unknown(format!("Snapshot '{name}' wasn't completed in expectedTime:{timeout_ms} ms")))
    }

    pub async fn is_snapshot_done(&self, description: &pb::SnapshotDescription) -> Result<bool, Error> {
        let request = pb::IsSnapshotDoneRequest { snapshot: Some(description.clone()) };
        let answer: pb::IsSnapshotDoneResponse = self.master("IsSnapshotDone", &request).await?;
        Ok(answer.done())
    }

    pub async fn snapshots(&self) -> Result<Vec<pb::SnapshotDescription>, Error> {
        let answer: pb::GetCompletedSnapshotsResponse =
            self.master("GetCompletedSnapshots", &pb::GetCompletedSnapshotsRequest {}).await?;
        Ok(answer.snapshots)
    }

    pub async fn delete_snapshot(&self, name: &str) -> Result<(), Error> {
        if name.is_empty() {
            return Err(Error::Invalid("Name is null or empty".into()));
        }
        // HBase's client takes it for the name of a table here.
        TableName::new("default", name)?;
        let snapshot = pb::SnapshotDescription { name: name.to_owned(), ..Default::default() };
        let request = pb::DeleteSnapshotRequest { snapshot };
        let _: pb::DeleteSnapshotResponse = self.master("DeleteSnapshot", &request).await?;
        Ok(())
    }

    /// Makes a table of a snapshot, or puts one, which must be disabled, back to it.
    pub async fn restore_snapshot_to(
        &self,
        name: &str,
        table: &TableName,
        restore_acl: bool,
        file_tracker: Option<&str>,
    ) -> Result<(), Error> {
        check_name(name)?;
        let (nonce_group, nonce) = self.nonce();
        let table = Some(table.to_string());
        let snapshot = pb::SnapshotDescription { name: name.to_owned(), table, ..Default::default() };
        let (restore_acl, custom_sft) = (Some(restore_acl), file_tracker.map(str::to_owned));
        let request = pb::RestoreSnapshotRequest { snapshot, nonce_group, nonce, restore_acl, custom_sft };
        let answer: pb::RestoreSnapshotResponse = self.master("RestoreSnapshot", &request).await?;
        self.pending(Some(answer.proc_id)).wait().await
    }

    /// Puts the table of a snapshot back to it; the table must be disabled. If it is not there, it is made.
    pub async fn restore_snapshot(&self, name: &str, restore_acl: bool) -> Result<(), Error> {
        let found = self.snapshots().await?.into_iter().find(|snapshot| snapshot.name == name);
        let table = found.and_then(|snapshot| snapshot.table);
        let Some(table) = table else {
            return Err(Error::Unknown(format!("Unable to find the table name for snapshot={name}")));
        };
        let table = TableName::parse(&table)?;
        if self.table_exists(&table).await? && !self.is_table_disabled(&table).await? {
            return Err(super::client_exception(
                "org.apache.hadoop.hbase.TableNotDisabledException",
                table.to_string(),
            ));
        }
        self.restore_snapshot_to(name, &table, restore_acl, None).await
    }

    /// Makes a new table of a snapshot.
    pub async fn clone_snapshot(
        &self,
        name: &str,
        table: &TableName,
        restore_acl: bool,
        file_tracker: Option<&str>,
    ) -> Result<(), Error> {
        if self.table_exists(table).await? {
            return Err(super::client_exception("org.apache.hadoop.hbase.TableExistsException", table.to_string()));
        }
        self.restore_snapshot_to(name, table, restore_acl, file_tracker).await
    }
}
