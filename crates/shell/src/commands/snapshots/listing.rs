//! Snapshots by name and table, and how they are listed.

use crate::commands::{Arguments, Options, pattern, time};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use jiff::Timestamp;
use martite_client::pb;

/// The hash at a place.
pub fn options(arguments: &Arguments, index: usize) -> Run<Options> {
    match arguments.get(index) {
        None | Some(Value::Hash(_)) => arguments.options(index),
        Some(_) => Err(Failure::argument("Arguments should be a Hash")),
    }
}

/// The snapshots whose names, and tables, are what regular expressions say.
pub fn find(session: &mut Session, tables: Option<&str>, names: &str) -> Run<Vec<pb::SnapshotDescription>> {
    let is_named = pattern::whole(names)?;
    let is_of = pattern::whole(tables.unwrap_or(".*"))?;
    let admin = session.admin()?;
    let mut found = session.wait(admin.snapshots())?;
    found.retain(|snapshot| is_named(&snapshot.name) && is_of(snapshot.table()));
    Ok(found)
}

/// `table (time of creation)`
pub fn table_and_time(snapshot: &pb::SnapshotDescription) -> String {
    let created_ms = u64::try_from(snapshot.creation_time()).unwrap_or(0);
    format!("{} ({})", snapshot.table(), time::seconds(created_ms))
}

/// Header and rows, without a footer.
pub fn print(session: &mut Session, snapshots: &[pb::SnapshotDescription]) {
    session.print.header(&["SNAPSHOT", "TABLE + CREATION TIME"]);
    for snapshot in snapshots {
        session.print.row(&[snapshot.name.clone(), table_and_time(snapshot)]);
    }
}

/// How long a snapshot is kept, in seconds.
pub fn ttl(snapshot: &pb::SnapshotDescription) -> String {
    let ttl_s = snapshot.ttl();
    if ttl_s <= 0 {
        return "FOREVER".to_owned();
    }
    let ends_ms = snapshot.creation_time().saturating_add(ttl_s.saturating_mul(1000));
    let is_over = ends_ms < Timestamp::now().as_millisecond();
    if is_over { format!("{ttl_s} (Expired) ") } else { ttl_s.to_string() }
}
