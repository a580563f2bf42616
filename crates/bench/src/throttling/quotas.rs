//! [`Quotas`]: limits of users, set by the call that HBase's shell makes.

use super::plan::Limit;
use crate::Error;
use martite_client::Cluster;
use martite_proto as pb;
use martite_rpc::client::{Client, ClientError};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a master may say that its quotas are not there yet: half a minute, asked ten times a second.
const LOOK: Duration = Duration::from_millis(100);
const LOOKS: usize = 300;

/// A connection to the active master, and who has a limit by it.
pub struct Quotas {
    master: Client,
    limited: Mutex<BTreeSet<String>>,
}

impl Quotas {
    pub async fn connect(registry: &str) -> Result<Quotas, Error> {
        let cluster = Cluster::connect(registry).await?;
        let master = martite_client::cluster::connect(&cluster.master().await?, "MasterService").await?;
        Ok(Quotas { master, limited: Mutex::default() })
    }

    /// Limits a user on each server.
    pub async fn limit(&self, user: &str, limit: Limit) -> Result<(), Error> {
        self.limited.lock().insert(user.to_owned());
        self.set(limit_request(user, Some(limit))).await
    }

    /// A user has no limit any more.
    pub async fn lift(&self, user: &str) -> Result<(), Error> {
        self.set(limit_request(user, None)).await?;
        self.limited.lock().remove(user);
        Ok(())
    }

    /// Nobody has a limit any more of those that were given one here.
    pub async fn lift_all(&self) -> Result<(), Error> {
        let limited: Vec<String> = self.limited.lock().iter().cloned().collect();
        for user in limited {
            self.lift(&user).await?;
        }
        Ok(())
    }

    async fn set(&self, request: pb::SetQuotaRequest) -> Result<(), Error> {
        for _ in 0..LOOKS {
            match self.master.call("SetQuota", &request, &[]).await {
                Ok(_) => return Ok(()),
                Err(ClientError::Remote { do_not_retry: false, .. }) => tokio::time::sleep(LOOK).await,
                Err(e) => {
                    return Err(Error::Setup(format!("a limit cannot be set, is hbase.quota.enabled true? {e}")));
                }
            }
        }
        Err(Error::Setup("the master's quotas do not come up".to_owned()))
    }
}

/// Without a limit, all that the user has are removed.
fn limit_request(user: &str, limit: Option<Limit>) -> pb::SetQuotaRequest {
    let throttle = match limit {
        None => pb::ThrottleRequest { r#type: None, timed_quota: None },
        Some(limit) => pb::ThrottleRequest {
            r#type: Some(limit.unit.throttle_type() as i32),
            timed_quota: Some(pb::TimedQuota {
                time_unit: pb::TimeUnit::Seconds as i32,
                soft_limit: Some(limit.per_second),
                share: None,
                scope: Some(pb::QuotaScope::Machine as i32),
            }),
        },
    };
    pb::SetQuotaRequest { user_name: Some(user.to_owned()), throttle: Some(throttle), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throttling::plan::Unit;

    #[test]
    fn a_limit_is_one_throttle_of_a_user() {
        let request = limit_request("u", Some(Limit { unit: Unit::Rows, per_second: 999 }));
        assert_eq!((request.user_name.as_deref(), request.remove_all), (Some("u"), None));
        let throttle = request.throttle.unwrap();
        assert_eq!(throttle.r#type, Some(pb::ThrottleType::ReadNumber as i32));
        let timed = throttle.timed_quota.unwrap();
        assert_eq!((timed.soft_limit, timed.time_unit), (Some(999), pb::TimeUnit::Seconds as i32));
        let none = limit_request("u", None).throttle.unwrap();
        assert_eq!((none.r#type, none.timed_quota), (None, None));
    }
}
