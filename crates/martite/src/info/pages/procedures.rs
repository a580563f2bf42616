//! Procedures and the locks that they hold.

use super::calls::summary;
use super::{Answer, part};
use crate::info::Shown;
use martite_proto as pb;
use martite_web::Asked;
use martite_web::view::{Body, Cell, Table, Tone, View};

pub fn page(shown: &Shown, asked: &Asked) -> Answer {
    let mut view = View::new(
        "Procedures & locks",
        "Changes of tables and regions, the last one first; what is done is forgotten after a while",
    );
    let mut locks = Table::new("Nothing is locked.", &["What", "How", "Held by", "Waiting"]);
    let ids = |ids: &[u64]| Cell::text(ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", "));
    for lock in shown.master.locks() {
        let how = if lock.is_exclusive { "exclusive" } else { "shared" };
        locks.rows.push(vec![Cell::text(lock.resource), Cell::text(how), ids(&lock.held_by), ids(&lock.waiting)]);
    }
    view.add("Locks", Body::Table(locks));
    let columns = ["Procedure", "Done", "p50", "p95", "p99", "p99.9", "Longest"];
    let mut times = Table::new("None was done since the start.", &columns);
    for (class, of_class) in shown.master.procedure_times() {
        let mut row = vec![Cell::code(class)];
        row.extend(summary(&of_class));
        times.rows.push(row);
    }
    view.add_noted("Times", "Of those that succeeded since the start.", Body::Table(times));
    let all = shown.master.procedures_known();
    let (some, note) = part(&all, asked)?;
    let mut table =
        Table::new("None is known.", &["Id", "Procedure", "Of", "State", "User", "Submitted", "Last step", "Failure"]);
    table.rows = some.iter().map(row).collect();
    view.add_noted("Procedures", note, Body::Table(table));
    Ok(view)
}

fn row(procedure: &pb::Procedure) -> Vec<Cell> {
    use pb::ProcedureState::{Failed, Rolledback, Success};
    let state = procedure.state();
    let tone = match (state, &procedure.exception) {
        (Failed | Rolledback, _) | (_, Some(_)) => Tone::Bad,
        (Success, _) => Tone::Good,
        _ => Tone::Busy,
    };
    let class = procedure.class_name.rsplit('.').next().unwrap_or_default();
    let failure = procedure.exception.as_ref().and_then(|e| e.generic_exception.as_ref());
    let failure = failure.map_or(Cell::None, |failure| Cell::text(failure.message.clone().unwrap_or_default()));
    vec![
        Cell::Count(procedure.proc_id),
        Cell::code(class),
        procedure.parent_id.map_or(Cell::None, Cell::Count),
        Cell::Tone(tone, state.as_str_name().to_owned()),
        Cell::text(procedure.owner.clone().unwrap_or_default()),
        Cell::moment(procedure.submitted_time),
        Cell::moment(procedure.last_update),
        failure,
    ]
}
