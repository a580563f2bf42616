//! Users under limits: their calls by table, how long these waited and took, and what was refused. Tables and namespaces that
//! hold too much.

use martite_quota::space::{Usage, Verdict};
use martite_quota::{Key, Operation};
use martite_regionserver::RegionServer;
use martite_web::{Kind, Record};

pub const OPERATIONS: [(&str, Operation); 4] =
    [("Get", Operation::Get), ("Multi", Operation::Multi), ("Scan", Operation::Scan), ("Mutate", Operation::Mutate)];

pub fn put(record: &mut Record, regions: &RegionServer) {
    record.gauge("numParkedCalls", regions.throttles.parked() as u64);
    let space = regions.space_usage();
    record.gauge("numTablesInViolation", violated(space.values()));
    record.gauge("numSpaceSnapshotsReceived", space.len() as u64);
    for (key, usage) in regions.throttles.usage.all() {
        let owner = format!("User_{}_Table_{}", name(&key.user), name(&key.table));
        for (operation, kind) in OPERATIONS {
            let times = usage.operation(kind);
            let (queue, parked, service) = (times.queue.snapshot(), times.parked.snapshot(), times.service.snapshot());
            if service.count() == 0 {
                continue;
            }
            let operation = &*operation.to_lowercase();
            let labels = [("user", &*key.user), ("table", &*key.table), ("operation", operation)];
            for (part, snapshot) in [("Queue", queue), ("Parked", parked), ("Service", service)] {
                let series = format!("quota_{}_time", part.to_lowercase());
                record.labelled_times(&format!("{owner}_{operation}{part}Time"), &series, &labels, &snapshot);
            }
        }
    }
}

/// HBase's bean `Master,sub=Quotas`, as far as it has something to say here.
pub fn put_space(record: &mut Record, space: &Verdict) {
    record.gauge("numSpaceQuotas", (space.tables.len() + space.namespaces.len()) as u64);
    record.gauge("numTablesInQuotaViolation", violated(space.tables.values()));
    record.gauge("numNamespaceInQuotaViolation", violated(space.namespaces.values()));
}

fn violated<'a>(usages: impl Iterator<Item = &'a Usage>) -> u64 {
    usages.filter(|usage| usage.violated.is_some()).count() as u64
}

/// HBase's bean of that name.
pub fn put_refused(record: &mut Record, regions: &RegionServer) {
    for (Key { user, table }, usage) in regions.throttles.usage.all() {
        for (kind, count) in usage.refused() {
            let attribute =
                format!("RpcThrottlingException_Type_{}_User_{}_Table_{}", kind.exception(), name(&user), name(&table));
            let labels = [("type", kind.exception()), ("user", &*user), ("table", &*table)];
            record.push(Kind::Counter, &attribute, "rpc_throttling_exceptions", &labels, count as f64);
        }
    }
}

/// As HBase writes names into attributes.
fn name(name: &str) -> String {
    name.replace([',', '=', ':', '*', '?', '"', '\n'], "_")
}
