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
