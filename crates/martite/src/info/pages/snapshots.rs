//! Snapshots.

use super::tables::to_table;
use super::{Answer, name};
use crate::info::Shown;
use martite_catalog::TableName;
use martite_proto as pb;
use martite_web::view::{Body, Cell, Table, View};
use martite_web::{Asked, Refused, encode};

/// The page of all snapshots.
pub fn all(shown: &Shown, _: &Asked) -> Answer {
    let mut view = View::new("Snapshots", "Those that are complete");
    let mut table = Table::new("There is no snapshot.", &["Snapshot", "Table", "Taken", "Kind", "Owner", "Kept for"]);
    for snapshot in known(shown)? {
        let link = Cell::link(format!("/snapshot.jsp?name={}", encode(&snapshot.name)), &snapshot.name);
        let mut row = vec![link];
        row.extend(facts(&snapshot).into_iter().map(|(_, cell)| cell));
        table.rows.push(row);
    }
    view.add("All snapshots", Body::Table(table));
    Ok(view)
}

/// The page of one snapshot.
pub fn one(shown: &Shown, asked: &Asked) -> Answer {
    let name = name(asked)?;
    let known = known(shown)?;
    let snapshot = known.iter().find(|snapshot| snapshot.name == name);
    let Some(snapshot) = snapshot else { return Err(Refused::Absent(format!("{name}: there is no such snapshot"))) };
    let mut view = View::new(format!("Snapshot {name}"), "");
    let mut facts = facts(snapshot);
    let files = shown.master.snapshot_files(name).map_err(|e| Refused::Failed(e.to_string()))?;
    facts.extend([
        ("Regions", Cell::Count(files.regions as u64)),
        ("Store files", Cell::Count(files.files as u64)),
        ("Size of its files", Cell::Bytes(files.size_bytes)),
    ]);
    view.add("Snapshot", Body::Facts(facts));
    Ok(view)
}

fn known(shown: &Shown) -> Result<Vec<pb::SnapshotDescription>, Refused> {
    shown.master.snapshots().map_err(|e| Refused::Failed(e.to_string()))
}

fn facts(snapshot: &pb::SnapshotDescription) -> Vec<(&'static str, Cell)> {
    let table = TableName::parse(snapshot.table()).map_or_else(|_| Cell::text(snapshot.table()), |t| to_table(&t));
    let kept = match snapshot.ttl() {
        ..=0 => Cell::text("ever"),
        seconds => Cell::Duration(seconds.unsigned_abs().saturating_mul(1_000_000_000)),
    };
    vec![
        ("Table", table),
        ("Taken", Cell::moment(snapshot.creation_time().unsigned_abs())),
        ("Kind", Cell::text(snapshot.r#type().as_str_name())),
        ("Owner", Cell::text(snapshot.owner())),
        ("Kept for", kept),
    ]
}
