//! Settings that ask for what is not there. Without it data would lie open, or be lost: such a server does not start.

use crate::{Failure, exit, ssd_tier};
use martite_config::{Config, keys};

/// An error that names the first setting that cannot be honoured.
pub fn check(config: &Config) -> Result<(), Failure> {
    let refuse = |key: &str, value: &str, why: &str| Err(Failure::new(exit::USAGE, format!("{key} = {value}: {why}")));
    let authentication = config.get(keys::AUTHENTICATION);
    if !authentication.eq_ignore_ascii_case("simple") {
        return refuse(keys::AUTHENTICATION.name(), &authentication, "not supported, only simple is");
    }
    if config.get(keys::AUTHORIZATION) {
        return refuse(keys::AUTHORIZATION.name(), "true", "access control is not supported");
    }
    let protection = config.get(keys::RPC_PROTECTION);
    if protection != "authentication" {
        return refuse(keys::RPC_PROTECTION.name(), &protection, "not supported, only authentication is");
    }
    if config.get(keys::CLUSTER_DISTRIBUTED) {
        return refuse(keys::CLUSTER_DISTRIBUTED.name(), "true", "only a standalone server is supported");
    }
    let logs = config.get(keys::WAL_DIR);
    if !logs.is_empty() {
        return refuse(keys::WAL_DIR.name(), &logs, "logs outside of the root directory are not supported");
    }
    for key in [
        keys::COPROCESSOR_REGION,
        keys::COPROCESSOR_USER_REGION,
        keys::COPROCESSOR_MASTER,
        keys::COPROCESSOR_REGIONSERVER,
    ] {
        let name = key.name();
        if let Some(class) = config.get(key).iter().find(|class| !martite_master::is_built_in(class)) {
            return refuse(name, class, "this coprocessor is not built in and cannot be loaded");
        }
    }
    ssd_tier::files(config)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &str, value: &str) -> String {
        match check(&Config::of(&[(key, value)]).unwrap()) {
            Ok(()) => "ok".to_owned(),
            Err(failure) => {
                assert_eq!(failure.code, exit::USAGE);
                failure.message
            }
        }
    }

    #[test]
    fn what_would_be_silently_missing_is_refused() {
        assert_eq!(of("hbase.security.authentication", "Simple"), "ok");
        assert_eq!(
            of("hbase.security.authentication", "kerberos"),
            "hbase.security.authentication = kerberos: not supported, only simple is"
        );
        assert_eq!(
            of("hbase.security.authorization", "true"),
            "hbase.security.authorization = true: access control is not supported"
        );
        assert_eq!(
            of("hbase.rpc.protection", "privacy"),
            "hbase.rpc.protection = privacy: not supported, only authentication is"
        );
        assert_eq!(
            of("hbase.cluster.distributed", "true"),
            "hbase.cluster.distributed = true: only a standalone server is supported"
        );
        assert_eq!(
            of("hbase.wal.dir", "file:///logs"),
            "hbase.wal.dir = file:///logs: logs outside of the root directory are not supported"
        );
    }

    #[test]
    fn only_built_in_coprocessors_are_taken() {
        let multi_row = "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint";
        assert_eq!(of("hbase.coprocessor.region.classes", multi_row), "ok");
        assert_eq!(
            of("hbase.coprocessor.region.classes", &format!("{multi_row},com.example.Audit")),
            "hbase.coprocessor.region.classes = com.example.Audit: this coprocessor is not built in and cannot be loaded"
        );
    }
}
