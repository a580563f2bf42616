//! Batches: actions grouped by server and region, all servers at once, and again what can be tried again.
//!
//! ```text
//! Multi { region a: [0 get, 2 put], region b: [1 put] }   ──▶ one server      answers by region, then by number
//! Multi { region c: [3 get] }                             ──▶ another one
//! ```
//! The cells of all puts of a request are one cell block, in the order of the actions.

use crate::check::Then;
use crate::connection::{call_options, decoded};
use crate::exception::Reaction;
use crate::locations::Region;
use crate::mutation::Mutation;
use crate::retry::Attempts;
use crate::row::{Block, Row};
use crate::{Action, Error, Exception, Table};
use martite_proto as pb;
use martite_rpc::client::{ClientError, PendingCall};
use pb::Message;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Actions of one request; servers complain about more rows (`hbase.rpc.rows.warning.threshold`).
const MAX_ACTIONS: usize = 5000;

/// What came of one action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// What was read, or the new values.
    pub row: Row,
    /// Of a CheckAndMutate: whether its condition held.
    pub processed: bool,
}

/// An action of the batch.
struct Item {
    action: Action,
    nonce: Option<u64>,
    outcome: Option<Result<Outcome, Error>>,
}

/// What one region is asked, within one request.
struct Group {
    region: Arc<Region>,
    /// Numbers of items; several only if all are simple.
    items: Vec<usize>,
}

/// One request to one server.
struct Request {
    groups: Vec<Group>,
    pending: Result<PendingCall, Error>,
    limit: Duration,
}

/// What the items that are left wait for.
struct Trouble {
    error: Error,
    reaction: Reaction,
}

impl Table {
    /// Does many things, region by region and all servers at once; the results are in the order of the actions.
    ///
    /// Actions of one region are not atomic, and Gets among them need not see its Puts.
    pub async fn batch(&self, actions: Vec<Action>) -> Vec<Result<Row, Error>> {
        let outcomes = self.batch_outcomes(actions).await;
        outcomes.into_iter().map(|outcome| outcome.map(|outcome| outcome.row)).collect()
    }

    /// As [`Table::batch`], telling of each CheckAndMutate whether its condition held.
    pub async fn batch_outcomes(&self, actions: Vec<Action>) -> Vec<Result<Outcome, Error>> {
        let options = self.connection.options();
        let mut items: Vec<Item> = Vec::with_capacity(actions.len());
        for action in actions {
            let outcome = action.check(options.max_cell_bytes).err().map(Err);
            items.push(Item { action, nonce: self.connection.nonce(), outcome });
        }
        let mut attempts = Attempts::new(options, options.operation_timeout);
        loop {
            let trouble = self.round(&mut items, &attempts).await;
            let Some(Trouble { error, reaction }) = trouble else { break };
            if let Err(error) = attempts.after(error, &reaction).await {
                fail_rest(&mut items, error);
                break;
            }
        }
        let missing = || Err(Error::malformed("an action without an answer"));
        items.into_iter().map(|item| item.outcome.unwrap_or_else(missing)).collect()
    }

    /// Sends all that is left, once. What cannot be tried again has its outcome then; the trouble is that of the others.
    async fn round(&self, items: &mut [Item], attempts: &Attempts<'_>) -> Option<Trouble> {
        let mut trouble = None;
        let mut by_server: BTreeMap<String, Vec<Group>> = BTreeMap::new();
        for at in 0..items.len() {
            if items[at].outcome.is_some() {
                continue;
            }
            match self.connection.locate(&self.regions, items[at].action.row()).await {
                Ok(region) => {
                    let groups = by_server.entry(region.peer.address.clone()).or_default();
                    add(groups, region, at, items);
                }
                Err(error) => {
                    let reaction = crate::retry::reaction(&error);
                    settle(items, &[at], error, reaction, &mut trouble);
                }
            }
        }
        let mut requests = Vec::new();
        for (_, groups) in by_server {
            for groups in self.split(groups, items) {
                requests.push(self.send(groups, items, attempts).await);
            }
        }
        for request in requests {
            self.receive(request, items, &mut trouble).await;
        }
        trouble
    }

    /// The groups of one server, in requests of bounded size.
    fn split(&self, groups: Vec<Group>, items: &[Item]) -> Vec<Vec<Group>> {
        let limit = self.connection.options().max_request_bytes;
        let mut requests: Vec<Vec<Group>> = vec![Vec::new()];
        let (mut bytes, mut count) = (0, 0);
        for group in groups {
            let mut rest = Group { region: group.region.clone(), items: Vec::new() };
            for at in group.items {
                let size = items[at].action.size_bytes();
                if count > 0 && (bytes + size > limit || count == MAX_ACTIONS) {
                    let next = Group { region: group.region.clone(), items: Vec::new() };
                    let full = std::mem::replace(&mut rest, next);
                    if let Some(request) = requests.last_mut().filter(|_| !full.items.is_empty()) {
                        request.push(full);
                    }
                    requests.push(Vec::new());
                    (bytes, count) = (0, 0);
                }
                (bytes, count) = (bytes + size, count + 1);
                rest.items.push(at);
            }
            if let Some(request) = requests.last_mut() {
                request.push(rest);
            }
        }
        requests
    }

    async fn send(&self, groups: Vec<Group>, items: &[Item], attempts: &Attempts<'_>) -> Request {
        let options = self.connection.options();
        let actions = || groups.iter().flat_map(|group| &group.items).map(|at| &items[*at].action);
        let reads = actions().all(Action::is_read);
        let limit = attempts.limit(if reads { options.read_timeout() } else { options.write_timeout() });
        let priority = actions().filter_map(Action::priority).max();
        let mut cells: Vec<&[u8]> = Vec::new();
        let request = pb::MultiRequest {
            region_action: groups.iter().map(|group| region_action(group, items, &mut cells)).collect(),
            nonce_group: options.nonces.then_some(self.connection.0.nonce_group),
            condition: None,
        };
        let pending = match groups.first() {
            Some(group) => {
                let options = call_options(limit, priority);
                group.region.peer.send("Multi", &request.encode_to_vec(), &cells, &options, limit).await
            }
            None => Err(Error::malformed("a request without actions")),
        };
        Request { groups, pending, limit }
    }

    async fn receive(&self, request: Request, items: &mut [Item], trouble: &mut Option<Trouble>) {
        let Request { groups, pending, limit } = request;
        let Some(peer) = groups.first().map(|group| group.region.peer.clone()) else { return };
        let answer = match pending {
            Ok(pending) => pending.await.map_err(|e| peer.failed(e, "Multi", limit)),
            Err(error) => Err(error),
        };
        let answered = answer.and_then(|answer| {
            let response: pb::MultiResponse = decoded(&answer, "Multi")?;
            if response.region_action_result.len() != groups.len() {
                let (got, sent) = (response.region_action_result.len(), groups.len());
                return Err(Error::malformed(format!("{got} results for {sent} regions")));
            }
            Ok((response, Block(answer.cells)))
        });
        match answered {
            Err(error) => {
                // The whole request failed, and each of its regions with it.
                for group in groups {
                    let error = copy(&error);
                    let reaction = self.learn(&group.region, &error);
                    settle(items, &group.items, error, reaction, trouble);
                }
            }
            Ok((response, mut block)) => {
                for (group, result) in groups.iter().zip(response.region_action_result) {
                    self.settle_group(group, result, &mut block, items, trouble);
                }
            }
        }
    }

    fn settle_group(
        &self,
        group: &Group,
        result: pb::RegionActionResult,
        block: &mut Block,
        items: &mut [Item],
        trouble: &mut Option<Trouble>,
    ) {
        let address = &group.region.peer.address;
        if let Some(exception) = &result.exception {
            let error = Error::from(Exception::from_pair(exception, address));
            let reaction = self.learn(&group.region, &error);
            return settle(items, &group.items, error, reaction, trouble);
        }
        let single = group.items.len() == 1 && !items[group.items[0]].action.is_simple();
        for one in result.result_or_exception {
            let index = if single { 0 } else { one.index.unwrap_or(0) as usize };
            let Some(&at) = group.items.get(index) else { continue };
            if let Some(exception) = &one.exception {
                let error = Error::from(Exception::from_pair(exception, address));
                let reaction = self.learn(&group.region, &error);
                settle(items, &[at], error, reaction, trouble);
                continue;
            }
            let row = one.result.map_or_else(|| Ok(Row::default()), |result| Row::from_proto(&result, block));
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    settle(items, &[at], error, Reaction::Fail, trouble);
                    continue;
                }
            };
            // Of several mutations the first answer has the cells of all.
            if items[at].outcome.is_none() {
                let processed = result.processed.unwrap_or(true);
                items[at].outcome = Some(Ok(Outcome { row, processed }));
            }
        }
        // A condition that does not hold may be answered without any result.
        if single && items[group.items[0]].outcome.is_none() && result.processed.is_some() {
            let processed = result.processed.unwrap_or(false);
            items[group.items[0]].outcome = Some(Ok(Outcome { row: Row::default(), processed }));
        }
    }
}

/// Puts an item to those of its region: simple ones together, others alone.
fn add(groups: &mut Vec<Group>, region: Arc<Region>, at: usize, items: &[Item]) {
    let simple = |at: usize| items[at].action.is_simple();
    let known = groups.iter_mut().rev().find(|group| Arc::ptr_eq(&group.region, &region) && simple(group.items[0]));
    match known {
        Some(group) if simple(at) => group.items.push(at),
        _ => groups.push(Group { region, items: vec![at] }),
    }
}

fn region_action<'a>(group: &Group, items: &'a [Item], cells: &mut Vec<&'a [u8]>) -> pb::RegionAction {
    let mut region_action =
        pb::RegionAction { region: crate::locations::specifier(group.region.info()), ..Default::default() };
    for (index, &at) in (0..).zip(&group.items) {
        let item = &items[at];
        let mut mutation = |index: u32, mutation: &'a Mutation| {
            cells.push(&mutation.block);
            let mutation = Some(mutation.to_proto(item.nonce));
            pb::Action { index: Some(index), mutation, ..Default::default() }
        };
        match &item.action {
            Action::Get(get) => {
                let get = Some(get.proto.clone());
                region_action.action.push(pb::Action { index: Some(index), get, ..Default::default() });
            }
            Action::RowMutations(several) => {
                region_action.atomic = Some(true);
                region_action.action.extend((0..).zip(&several.mutations).map(|(i, m)| mutation(i, m)));
            }
            Action::CheckAndMutate(check) => {
                region_action.condition = Some(check.condition.clone());
                region_action.atomic = matches!(check.then, Then::Several(_)).then_some(true);
                region_action.action.extend((0..).zip(check.mutations_of()).map(|(i, m)| mutation(i, m)));
            }
            simple => region_action.action.extend(simple.mutation().map(|m| mutation(index, m))),
        }
    }
    region_action
}

/// Gives items an error to keep, or notes it as the trouble for which they are tried again.
fn settle(items: &mut [Item], failed: &[usize], error: Error, reaction: Reaction, trouble: &mut Option<Trouble>) {
    if reaction == Reaction::Fail {
        for &at in failed {
            items[at].outcome = Some(Err(copy(&error)));
        }
        return;
    }
    // The longest wait counts for all.
    let weight = |reaction: &Reaction| match reaction {
        Reaction::Wait(wait) => 10 + wait.as_millis(),
        Reaction::Overloaded => 4,
        Reaction::Retry => 3,
        Reaction::Relocate => 2,
        Reaction::Moved(..) => 1,
        _ => 0,
    };
    if trouble.as_ref().is_none_or(|known| weight(&known.reaction) < weight(&reaction)) {
        *trouble = Some(Trouble { error, reaction });
    }
}

fn fail_rest(items: &mut [Item], error: Error) {
    for item in items.iter_mut().filter(|item| item.outcome.is_none()) {
        item.outcome = Some(Err(copy(&error)));
    }
}

/// The same error for another action.
fn copy(error: &Error) -> Error {
    match error {
        Error::Exception(exception) => Error::Exception(exception.clone()),
        Error::Connection { server, source } => {
            let source = ClientError::Io(std::io::Error::other(source.to_string()));
            Error::Connection { server: server.clone(), source }
        }
        Error::TimedOut { server, method, after } => Error::TimedOut { server: server.clone(), method, after: *after },
        Error::Retries { attempts, elapsed, last } => {
            Error::Retries { attempts: *attempts, elapsed: *elapsed, last: Box::new(copy(last)) }
        }
        Error::TableNotFound(table) => Error::TableNotFound(table.clone()),
        Error::TableDisabled(table) => Error::TableDisabled(table.clone()),
        Error::NoRegion { table, row, reason } => {
            Error::NoRegion { table: table.clone(), row: row.clone(), reason: reason.clone() }
        }
        Error::Malformed(what) => Error::Malformed(what.clone()),
        Error::Unknown(what) => Error::Unknown(what.clone()),
        other => Error::Invalid(other.to_string()),
    }
}
