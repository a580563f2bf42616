//! Calls: connections, queues, exceptions, times by method.

use martite_metrics::CallSnapshot;
use martite_rpc::{Class, Pool, Watch};
use martite_web::{Kind, Record};

/// Exceptions that HBase counts by name: its class and the attribute.
const NAMED: [(&str, &str); 9] = [
    ("OutOfOrderScannerNextException", "OutOfOrderScannerNextException"),
    ("RegionTooBusyException", "RegionTooBusyException"),
    ("UnknownScannerException", "UnknownScannerException"),
    ("ScannerResetException", "ScannerResetException"),
    ("FailedSanityCheckException", "FailedSanityCheckException"),
    ("RegionMovedException", "RegionMovedException"),
    ("NotServingRegionException", "NotServingRegionException"),
    ("RpcThrottlingException", "rpcThrottling"),
    ("QuotaExceededException", "quotaExceeded"),
];

pub fn put(ipc: &mut Record, watch: &Watch) {
    let counters = watch.counters();
    ipc.gauge("queueSize", counters.queued_bytes);
    ipc.gauge("numOpenConnections", counters.connections_open);
    ipc.counter("sentBytes", counters.sent_bytes);
    ipc.counter("receivedBytes", counters.received_bytes);
    ipc.counter("exceptions", counters.exceptions.values().sum());
    let mut others: u64 = counters.exceptions.values().sum();
    for (class_name, name) in NAMED {
        let of_class =
            counters.exceptions.iter().filter(|(class, _)| class.rsplit(['.', '$']).next() == Some(class_name));
        let count = of_class.map(|(_, count)| count).sum();
        others -= count;
        ipc.counter(&format!("exceptions.{name}"), count);
    }
    ipc.counter("exceptions.otherExceptions", others);
    put_times(ipc, watch.times());
}

fn put_times(ipc: &mut Record, by_method: Vec<(&'static str, CallSnapshot)>) {
    let mut all = CallSnapshot::default();
    by_method.iter().for_each(|(_, times)| all.merge(times));
    ipc.times("QueueCallTime", &all.queue);
    ipc.times("ProcessCallTime", &all.process);
    ipc.times("DiskCallTime", &all.disk);
    ipc.times("TotalCallTime", &all.total);
    for (method, times) in by_method {
        let method = if method.is_empty() { "Other" } else { method };
        let CallSnapshot { total, queue, process, disk } = &times;
        let parts = [("Queue", queue), ("Process", process), ("Disk", disk), ("Total", total)];
        for (part, snapshot) in parts {
            let series = format!("ipc_method_{}_call_time", part.to_lowercase());
            ipc.labelled_times(&format!("{method}_{part}CallTime"), &series, &[("method", method)], snapshot);
        }
    }
}

/// The threads for calls that wait; both RPC ports share them.
pub fn put_pool(ipc: &mut Record, pool: &Pool) {
    let mut active = 0;
    let mut put = |name: &str, classes: &[Class]| {
        let (mut waiting, mut running) = (0, 0);
        for class in classes {
            let (w, r) = pool.queued(*class);
            (waiting, running) = (waiting + w as u64, running + r as u64);
        }
        ipc.push(Kind::Gauge, &format!("numCallsIn{name}Queue"), "", &[], waiting as f64);
        ipc.push(Kind::Gauge, &format!("numActive{name}Handler"), "", &[], running as f64);
        running
    };
    active += put("General", &[Class::Read, Class::Write, Class::Scan, Class::Admin]);
    active += put("Priority", &[Class::Priority]);
    active += put("Replication", &[Class::Replication]);
    for (name, class) in [("Read", Class::Read), ("Write", Class::Write), ("Scan", Class::Scan)] {
        put(name, &[class]);
    }
    ipc.gauge("numActiveHandler", active);
}
