//! EnableTable: every region of the table is opened.

use super::{Flow, Lock, Procedure, table_locks, table_name};
use crate::error::state_text;
use crate::services::Services;
use crate::{MasterError, class};
use martite_catalog::{TableName, TableState};
use martite_proto as pb;
use prost::Message;

const PREPARE: u32 = 0;
const MARK: u32 = 1;
const OPEN_REGIONS: u32 = 2;
const ENABLE: u32 = 3;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct EnableTable {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    table: pb::TableName,
}

impl EnableTable {
    pub fn new(table: &TableName) -> EnableTable {
        EnableTable { step: PREPARE, table: table.to_proto() }
    }

    /// TableNotFoundException, TableNotDisabledException.
    pub fn check(services: &Services, table: &TableName) -> Result<(), MasterError> {
        let entry = services.catalog.existing(table)?;
        match entry.state {
            TableState::Disabled => Ok(()),
            other => Err(MasterError::new(class::TABLE_NOT_DISABLED, state_text(table, other))),
        }
    }
}

impl Procedure for EnableTable {
    fn class(&self) -> &'static str {
        "EnableTableProcedure"
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
            PREPARE => EnableTable::check(services, &table)?,
            MARK => services.set_table_state(&table, TableState::Enabling)?,
            OPEN_REGIONS => services.open_regions(&services.catalog.live_regions(&table))?,
            ENABLE => {
                services.set_table_state(&table, TableState::Enabled)?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
