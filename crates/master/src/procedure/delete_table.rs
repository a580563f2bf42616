//! DeleteTable: files to the archive, rows out of hbase:meta.

use super::{Flow, Lock, Procedure, table_locks, table_name};
use crate::error::state_text;
use crate::services::Services;
use crate::{MasterError, class};
use martite_catalog::{TableName, TableState};
use martite_proto as pb;
use prost::Message;

const PREPARE: u32 = 0;
const ARCHIVE: u32 = 1;
const REMOVE_FROM_META: u32 = 2;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DeleteTable {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    table: pb::TableName,
}

impl DeleteTable {
    pub fn new(table: &TableName) -> DeleteTable {
        DeleteTable { step: PREPARE, table: table.to_proto() }
    }

    /// What may be deleted or truncated: a table that is there and disabled, and is not hbase:meta.
    pub fn check(services: &Services, table: &TableName) -> Result<(), MasterError> {
        if table.is_meta() {
            return Err(MasterError::io("Can't modify catalog tables"));
        }
        let entry = services.catalog.existing(table)?;
        match entry.state {
            TableState::Disabled => Ok(()),
            other => {
                let text = format!("Not DISABLED; {}", state_text(table, other));
                Err(MasterError::new(class::TABLE_NOT_DISABLED, text))
            }
        }
    }
}

impl Procedure for DeleteTable {
    fn class(&self) -> &'static str {
        "DeleteTableProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        table_locks(&self.table)
    }
    fn can_roll_back(&self) -> bool {
        self.step == PREPARE
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let table = table_name(&self.table)?;
        match self.step {
            PREPARE => DeleteTable::check(services, &table)?,
            ARCHIVE => services.archive_table(&table)?,
            REMOVE_FROM_META => {
                services.quotas.remove_table(services, &table);
                services.remove_from_meta(&table, true)?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
