//! DisableTable: every region of the table is closed.

use super::{Flow, Lock, Procedure, table_locks, table_name};
use crate::error::state_text;
use crate::services::Services;
use crate::{MasterError, class};
use martite_catalog::{TableName, TableState};
use martite_proto as pb;
use prost::Message;

const PREPARE: u32 = 0;
const MARK: u32 = 1;
const CLOSE_REGIONS: u32 = 2;
const DISABLE: u32 = 3;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DisableTable {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    table: pb::TableName,
}

impl DisableTable {
    pub fn new(table: &TableName) -> DisableTable {
        DisableTable { step: PREPARE, table: table.to_proto() }
    }

    /// ConstraintException for hbase:meta, TableNotFoundException, TableNotEnabledException.
    pub fn check(services: &Services, table: &TableName) -> Result<(), MasterError> {
        if table.is_meta() {
            return Err(MasterError::new(class::CONSTRAINT, format!("Cannot disable {table}")));
        }
        let entry = services.catalog.existing(table)?;
        match entry.state {
            TableState::Enabled => Ok(()),
            other => Err(MasterError::new(class::TABLE_NOT_ENABLED, state_text(table, other))),
        }
    }
}

impl Procedure for DisableTable {
    fn class(&self) -> &'static str {
        "DisableTableProcedure"
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
            PREPARE => DisableTable::check(services, &table)?,
            MARK => services.set_table_state(&table, TableState::Disabling)?,
            CLOSE_REGIONS => services.close_regions(&services.catalog.live_regions(&table))?,
            DISABLE => {
                services.set_table_state(&table, TableState::Disabled)?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
