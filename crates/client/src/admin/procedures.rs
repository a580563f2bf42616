//! The master's procedures: waited for, listed, aborted; and those that are known by a signature.

use super::Admin;
use crate::Error;
use bytes::Bytes;
use martite_proto as pb;
use pb::get_procedure_result_response::State;
use std::time::Duration;
use tokio::time::Instant;

/// The longest that a procedure is waited for (HBase: `hbase.client.sync.wait.timeout.msec`).
const WAIT: Duration = Duration::from_secs(600);
/// First wait between two looks; doubled up to `PAUSE`. HBase begins with `PAUSE`, which a small table never takes.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
/// HBase's `hbase.client.pause`, and by what it is multiplied from look to look.
const PAUSE: Duration = Duration::from_millis(100);
const BACKOFF: [u32; 13] = [1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200];

/// Something that the master has begun.
#[must_use = "the procedure goes on by itself, but nobody learns how it ends"]
#[derive(Debug, Clone)]
pub struct Pending {
    admin: Admin,
    id: Option<u64>,
}

/// How long to wait after the look number `looks`, the first being 0.
fn pause(looks: usize) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << looks.min(16));
    if doubled < PAUSE {
        return doubled;
    }
    let first = (0..16).find(|&n| FIRST_PAUSE.saturating_mul(1 << n) >= PAUSE).unwrap_or(0);
    PAUSE.saturating_mul(BACKOFF[(looks - first).min(BACKOFF.len() - 1)])
}

impl Pending {
    /// The procedure's number; none: the master had nothing to do.
    pub fn id(&self) -> Option<u64> {
        self.id
    }

    /// Until the procedure has ended, well or not.
    pub async fn wait(self) -> Result<(), Error> {
        let Some(id) = self.id else { return Ok(()) };
        let deadline = Instant::now() + WAIT;
        for looks in 0.. {
            if self.is_done().await? {
                return Ok(());
            }
            let next = Instant::now() + pause(looks);
            if next > deadline {
                break;
            }
            tokio::time::sleep_until(next).await;
        }
        Err(Error::Unknown(format!("procedure {id} has not ended within {} s", WAIT.as_secs())))
    }

    /// Whether the procedure has ended; if it failed, its exception.
    pub async fn is_done(&self) -> Result<bool, Error> {
        let Some(proc_id) = self.id else { return Ok(true) };
        let request = pb::GetProcedureResultRequest { proc_id };
        let answer: pb::GetProcedureResultResponse = self.admin.master("getProcedureResult", &request).await?;
        if State::try_from(answer.state) == Ok(State::Running) {
            return Ok(false);
        }
        match answer.exception {
            Some(exception) => Err(failure(exception)),
            None => Ok(true),
        }
    }
}

/// What ended a procedure, as if a call had thrown it.
pub(super) fn failure(message: pb::ForeignExceptionMessage) -> Error {
    let generic = message.generic_exception.unwrap_or_default();
    let class = generic.class_name.unwrap_or_else(|| "java.io.IOException".to_owned());
    super::client_exception(&class, generic.message.unwrap_or_default())
}

impl Admin {
    pub(super) fn pending(&self, id: Option<u64>) -> Pending {
        Pending { admin: self.clone(), id }
    }

    /// A procedure of this number, which somebody has begun.
    pub fn procedure(&self, id: u64) -> Pending {
        self.pending(Some(id))
    }

    /// The procedures that the master is at, and those that ended lately.
    pub async fn procedures(&self) -> Result<Vec<pb::Procedure>, Error> {
        let answer: pb::GetProceduresResponse = self.master("GetProcedures", &pb::GetProceduresRequest {}).await?;
        Ok(answer.procedure)
    }

    /// What procedures have locked, and which wait for it.
    pub async fn locks(&self) -> Result<Vec<pb::LockedResource>, Error> {
        let answer: pb::GetLocksResponse = self.master("GetLocks", &pb::GetLocksRequest {}).await?;
        Ok(answer.lock)
    }

    /// Whether the procedure was there and could be aborted.
    pub async fn abort_procedure(&self, id: u64, may_interrupt: bool) -> Result<bool, Error> {
        let request = pb::AbortProcedureRequest { proc_id: id, may_interrupt_if_running: Some(may_interrupt) };
        let answer: pb::AbortProcedureResponse = self.master("AbortProcedure", &request).await?;
        Ok(answer.is_procedure_aborted)
    }

    /// Begins a procedure that is known by its signature; answers how long, in milliseconds, it may take.
    pub async fn exec_procedure(
        &self,
        signature: &str,
        instance: &str,
        settings: &[(&str, &str)],
    ) -> Result<i64, Error> {
        let request = pb::ExecProcedureRequest { procedure: description(signature, instance, settings) };
        let answer: pb::ExecProcedureResponse = self.master("ExecProcedure", &request).await?;
        Ok(answer.expected_timeout.unwrap_or(0))
    }

    /// The same for one that answers something.
    pub async fn exec_procedure_with_return(
        &self,
        signature: &str,
        instance: &str,
        settings: &[(&str, &str)],
    ) -> Result<Option<Bytes>, Error> {
        let request = pb::ExecProcedureRequest { procedure: description(signature, instance, settings) };
        let answer: pb::ExecProcedureResponse = self.master("ExecProcedureWithRet", &request).await?;
        Ok(answer.return_data)
    }

    pub async fn is_procedure_done(
        &self,
        signature: &str,
        instance: &str,
        settings: &[(&str, &str)],
    ) -> Result<bool, Error> {
        let request = pb::IsProcedureDoneRequest { procedure: Some(description(signature, instance, settings)) };
        let answer: pb::IsProcedureDoneResponse = self.master("IsProcedureDone", &request).await?;
        Ok(answer.done())
    }
}

fn description(signature: &str, instance: &str, settings: &[(&str, &str)]) -> pb::ProcedureDescription {
    let pair = |(name, value): &(&str, &str)| pb::NameStringPair { name: (*name).into(), value: (*value).into() };
    pb::ProcedureDescription {
        signature: signature.to_owned(),
        instance: Some(instance.to_owned()),
        creation_time: None,
        configuration: settings.iter().map(pair).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_rarer() {
        let waits: Vec<u128> = (0..9).map(|looks| pause(looks).as_millis()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 100, 200, 300]);
        assert_eq!(pause(1_000_000).as_secs(), 20);
    }
}
