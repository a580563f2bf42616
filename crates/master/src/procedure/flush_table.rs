//! FlushTable: every region of a table, all families or some.

use super::{Flow, Lock, Procedure, Resource, table_name};
use crate::services::Services;
use crate::{MasterError, class};
use bytes::Bytes;
use martite_catalog::{TableName, TableState};
use martite_proto as pb;
use prost::Message;

/// The saved state; there is one step.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FlushTable {
    #[prost(message, required, tag = "1")]
    table: pb::TableName,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    families: Vec<Bytes>,
}

impl FlushTable {
    pub fn new(table: &TableName, families: Vec<Bytes>) -> FlushTable {
        FlushTable { table: table.to_proto(), families }
    }

    /// TableNotFoundException, TableNotEnabledException, NoSuchColumnFamilyException.
    pub fn check(services: &Services, table: &TableName, families: &[Bytes]) -> Result<(), MasterError> {
        let entry = services.catalog.existing(table)?;
        if entry.state != TableState::Enabled {
            return Err(MasterError::new(class::TABLE_NOT_ENABLED, table.as_str()));
        }
        let unknown: Vec<String> = families
            .iter()
            .filter(|f| entry.descriptor.family(f).is_none())
            .map(|f| String::from_utf8_lossy(f).into_owned())
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let text = format!("Column families [{}] don't exist in table {table}", unknown.join(", "));
        Err(MasterError::new(class::NO_SUCH_FAMILY, text))
    }
}

impl Procedure for FlushTable {
    fn class(&self) -> &'static str {
        "FlushTableProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        match TableName::from_proto(&self.table) {
            Ok(table) => {
                vec![Lock::shared(Resource::namespace(table.namespace())), Lock::shared(Resource::Table(table))]
            }
            Err(_) => Vec::new(),
        }
    }
    fn can_roll_back(&self) -> bool {
        true
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let table = table_name(&self.table)?;
        FlushTable::check(services, &table, &self.families)?;
        for region in services.catalog.live_regions(&table) {
            // A region that is on its way elsewhere flushes when it closes.
            if services.host.region(region.encoded_name()).is_some() {
                services.host.flush_region(region.encoded_name(), &self.families).map_err(MasterError::io)?;
            }
        }
        Ok(Flow::done())
    }
}
