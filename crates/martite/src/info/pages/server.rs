//! The region server at a glance, and its block cache.

use super::Answer;
use crate::info::{Shown, cache as figures};
use martite_blockcache::Kind;
use martite_rpc::Class;
use martite_web::Asked;
use martite_web::view::{Body, Cell, Table, Tone, View};
use std::sync::atomic::Ordering::Relaxed;

pub fn page(shown: &Shown, _: &Asked) -> Answer {
    let regions = &shown.regions;
    let mut view = View::new("Region server", regions.name.to_string());
    view.add("Now", Body::Facts(facts(shown)));
    view.add("Calls", Body::Plots(shown.sampler.of_calls()));
    view.add("Server", Body::Plots(shown.sampler.of_server()));
    view.add("Background", Body::Table(tasks(shown)));
    view.add_noted(
        "Worker threads",
        "Calls that need not wait are answered by the network threads and are in none of these queues.",
        Body::Table(threads(shown)),
    );
    view.add("Write-ahead log", Body::Facts(log(shown)));
    view.add("Software", Body::Facts(software(shown)));
    Ok(view)
}

fn facts(shown: &Shown) -> Vec<(&'static str, Cell)> {
    let regions = &shown.regions;
    let (counters, sampler) = (shown.regionserver.counters(), &shown.sampler);
    let number = |series: &str| sampler.last(series).map_or(Cell::None, Cell::Number);
    let ns = |series: &str| sampler.last(series).map_or(Cell::None, |ns| Cell::Duration(ns as u64));
    let memory = &shown.memory;
    let memstores = regions.ctx.memstore_size.load(Relaxed);
    let resident = sampler.last("memory").map_or(Cell::None, |bytes| Cell::Share(bytes, memory.budget as f64));
    vec![
        ("Calls a second", number("requests")),
        ("p99 of Gets", ns("p99.Get")),
        ("Processors in use", number("cpu")),
        ("Memory, of its budget", resident),
        ("Memory budget", Cell::Bytes(memory.budget)),
        ("Memstores, of their limit", Cell::Share(memstores as f64, memory.memstore_limit as f64)),
        ("Calls that wait for a limit", Cell::Count(regions.throttles.parked() as u64)),
        ("Calls under way", Cell::Count(counters.queued_calls)),
        ("Connections", Cell::Count(counters.connections_open)),
        ("Regions", Cell::Count(regions.online.len() as u64)),
        ("Flushes, waiting or under way", Cell::Count(regions.background.flushes_waiting() as u64)),
        ("Compactions, waiting or under way", Cell::Count(regions.background.compactions_waiting() as u64)),
        ("Open scanners", Cell::Count(regions.scanners.len() as u64)),
        ("Calls since the start", Cell::Count(counters.calls)),
        ("Exceptions since the start", Cell::Count(counters.exceptions.values().sum())),
        ("Received", Cell::Bytes(counters.received_bytes)),
        ("Sent", Cell::Bytes(counters.sent_bytes)),
    ]
}

fn tasks(shown: &Shown) -> Table {
    let mut table = Table::new("No flush and no compaction is under way.", &["Task", "State", "Since"]);
    table.rows.extend(shown.regions.tasks().into_iter().map(|task| {
        let since = Cell::moment(task.start_time());
        vec![Cell::Text(task.description), Cell::Tone(Tone::Busy, task.status), since]
    }));
    table
}

fn threads(shown: &Shown) -> Table {
    let classes = [
        ("Reads", Class::Read),
        ("Scans", Class::Scan),
        ("Scans beside calls", Class::WeightedScan),
        ("Writes", Class::Write),
        ("System tables", Class::Priority),
        ("Administration", Class::Admin),
        ("Batch work", Class::Batch),
    ];
    let mut table = Table::new("", &["For", "Waiting", "Running"]);
    table.rows = classes
        .into_iter()
        .map(|(name, class)| {
            let (waiting, running) = shown.pool.queued(class);
            vec![Cell::text(name), Cell::Count(waiting as u64), Cell::Count(running as u64)]
        })
        .collect();
    table
}

fn log(shown: &Shown) -> Vec<(&'static str, Cell)> {
    let stats = shown.regions.ctx.wal.stats();
    let state = if stats.poisoned {
        Cell::Tone(Tone::Bad, "cannot be written".to_owned())
    } else {
        Cell::Tone(Tone::Good, "in order".to_owned())
    };
    vec![
        ("State", state),
        ("Files", Cell::Count(stats.files as u64)),
        ("Size of the files", Cell::Bytes(stats.size_bytes)),
        ("Appends", Cell::Count(stats.appends)),
        ("Appended", Cell::Bytes(stats.appended_bytes)),
        ("Writes", Cell::Count(stats.batches)),
        ("Syncs", Cell::Count(stats.syncs)),
        ("Rolls", Cell::Count(stats.rolls)),
        ("Current file", Cell::code(stats.current_file.display().to_string())),
    ]
}

fn software(shown: &Shown) -> Vec<(&'static str, Cell)> {
    vec![
        ("Martite", Cell::text(env!("CARGO_PKG_VERSION"))),
        ("HBase version told to clients", Cell::text(crate::start::HBASE_VERSION)),
        ("Started", Cell::Moment(shown.regions.name.start_code.unsigned_abs())),
        ("Root directory", Cell::code(shown.regions.ctx.root.display().to_string())),
    ]
}

/// The page of the block cache.
pub fn cache(shown: &Shown, _: &Asked) -> Answer {
    let cache = shown.regions.ctx.stores.files.cache();
    let stats = cache.stats();
    let mut view = View::new("Block cache", "Blocks of store files in memory, outside of any heap");
    let used = cache.usage_bytes();
    view.add(
        "In memory",
        Body::Facts(vec![
            ("Used", Cell::Share(used as f64, cache.capacity_bytes() as f64)),
            ("Used, bytes", Cell::Bytes(used)),
            ("Size", Cell::Bytes(cache.capacity_bytes())),
            ("Blocks", Cell::Count(cache.len() as u64)),
            ("Found", Cell::Share(stats.hits as f64, (stats.hits + stats.misses) as f64)),
            ("Put in", Cell::Count(stats.inserts)),
            ("Had to make room", Cell::Count(stats.evictions)),
        ]),
    );
    if let Some(tier) = cache.tier() {
        let stats = tier.stats();
        view.add(
            "On SSD",
            Body::Facts(vec![
                ("Used", Cell::Share(stats.used_bytes as f64, stats.capacity_bytes as f64)),
                ("Used, bytes", Cell::Bytes(stats.used_bytes)),
                ("Size", Cell::Bytes(stats.capacity_bytes)),
                ("Blocks", Cell::Count(stats.blocks)),
                ("Found", Cell::Share(stats.hits as f64, (stats.hits + stats.misses) as f64)),
                ("Written", Cell::Count(stats.writes)),
                ("Had to make room", Cell::Count(stats.evictions)),
                ("Damaged", Cell::Count(stats.checksum_failures)),
            ]),
        );
    }
    let columns = ["Kind of block", "Blocks", "Bytes", "Asked for", "Found", "Share"];
    let mut kinds = Table::new("", &columns);
    for ((kind, of_kind), used) in Kind::ALL.into_iter().zip(stats.by_kind).zip(figures::by_kind(&shown.regions)) {
        let (hits, all) = (of_kind.hits, of_kind.hits + of_kind.misses);
        kinds.rows.push(vec![
            Cell::text(figures::names(kind).1),
            Cell::Count(used.blocks),
            Cell::Bytes(used.bytes),
            Cell::Count(all),
            Cell::Count(hits),
            Cell::Share(hits as f64, all as f64),
        ]);
    }
    view.add("By kind", Body::Table(kinds));
    let columns = ["Table", "Family", "Blocks", "Bytes", "Data", "Index", "Bloom filters", "Meta", "Of what is used"];
    let mut owners = Table::new("Nothing is in the cache.", &columns);
    for ((table, family), usage) in figures::by_owner(&shown.regions) {
        let bytes: u64 = usage.iter().map(|used| used.bytes).sum();
        let mut row = vec![Cell::text(table.as_str()), Cell::code(family)];
        row.extend([Cell::Count(usage.iter().map(|used| used.blocks).sum()), Cell::Bytes(bytes)]);
        row.extend(usage.map(|used| Cell::Bytes(used.bytes)));
        row.push(Cell::Share(bytes as f64, used as f64));
        owners.rows.push(row);
    }
    view.add_noted(
        "By table and family",
        "What two daughters share of their parent's files is counted once.",
        Body::Table(owners),
    );
    Ok(view)
}
