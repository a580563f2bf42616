//! The regions that are served, and the store files of one.

use super::{Answer, name, part};
use crate::info::Shown;
use martite_catalog::to_string_binary;
use martite_proto::region_load::CompactionState;
use martite_region::{Load, Region};
use martite_store::StoreFile;
use martite_web::view::{Body, Cell, Table, Tone, View};
use martite_web::{Asked, Refused};

/// The page of all regions.
pub fn all(shown: &Shown, asked: &Asked) -> Answer {
    let all = shown.regions.online.all();
    let (some, note) = part(&all, asked)?;
    let mut view = View::new("Regions", format!("{} are served by {}", all.len(), shown.regions.name));
    let columns = [
        "Table",
        "Region",
        "Start key",
        "Reads",
        "Filtered",
        "Writes",
        "Files",
        "Size",
        "Memstore",
        "Index",
        "Bloom",
        "Compaction",
    ];
    let mut table = Table::new("No region is open here.", &columns);
    for region in some {
        let (info, load) = (region.info(), region.load());
        table.rows.push(vec![
            Cell::text(info.table().as_str()),
            Cell::link(path(info.encoded_name()), info.encoded_name()),
            key(info.start_key()),
            Cell::Count(load.read_requests),
            Cell::Count(load.filtered_read_requests),
            Cell::Count(load.write_requests),
            Cell::Count(load.files),
            Cell::Bytes(load.file_size_bytes),
            Cell::Bytes(load.memstore_data_bytes),
            Cell::Bytes(load.total_index_bytes),
            Cell::Bytes(load.bloom_bytes),
            compaction(&load),
        ]);
    }
    view.add_noted("Served", note, Body::Table(table));
    Ok(view)
}

/// The page of one region.
pub fn one(shown: &Shown, asked: &Asked) -> Answer {
    let encoded = name(asked)?;
    let all = shown.regions.online.all();
    let region = all.iter().find(|region| region.info().encoded_name() == encoded);
    let Some(region) = region else { return Err(Refused::Absent(format!("{encoded}: no such region is served here"))) };
    let mut view = View::new(format!("Region {encoded}"), region.info().name_string());
    view.add("Region", Body::Facts(facts(region)));
    let mut stores = Table::new(
        "",
        &["Family", "Files", "Size", "Uncompressed", "Cells", "Memstore", "Flushes", "Compactions", "Written by these"],
    );
    let mut files = Table::new(
        "There is no store file.",
        &["Family", "File", "Size", "Cells", "Kind", "Compression", "Encoding", "Bloom filter", "Sequence id", "Of"],
    );
    for (_, store) in region.stores() {
        let counters = store.counters();
        stores.rows.push(vec![
            Cell::code(store.family_name()),
            Cell::Count(counters.files),
            Cell::Bytes(counters.size_bytes),
            Cell::Bytes(counters.uncompressed_size_bytes),
            Cell::Count(counters.cells),
            Cell::Bytes(counters.memstore_data_bytes),
            Cell::Count(counters.flushes),
            Cell::Count(counters.compactions),
            Cell::Bytes(counters.compacted_bytes),
        ]);
        files.rows.extend(store.files().iter().map(|file| of_file(store.family_name(), file)));
    }
    view.add_noted("Stores", "Flushes and compactions since the region was opened.", Body::Table(stores));
    view.add("Store files", Body::Table(files));
    Ok(view)
}

fn facts(region: &Region) -> Vec<(&'static str, Cell)> {
    let (info, load) = (region.info(), region.load());
    let table = info.table().as_str();
    vec![
        ("Table", Cell::text(table)),
        ("Start key", key(info.start_key())),
        ("End key", key(info.end_key())),
        ("Reads", Cell::Count(load.read_requests)),
        ("Filtered reads", Cell::Count(load.filtered_read_requests)),
        ("Writes", Cell::Count(load.write_requests)),
        ("Size", Cell::Bytes(load.file_size_bytes)),
        ("Memstore", Cell::Bytes(load.memstore_data_bytes)),
        ("Compaction", compaction(&load)),
        ("Last major compaction", Cell::moment(load.last_major_compaction_ms)),
        ("All in files up to sequence id", Cell::Count(load.complete_seq_id)),
        ("Encoded name", Cell::code(info.encoded_name())),
    ]
}

fn of_file(family: &str, file: &StoreFile) -> Vec<Cell> {
    let kind = match (file.is_reference(), file.bulk_loaded, file.major) {
        (true, ..) => "reference",
        (_, true, _) => "bulk loaded",
        (.., true) => "major compaction",
        _ => "",
    };
    vec![
        Cell::code(family),
        Cell::code(file.name()),
        Cell::Bytes(file.size_bytes()),
        Cell::Count(file.entries()),
        Cell::text(kind),
        Cell::text(file.reader.compression().name()),
        Cell::text(file.reader.encoding().name()),
        Cell::text(file.reader.bloom_type().name()),
        Cell::Count(file.seq_id),
        Cell::moment(file.modified_ms),
    ]
}

/// How a region is compacted at the moment.
pub fn compaction(load: &Load) -> Cell {
    let state = match load.compaction_state {
        CompactionState::None => return Cell::None,
        CompactionState::Minor => "minor",
        CompactionState::Major => "major",
        CompactionState::MajorAndMinor => "major and minor",
    };
    let done = load.compacted_cells as f64 / load.compacting_cells.max(1) as f64;
    Cell::Tone(Tone::Busy, format!("{state}, {:.0} %", done * 100.0))
}

/// Of a region's page, behind the address of the region server's port.
pub fn path(encoded: &str) -> String {
    format!("region.jsp?name={encoded}")
}

/// Of a region's ends; the empty one is the table's.
pub fn key(key: &[u8]) -> Cell {
    if key.is_empty() { Cell::None } else { Cell::code(to_string_binary(key)) }
}
