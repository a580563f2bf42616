//! [`Table`]: reads and writes of one table's rows.

use crate::connection::{call_options, decoded};
use crate::exception::Reaction;
use crate::locations::{Location, Region, Regions};
use crate::mutation::{Mutation, check_row};
use crate::retry::{Attempts, reaction};
use crate::row::{Block, Row};
use crate::{Action, Append, CheckAndMutate, Connection, Delete, Error, Get, Increment, Put, RowMutations};
use crate::{Scan, Scanner};
use martite_catalog::TableName;
use martite_proto as pb;
use martite_rpc::client::Answer;
use std::sync::Arc;
use std::time::Duration;

/// A table of a cluster. Cheap to clone, and to be used by any number of tasks at once.
#[derive(Debug, Clone)]
pub struct Table {
    pub(crate) connection: Connection,
    pub(crate) regions: Arc<Regions>,
}

/// A call to the region of a row.
pub(crate) struct RegionCall<'a> {
    pub method: &'static str,
    pub row: &'a [u8],
    pub message: &'a (dyn Fn(&Region) -> Vec<u8> + Sync),
    pub cells: &'a [&'a [u8]],
    pub priority: Option<u32>,
    pub limit: Duration,
}

impl Table {
    pub fn name(&self) -> &TableName {
        &self.regions.table
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Reads a row; one that is not there is empty.
    pub async fn get(&self, get: Get) -> Result<Row, Error> {
        check_row(get.key())?;
        let (answer, _) = self
            .call(&RegionCall {
                method: "Get",
                row: get.key(),
                message: &|region| region.request(&get.proto),
                cells: &[],
                priority: get.priority,
                limit: self.connection.options().read_timeout(),
            })
            .await?;
        let response: pb::GetResponse = decoded(&answer, "Get")?;
        let mut block = Block(answer.cells);
        response.result.map_or_else(|| Ok(Row::default()), |result| Row::from_proto(&result, &mut block))
    }

    /// Whether a Get would find a cell.
    pub async fn exists(&self, mut get: Get) -> Result<bool, Error> {
        get.proto.existence_only = Some(true);
        Ok(self.get(get).await?.exists())
    }

    /// Reads many rows, region by region and all servers at once.
    pub async fn get_all(&self, gets: Vec<Get>) -> Vec<Result<Row, Error>> {
        self.batch(gets.into_iter().map(Action::Get).collect()).await
    }

    pub async fn put(&self, put: Put) -> Result<(), Error> {
        self.mutate(&put.0, None).await.map(drop)
    }

    pub async fn delete(&self, delete: Delete) -> Result<(), Error> {
        self.mutate(&delete.0, None).await.map(drop)
    }

    /// The new values.
    pub async fn append(&self, append: Append) -> Result<Row, Error> {
        Ok(self.mutate(&append.0, None).await?.1)
    }

    /// The new values.
    pub async fn increment(&self, increment: Increment) -> Result<Row, Error> {
        Ok(self.mutate(&increment.0, None).await?.1)
    }

    /// Whether the condition held, and the new values of Increments and Appends.
    pub async fn check_and_mutate(&self, check: CheckAndMutate) -> Result<(bool, Row), Error> {
        check.check(self.connection.options().max_cell_bytes)?;
        match &check.then {
            crate::check::Then::One(mutation) => self.mutate(mutation, Some(&check.condition)).await,
            _ => {
                let mut outcomes = self.batch_outcomes(vec![check.into()]).await;
                let outcome = outcomes.pop().unwrap_or_else(|| Err(Error::malformed("no answer")))?;
                Ok((outcome.processed, outcome.row))
            }
        }
    }

    /// Several mutations of one row, all or nothing; the new values of Increments and Appends.
    pub async fn mutate_row(&self, mutations: RowMutations) -> Result<Row, Error> {
        let mut rows = self.batch(vec![mutations.into()]).await;
        rows.pop().unwrap_or_else(|| Err(Error::malformed("no answer")))
    }

    /// Reads rows in their order.
    ///
    /// Nothing is asked before the first row is.
    pub fn scan(&self, scan: Scan) -> Scanner {
        Scanner::new(self.clone(), scan)
    }

    /// All regions by start key, as hbase:meta has them now, with the servers that have them.
    pub async fn locations(&self) -> Result<Vec<Location>, Error> {
        let table = self.name();
        if table.is_meta() {
            return Ok(vec![self.connection.locate(&self.regions, b"").await?.location.clone()]);
        }
        let regions = self.connection.meta_regions(table).await?;
        let mut locations = Vec::new();
        for region in regions {
            if region.info.is_split_parent() || region.info.is_offline() {
                continue;
            }
            let name = region.info.name_string();
            let server = region.server.ok_or_else(|| Error::Unknown(format!("{name} is not open")))?;
            locations.push(Location { info: region.info, server, open_seq_num: region.open_seq_num });
        }
        if locations.is_empty() {
            return Err(Error::TableNotFound(table.clone()));
        }
        Ok(locations)
    }

    /// The region that has a row, and its server, as far as the client knows.
    pub async fn locate(&self, row: impl AsRef<[u8]>) -> Result<Location, Error> {
        Ok(self.connection.locate(&self.regions, row.as_ref()).await?.location.clone())
    }

    /// Forgets where the table's regions are.
    pub fn forget_locations(&self) {
        self.regions.clear();
    }

    async fn mutate(&self, mutation: &Mutation, condition: Option<&pb::Condition>) -> Result<(bool, Row), Error> {
        mutation.check(self.connection.options().max_cell_bytes)?;
        let proto = mutation.to_proto(self.connection.nonce());
        let message = |region: &Region| {
            let mut out = region.request(&proto);
            if let Some(condition) = condition {
                pb::prost::encoding::message::encode(3, condition, &mut out);
            }
            if proto.nonce.is_some() {
                pb::prost::encoding::uint64::encode(4, &self.connection.0.nonce_group, &mut out);
            }
            out
        };
        let (answer, _) = self
            .call(&RegionCall {
                method: "Mutate",
                row: &mutation.row,
                message: &message,
                cells: &[&mutation.block],
                priority: mutation.priority,
                limit: self.connection.options().write_timeout(),
            })
            .await?;
        let response: pb::MutateResponse = decoded(&answer, "Mutate")?;
        let mut block = Block(answer.cells);
        let row = response.result.map_or_else(|| Ok(Row::default()), |result| Row::from_proto(&result, &mut block))?;
        Ok((response.processed.unwrap_or(true), row))
    }

    /// Calls the region of a row until an answer comes or it is time to give up.
    pub(crate) async fn call(&self, call: &RegionCall<'_>) -> Result<(Answer, Arc<Region>), Error> {
        let options = self.connection.options();
        let mut attempts = Attempts::new(options, options.operation_timeout);
        loop {
            let limit = attempts.limit(call.limit);
            let region = match self.connection.locate(&self.regions, call.row).await {
                Ok(region) => region,
                Err(error) => {
                    let reaction = reaction(&error);
                    attempts.after(error, &reaction).await?;
                    continue;
                }
            };
            let message = (call.message)(&region);
            let options = call_options(limit, call.priority);
            match region.peer.call(call.method, &message, call.cells, &options, limit).await {
                Ok(answer) => return Ok((answer, region)),
                Err(error) => {
                    let reaction = self.learn(&region, &error);
                    attempts.after(error, &reaction).await?;
                }
            }
        }
    }

    /// Takes from an error what it says about the region's place; the reaction that is left.
    pub(crate) fn learn(&self, region: &Arc<Region>, error: &Error) -> Reaction {
        let reaction = reaction(error);
        match &reaction {
            Reaction::Relocate => self.regions.forget(region),
            Reaction::Moved(server, seq) => {
                self.regions.forget(region);
                let info = region.info().clone();
                let location = Location { info, server: server.clone(), open_seq_num: *seq };
                self.regions.insert(self.connection.region_at(location));
            }
            _ => {}
        }
        // What only scanners can do something about.
        if reaction == Reaction::Reopen { Reaction::Fail } else { reaction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Reply, cells, got, region, table};
    use bytes::Bytes;
    use martite_catalog::RegionState;
    use pb::Message;
    use std::time::Duration;

    const NSRE: &str = "org.apache.hadoop.hbase.NotServingRegionException";
    const MOVED: &str = "org.apache.hadoop.hbase.exceptions.RegionMovedException";
    const BUSY: &str = "org.apache.hadoop.hbase.RegionTooBusyException";
    const NO_FAMILY: &str = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException";

    #[tokio::test]
    async fn a_region_that_is_elsewhere_is_looked_up_again() {
        let fake = Fake::start(2, vec![region("", "", 0)], |call| match call.server {
            0 => Reply::throw(NSRE, "t is not online"),
            _ => got(&cells(&["r"])),
        })
        .await;
        let table = fake.connect().await.table(table());
        let gone = table.get(Get::row("r")).await.unwrap_err();
        assert!(gone.is("NotServingRegionException") && gone.is_transient(), "{gone}");
        assert!(matches!(gone, Error::Retries { attempts: 6, .. }), "{gone:?}");
        // Each attempt asked where the region is.
        assert_eq!((fake.count("meta"), fake.count("Get")), (6, 6));
        fake.regions.lock()[0].server = 1;
        assert_eq!(table.get(Get::row("r")).await.unwrap().value("f", "q"), Some(&b"r"[..]));
        assert_eq!((fake.count("meta"), fake.count("Get")), (7, 7));
    }

    #[tokio::test]
    async fn a_region_that_moved_is_asked_at_its_new_place() {
        let place = Arc::new(std::sync::OnceLock::new());
        let told = place.clone();
        let fake = Fake::start(2, vec![region("", "", 0)], move |call| match call.server {
            0 => Reply::throw(MOVED, told.get().map_or("", String::as_str)),
            _ => got(&cells(&["r"])),
        })
        .await;
        let port = fake.servers[1].port;
        let text = format!("Region moved to: hostname=127.0.0.1 port={port} startCode=2. As of locationSeqNum=12.");
        place.set(text).unwrap();
        let table = fake.connect().await.table(table());
        for _ in 0..3 {
            assert_eq!(table.get(Get::row("r")).await.unwrap().row(), b"r");
        }
        assert_eq!((fake.count("meta"), fake.count("Get")), (1, 4));
        assert_eq!(table.locate("r").await.unwrap().open_seq_num, 12);
    }

    #[tokio::test]
    async fn what_passes_by_itself_keeps_the_region_and_what_does_not_fails() {
        let fake = Fake::start(1, vec![region("", "", 0)], |call| match call.before {
            0 => Reply::throw(BUSY, "Over memstore limit"),
            1 => Reply::throw("org.apache.hadoop.hbase.CallQueueTooBigException", "full"),
            2 => Reply::throw("org.apache.hadoop.hbase.quotas.RpcThrottlingException", "x - wait 0sec, 3ms"),
            3 => Reply::Close,
            4 => got(&cells(&["r"])),
            _ => Reply::fail(NO_FAMILY),
        })
        .await;
        let table = fake.connect().await.table(table());
        assert_eq!(table.get(Get::row("r")).await.unwrap().len(), 1);
        // Only the lost connection made it look for the region.
        assert_eq!((fake.count("meta"), fake.count("Get")), (2, 5));
        let failed = table.get(Get::row("r")).await.unwrap_err();
        assert!(matches!(&failed, Error::Exception(e) if e.do_not_retry && e.message() == "no"), "{failed:?}");
        assert_eq!(fake.count("Get"), 6);
    }

    #[tokio::test]
    async fn a_server_that_says_nothing_is_given_up() {
        let fake = Fake::start(1, vec![region("", "", 0)], |_| Reply::Silence).await;
        let mut options = fake.options().rpc_timeout(Duration::from_millis(20));
        options.operation_timeout = Duration::from_millis(100);
        let table = Connection::connect(options).await.unwrap().table(table());
        let failed = table.get(Get::row("r")).await.unwrap_err();
        let Error::Retries { attempts: 2.., last, .. } = &failed else { panic!("{failed:?}") };
        assert!(matches!(**last, Error::TimedOut { method: "Get", .. }), "{failed:?}");
    }

    #[tokio::test]
    async fn tables_that_cannot_be_read_are_named() {
        let fake = Fake::start(1, vec![region("", "", 0)], |_| Reply::throw(NSRE, "closed")).await;
        let connection = fake.connect().await;
        let other = TableName::parse("u").unwrap();
        let failed = connection.table(other.clone()).get(Get::row("r")).await.unwrap_err();
        assert!(matches!(&failed, Error::TableNotFound(name) if *name == other), "{failed:?}");
        fake.regions.lock()[0].state = RegionState::Closed;
        let failed = connection.table(table()).get(Get::row("r")).await.unwrap_err();
        assert!(matches!(&failed, Error::Retries { last, .. } if matches!(**last, Error::NoRegion { .. })), "{failed}");
        *fake.disabled.lock() = true;
        let failed = connection.table(table()).get(Get::row("r")).await.unwrap_err();
        assert!(matches!(failed, Error::TableDisabled(_)), "{failed:?}");
        assert_eq!(fake.count("Get"), 0);
    }

    #[tokio::test]
    async fn many_who_look_for_a_region_ask_once() {
        let regions = vec![region("", "g", 0), region("g", "p", 0), region("p", "", 0)];
        let fake = Fake::start(1, regions, |_| got(&[])).await;
        let table = fake.connect().await.table(table());
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..50 {
            let (table, row) = (table.clone(), format!("z{task}"));
            tasks.spawn(async move { table.get(Get::row(row)).await.unwrap() });
        }
        assert!(tasks.join_all().await.iter().all(Row::is_empty));
        assert_eq!((fake.count("meta"), fake.count("Get")), (1, 50));
        // The neighbours came with it.
        table.get(Get::row("a")).await.unwrap();
        table.get(Get::row("h")).await.unwrap();
        assert_eq!(fake.count("meta"), 1);
    }

    #[tokio::test]
    async fn a_repeated_increment_keeps_its_nonce() {
        let nonces = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let seen = nonces.clone();
        let fake = Fake::start(1, vec![region("", "", 0)], move |call| {
            let request: pb::MutateRequest = call.decode();
            seen.lock().push((request.nonce_group, request.mutation.nonce));
            match call.before {
                0 => Reply::Close,
                _ => Reply::Message(pb::MutateResponse::default().encode_to_vec(), Vec::new()),
            }
        })
        .await;
        let table = fake.connect().await.table(table());
        table.increment(Increment::row("r").column("f", "n", 1)).await.unwrap();
        table.increment(Increment::row("r").column("f", "n", 1)).await.unwrap();
        table.put(Put::row("r").column("f", "q", "v")).await.unwrap();
        let nonces = nonces.lock();
        assert!(nonces[0].0.is_some() && nonces[0].1.is_some_and(|nonce| nonce != 0));
        assert_eq!(nonces[0], nonces[1]);
        assert_ne!(nonces[1], nonces[2]);
        assert_eq!(nonces[3], (None, None));
    }

    #[tokio::test]
    async fn what_no_server_takes_is_not_sent() {
        let fake = Fake::start(1, vec![region("", "", 0)], |_| Reply::Close).await;
        let table = fake.connect().await.table(table());
        let long = vec![b'x'; 40_000];
        assert_eq!(table.get(Get::row("")).await.unwrap_err().to_string(), "the row is empty");
        let failed = table.put(Put::row(&long).column("f", "q", "v")).await.unwrap_err();
        assert_eq!(failed.to_string(), "a row of 40000 bytes; at most 32767 are possible");
        let failed = table.put(Put::row("r")).await.unwrap_err();
        assert_eq!(failed.to_string(), "a put of the row r without columns");
        let failed = table.put(Put::row("r").column("f", "q", vec![0; 11 << 20])).await.unwrap_err();
        assert!(failed.to_string().contains("has a cell of 115343"), "{failed}");
        let failed = table.put(Put::row("r").column(&long[..200], "q", "v")).await.unwrap_err();
        assert!(failed.to_string().ends_with("is longer than 127"), "{failed}");
        let failed = table.check_and_mutate(CheckAndMutate::row("r").put(Put::row("r"))).await.unwrap_err();
        assert_eq!(failed.to_string(), "a check of the row r without a condition");
        let other = RowMutations::row("r").put(Put::row("s").column("f", "q", Bytes::new()));
        let failed = table.mutate_row(other).await.unwrap_err();
        assert_eq!(failed.to_string(), "a mutation of the row s among those of r");
        assert!(fake.seen.lock().is_empty());
    }

    fn is_send<T: Send>(_: &T) {}

    #[test]
    fn operations_may_run_in_tasks() {
        let registry = crate::Registry::rpc("localhost:1");
        let connection = Connection::new(crate::Options::new(registry)).unwrap();
        let table = connection.table(table());
        is_send(&table.get(Get::row("r")));
        is_send(&table.put(Put::row("r")));
        is_send(&table.batch(Vec::new()));
        is_send(&table.scan(Scan::new()).next());
        is_send(&table.scan(Scan::new()).collect());
        is_send(&connection.master_call::<pb::EmptyMsg, pb::EmptyMsg>("s", "m", &pb::EmptyMsg::default()));
    }
}
