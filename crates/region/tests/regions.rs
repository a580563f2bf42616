//! Life of regions: markers, numbers, memory limits, splits and merges.
#![allow(clippy::unwrap_used)]

mod rig;

use bytes::Bytes;
use martite_catalog::{FamilyDescriptor, Layout, RegionInfo, TableDescriptor, TableName};
use martite_cell::CellBuf;
use martite_env::{Clock, FileSystem};
use martite_proto::{self as pb, Message};
use martite_region::{
    OffPeak, Region, RegionConfig, RegionError, RegionEvents, WriteRequest, write_merge, write_split,
};
use martite_wal::WalReader;
use rig::{ROOT, Rig, put};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Qualifiers of the markers in the server's log, with their values.
fn markers(rig: &Rig) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    for file in rig.fs.list(&rig.wal_dir()).unwrap() {
        let mut reader = WalReader::open(&rig.fs, &rig.wal_dir().join(&file.name)).unwrap();
        while let Some(entry) = reader.next().unwrap() {
            let cells = CellBuf::from_block(entry.cells.to_vec(), true).unwrap();
            for cell in cells.iter().filter(|c| c.family() == b"METAFAMILY") {
                assert_eq!((cell.row(), cell.type_code()), (&b"b"[..], 4));
                out.push((String::from_utf8(cell.qualifier().to_vec()).unwrap(), cell.value.to_vec()));
            }
        }
    }
    out
}

#[test]
fn in_off_peak_hours_a_compaction_takes_a_larger_file_along() {
    let family = FamilyDescriptor::new("f").with("hbase.hstore.compaction.min.size", "1");
    let table = TableDescriptor::new(TableName::parse("t").unwrap()).with_family(family);
    // The hour, whether another compaction has the turn, and the files that are taken.
    for (hour, is_taken, files) in [(0, false, 3), (1, false, 4), (1, true, 3), (3, false, 3)] {
        let config = RegionConfig { off_peak: OffPeak::new(1, 3).unwrap().into(), ..RegionConfig::default() };
        let _turn = is_taken.then(|| config.off_peak.turn(hour).unwrap());
        let rig = Rig::with(table.clone(), config);
        rig.clock.set(u64::from(hour) * 3_600_000 + 1);
        for (row, bytes) in [("b1", 100_000), ("b2", 10_000), ("b3", 10_000), ("b4", 10_000)] {
            rig.put(row, "f:a", &vec![7; bytes]).unwrap();
            rig.region.flush(None, "as asked").unwrap();
        }
        let done = rig.region.compact(None, false, &martite_store::Unthrottled).unwrap();
        assert_eq!(done[0].outcome.inputs.len(), files, "at {hour} o'clock, taken: {is_taken}");
    }
}

#[test]
fn the_log_tells_what_the_region_did() {
    let rig = Rig::new();
    for round in 0..3 {
        rig.put("c", "f:a", format!("{round}").as_bytes()).unwrap();
        rig.region.flush(None, "test").unwrap();
    }
    rig.region.compact(Some(b"f"), true, &martite_store::Unthrottled).unwrap();
    rig.region.close(false).unwrap();
    let markers = markers(&rig);
    let names: Vec<&str> = markers.iter().map(|(name, _)| name.as_str()).collect();
    let mut expected = vec!["HBASE::REGION_EVENT::REGION_OPEN"];
    expected.extend(["HBASE::FLUSH"; 6]);
    expected.extend(["HBASE::COMPACTION", "HBASE::REGION_EVENT::REGION_CLOSE"]);
    assert_eq!(names, expected);

    let open = pb::RegionEventDescriptor::decode(&markers[0].1[..]).unwrap();
    assert_eq!((open.event_type, open.log_sequence_number), (0, Some(1)));
    assert_eq!((&open.table_name[..], &open.encoded_region_name[..]), (&b"t"[..], rig.info.encoded_name().as_bytes()));
    assert_eq!(open.server.unwrap().host_name, "h");
    assert_eq!(open.stores.iter().map(|s| s.store_home_dir.as_str()).collect::<Vec<_>>(), ["f", "g"]);

    let flushes: Vec<_> = markers[1..7].iter().map(|m| pb::FlushDescriptor::decode(&m.1[..]).unwrap()).collect();
    assert_eq!(flushes.iter().map(|f| f.action).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
    assert_eq!(flushes[0].flush_sequence_number, flushes[1].flush_sequence_number);
    assert_eq!(flushes[1].store_flushes[0].flush_output.len(), 1);
    let compaction = pb::CompactionDescriptor::decode(&markers[7].1[..]).unwrap();
    assert_eq!((compaction.compaction_input.len(), compaction.compaction_output.len()), (3, 1));
    assert_eq!(compaction.compaction_input[0], flushes[1].store_flushes[0].flush_output[0]);
    assert_eq!(compaction.store_home_dir, "f");
    let close = pb::RegionEventDescriptor::decode(&markers[8].1[..]).unwrap();
    assert_eq!((close.event_type, &close.stores[0].store_file), (1, &compaction.compaction_output));
}

#[test]
fn every_opening_has_a_higher_number() {
    let mut rig = Rig::new();
    let mut last = rig.region.open_seq_num();
    assert_eq!(last, 1);
    for round in 0..6 {
        if round % 3 == 1 {
            rig.put("c", "f:a", b"1").unwrap();
        }
        let highest = rig.region.read_point();
        rig = if round % 2 == 0 { rig.crash() } else { rig.reopen() };
        let now = rig.region.open_seq_num();
        assert!(now > last, "{now} after {last}");
        assert!(round % 2 == 0 || now > highest, "{now} after {highest}");
        last = now;
    }
}

#[test]
fn a_region_info_that_says_something_else_is_made_anew() {
    let rig = Rig::new();
    let path = rig.region_dir().join(".regioninfo");
    rig.fs.write_atomic(&path, b"PBUF").unwrap();
    let rig = rig.reopen();
    assert_eq!(rig.fs.read(&path).unwrap(), rig.info.to_delimited_bytes());
}

#[derive(Default)]
struct Events {
    flush_wanted: AtomicU64,
    flushed: AtomicU64,
}

impl RegionEvents for Events {
    fn flush_wanted(&self, _: &Region) {
        self.flush_wanted.fetch_add(1, Ordering::SeqCst);
    }
    fn flushed(&self, _: &Region) {
        self.flushed.fetch_add(1, Ordering::SeqCst);
    }
    fn must_stop(&self, error: &RegionError) {
        panic!("{error}");
    }
}

#[test]
fn a_full_memstore_asks_for_a_flush_and_then_refuses() {
    let config = RegionConfig { flush_size_bytes: 64 << 10, block_multiplier: 2, ..RegionConfig::default() };
    let mut rig = Rig::with(rig::table(&["f"]), config);
    let events = Arc::new(Events::default());
    rig.listen(events.clone());
    let ctx = rig.ctx.clone();
    let mut refused = None;
    for i in 0..1000 {
        if let Err(error) = rig.put(&format!("row{i:04}"), "f:a", &[0; 1000]) {
            refused = Some((i, error));
            break;
        }
    }
    let (after, error) = refused.unwrap();
    assert!((60..200).contains(&after), "{after}");
    assert!(matches!(error, RegionError::TooBusy(_)), "{error:?}");
    let encoded = rig.info.encoded_name();
    assert_eq!(error.to_string(), format!("Over memstore limit=128.0 K, regionName={encoded}, server=h,1,1"));
    assert_eq!(events.flush_wanted.load(Ordering::SeqCst), 1, "asked once");
    assert_eq!(ctx.memstore_size.load(Ordering::SeqCst), rig.region.memstore_heap_bytes());
    rig.region.flush(None, "test").unwrap();
    assert_eq!(events.flushed.load(Ordering::SeqCst), 1);
    assert_eq!(ctx.memstore_size.load(Ordering::SeqCst), rig.region.memstore_heap_bytes());
    rig.put("row", "f:a", b"1").unwrap();
    let load = rig.region.load();
    assert_eq!((load.stores, load.files, load.write_requests), (1, 1, after + 2));
    assert_eq!(load.to_proto(rig.info.name()).storefiles, Some(1));
}

#[test]
fn a_split_and_a_merge_keep_every_row() {
    let rig = Rig::new();
    let rows: Vec<String> = ('b'..'y').map(|c| format!("{c}row")).collect();
    for row in &rows {
        rig.put(row, "f:a", row.as_bytes()).unwrap();
    }
    rig.region.flush(None, "test").unwrap();
    let before = rig.region.read_point();
    for at in ["b", "a", "z", ""] {
        let error = rig.region.prepare_split(Some(Bytes::from_static(at.as_bytes())), 5).unwrap_err();
        assert!(error.to_string().starts_with("Split row is not inside region key range"), "{error}");
    }
    let (lower, upper) = rig.region.prepare_split(Some(Bytes::from_static(b"m")), rig.clock.now_ms()).unwrap();
    assert_eq!((lower.end_key(), upper.start_key()), (&Bytes::from_static(b"m"), &Bytes::from_static(b"m")));
    rig.region.close(false).unwrap();
    let stores = &rig.ctx.stores;
    for _ in 0..2 {
        write_split(stores, &rig.table, &rig.info, [&lower, &upper], 2000).unwrap();
    }
    let halves = [rig.beside(&lower), rig.beside(&upper)];
    for row in &rows {
        let at = usize::from(row.as_str() >= "m");
        assert_eq!(halves[at].row(row), format!("f:a={row}"));
        assert!(matches!(halves[1 - at].put(row, "f:a", b"x").unwrap_err(), RegionError::FailedSanityCheck(_)));
    }
    assert!(halves.iter().all(|half| half.region.open_seq_num() > before));
    assert_eq!(halves[0].region.split_point().unwrap(), None, "references cannot be split");
    halves[0].put("brow", "f:a", b"new").unwrap();
    for half in &halves {
        assert!(half.region.has_references());
        half.region.compact(None, true, &martite_store::Unthrottled).unwrap();
        assert!(!half.region.has_references());
        half.region.close(false).unwrap();
    }
    let merged = RegionInfo::new(rig.info.table().clone(), "b", "y", 9);
    for _ in 0..2 {
        write_merge(stores, &rig.table, &[lower.clone(), upper.clone()], &merged, 3000).unwrap();
    }
    let merged = rig.beside(&merged);
    for row in &rows[1..] {
        assert_eq!(merged.row(row), format!("f:a={row}"));
    }
    assert_eq!(merged.row("brow"), "f:a=new");
    assert!(rig.fs.exists(&Layout::new(ROOT).region_dir(&merged.info)));
}

#[test]
fn a_batch_is_cut_into_edits_of_bounded_size() {
    let config = RegionConfig { mini_batch_ops: 3, mini_batch_bytes: 1000, ..RegionConfig::default() };
    let rig = Rig::with(rig::table(&["f"]), config);
    let before = rig.ctx.wal.stats().appends;
    let mut mutations: Vec<_> = (0..7).map(|i| put(&format!("c{i}"), "f:a", b"1")).collect();
    mutations.push(put("d", "f:a", &[b'x'; 2000]));
    mutations.push(put("e", "f:a", b"1"));
    let written = rig.write(WriteRequest::batch(mutations)).unwrap();
    assert_eq!(written.ops.iter().filter(|op| op.is_ok()).count(), 9);
    assert_eq!(rig.ctx.wal.stats().appends - before, 5);
    assert_eq!(rig.row("c6"), "f:a=1");
}
