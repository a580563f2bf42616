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
        let left: Vec<usize> = (0..items.len()).filter(|at| items[*at].outcome.is_none()).collect();
        let rows = || left.iter().map(|at| items[*at].action.row());
        let mut regions = self.regions.of_rows(rows());
        if regions.iter().any(Option::is_none) {
            self.search_all(rows().zip(&regions).filter(|(_, region)| region.is_none()).map(|(row, _)| row)).await;
            regions = self.regions.of_rows(rows());
        }
        let mut by_server: Vec<Vec<Group>> = Vec::new();
        for (at, region) in left.into_iter().zip(regions) {
            let region = match region {
                Some(region) => Ok(region),
                // Its search has failed: the error is wanted.
                None => self.connection.locate(&self.regions, items[at].action.row()).await,
            };
            match region {
                Ok(region) => add_to_server(&mut by_server, region, at, items),
                Err(error) => {
                    let reaction = crate::retry::reaction(&error);
                    settle(items, &[at], error, reaction, &mut trouble);
                }
            }
        }
        let mut requests = Vec::new();
        for groups in by_server {
            for groups in self.split(groups, items) {
                requests.push(self.send(groups, items, attempts).await);
            }
        }
        for request in requests {
            self.receive(request, items, &mut trouble).await;
        }
        trouble
    }

    /// Looks for the regions of rows: backwards, for that is how a search finds neighbours.
    async fn search_all(&self, rows: impl Iterator<Item = &[u8]>) {
        let mut rows: Vec<&[u8]> = rows.collect();
        rows.sort_unstable_by(|a, b| b.cmp(a));
        for row in rows {
            if self.connection.locate(&self.regions, row).await.is_err() {
                return;
            }
        }
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

fn add_to_server(servers: &mut Vec<Vec<Group>>, region: Arc<Region>, at: usize, items: &[Item]) {
    let same = |groups: &&mut Vec<Group>| Arc::ptr_eq(&groups[0].region.peer, &region.peer);
    match servers.iter_mut().find(same) {
        Some(groups) => add(groups, region, at, items),
        None => servers.push(vec![Group { region, items: vec![at] }]),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Reply, block, cells, region, table};
    use crate::{Delete, Get, Increment, Put, RowMutations};

    /// Answers each action of each region: what `answer` says of its row.
    fn multi(
        call: &crate::fake::Call,
        answer: impl Fn(&str) -> Result<Vec<martite_cell::OwnedCell>, &'static str>,
    ) -> Reply {
        let request: pb::MultiRequest = call.decode();
        let mut all = Vec::new();
        let mut results = Vec::new();
        for region in &request.region_action {
            let mut result = pb::RegionActionResult::default();
            for action in &region.action {
                let row = match (&action.get, &action.mutation) {
                    (Some(get), _) => get.row.clone(),
                    (_, mutation) => mutation.clone().unwrap().row.unwrap(),
                };
                let mut one = pb::ResultOrException { index: action.index, ..Default::default() };
                match answer(std::str::from_utf8(&row).unwrap()) {
                    Ok(cells) => {
                        let associated_cell_count = Some(cells.len() as i32);
                        one.result = Some(pb::Result { associated_cell_count, ..Default::default() });
                        all.extend(cells);
                    }
                    Err(class) => {
                        let text = format!("{class}: no").into_bytes();
                        one.exception = Some(pb::NameBytesPair { name: class.to_owned(), value: Some(text.into()) });
                    }
                }
                result.result_or_exception.push(one);
            }
            results.push(result);
        }
        let response = pb::MultiResponse { region_action_result: results, ..Default::default() };
        Reply::Message(response.encode_to_vec(), block(&all))
    }

    fn gets(rows: &[&str]) -> Vec<Action> {
        rows.iter().map(|row| Get::row(row).into()).collect()
    }

    #[tokio::test]
    async fn actions_go_to_their_regions_and_answers_come_back_in_order() {
        let regions = vec![region("", "g", 0), region("g", "p", 1), region("p", "", 0)];
        let fake = Fake::start(2, regions, |call| {
            let request: pb::MultiRequest = call.decode();
            assert_eq!(request.region_action.len(), if call.server == 0 { 2 } else { 1 });
            multi(call, |row| Ok(cells(&[row])))
        })
        .await;
        let table = fake.connect().await.table(table());
        let rows = ["z", "a", "h", "b", "q", "i"];
        let results = table.batch(gets(&rows)).await;
        let got: Vec<_> = results.iter().map(|r| r.as_ref().unwrap().row()).collect();
        assert_eq!(got, rows.map(str::as_bytes));
        assert_eq!(fake.count("Multi"), 2);
    }

    #[tokio::test]
    async fn only_what_failed_and_may_not_fail_again_is_repeated() {
        let fake = Fake::start(1, vec![region("", "", 0)], |call| {
            let request: pb::MultiRequest = call.decode();
            let actions = request.region_action[0].action.len();
            assert_eq!(actions, [4, 3, 1][call.before], "{request:?}");
            let before = call.before;
            multi(call, move |row| match (row, before) {
                ("bad", _) => Err("org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException"),
                ("busy", 0 | 1) => Err("org.apache.hadoop.hbase.RegionTooBusyException"),
                ("large", 0) => Err("org.apache.hadoop.hbase.MultiActionResultTooLarge"),
                ("gone", 0) => Err("org.apache.hadoop.hbase.NotServingRegionException"),
                (row, _) => Ok(cells(&[row])),
            })
        })
        .await;
        let table = fake.connect().await.table(table());
        let results = table.batch(gets(&["bad", "busy", "large", "gone"])).await;
        assert!(results[0].as_ref().unwrap_err().is("NoSuchColumnFamilyException"));
        for (result, row) in results[1..].iter().zip(["busy", "large", "gone"]) {
            assert_eq!(result.as_ref().unwrap().row(), row.as_bytes());
        }
        assert_eq!(fake.count("meta"), 2);
    }

    #[tokio::test]
    async fn a_region_that_fails_is_repeated_alone() {
        let fake = Fake::start(1, vec![region("", "g", 0), region("g", "", 0)], |call| {
            if call.before > 0 {
                return multi(call, |row| Ok(cells(&[row])));
            }
            let text = Some("x: moving".into());
            let opening = "org.apache.hadoop.hbase.exceptions.RegionOpeningException".to_owned();
            let failed = pb::RegionActionResult {
                exception: Some(pb::NameBytesPair { name: opening, value: text }),
                ..Default::default()
            };
            let result = pb::Result { associated_cell_count: Some(1), ..Default::default() };
            let one = pb::ResultOrException { index: Some(0), result: Some(result), ..Default::default() };
            let done = pb::RegionActionResult { result_or_exception: vec![one], ..Default::default() };
            let response = pb::MultiResponse { region_action_result: vec![failed, done], ..Default::default() };
            Reply::Message(response.encode_to_vec(), block(&cells(&["h"])))
        })
        .await;
        let table = fake.connect().await.table(table());
        let results = table.batch(gets(&["a", "h"])).await;
        let rows: Vec<_> = results.iter().map(|r| r.as_ref().unwrap().row()).collect();
        assert_eq!((rows, fake.count("Multi"), fake.count("meta")), (vec![&b"a"[..], b"h"], 2, 1));
    }

    #[tokio::test]
    async fn large_batches_are_several_requests() {
        let fake = Fake::start(1, vec![region("", "", 0)], |call| {
            assert!(call.cells.len() < 1 << 20);
            multi(call, |_| Ok(Vec::new()))
        })
        .await;
        let mut options = fake.options();
        options.max_request_bytes = 1 << 20;
        let table = crate::Connection::connect(options).await.unwrap().table(table());
        let put = |i: usize| Put::row(format!("{i:03}")).column("f", "q", vec![0; 100_000]).into();
        let results = table.batch((0..50).map(put).collect()).await;
        assert!(results.len() == 50 && results.iter().all(Result::is_ok));
        assert_eq!(fake.count("Multi"), 5);
        assert!(table.batch(Vec::new()).await.is_empty());
    }

    #[tokio::test]
    async fn what_is_atomic_goes_alone() {
        let fake = Fake::start(1, vec![region("", "", 0)], |call| {
            let request: pb::MultiRequest = call.decode();
            let shapes: Vec<_> = request.region_action.iter().map(|r| (r.atomic(), r.action.len())).collect();
            assert_eq!(shapes, [(false, 2), (true, 2)]);
            let delete = Delete::row("a").columns("f", "old").size_bytes();
            assert_eq!(call.cells.len(), Put::row("a").column("f", "q", "v").size_bytes() * 2 + delete);
            multi(call, |_| Ok(Vec::new()))
        })
        .await;
        let table = fake.connect().await.table(table());
        let put = || Put::row("a").column("f", "q", "v");
        let both = RowMutations::row("a").put(put()).delete(Delete::row("a").columns("f", "old")).into();
        let results = table.batch(vec![put().into(), both, Get::row("b").into()]).await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    }

    #[tokio::test]
    async fn a_batch_that_nobody_answers_fails_action_by_action() {
        let fake = Fake::start(1, vec![region("", "", 0)], |_| Reply::Close).await;
        let table = fake.connect().await.table(table());
        let results = table.batch(vec![Get::row("a").into(), Increment::row("").column("f", "n", 1).into()]).await;
        assert!(matches!(results[0], Err(Error::Retries { attempts: 6, .. })), "{results:?}");
        assert!(matches!(results[1], Err(Error::Invalid(_))), "{results:?}");
    }
}
