//! What the catalog and the stores keep in files and in hbase:meta: names, descriptors, meta rows, references.
//!
//! Input: `| what | bytes |`. What is accepted must be written and read again as the same.

use crate::mutate::Form;
use crate::target::{Budget, Target, words};
use crate::targets::cells::look_at;
use martite_catalog::meta_row::{self, MetaEdit};
use martite_catalog::{
    CoprocessorSpec, FamilyDescriptor, NamespaceDescriptor, RegionInfo, RegionState, ServerName, TableDescriptor,
    TableName, TableState, coprocessor, family, files, layout, region_info, table_name,
};
use martite_cell::{CellBuf, CellRef};
use martite_proto as pb;
use martite_store::{Reference, name};
use std::path::Path;

pub const TARGET: Target = Target {
    name: "catalog",
    run,
    seeds,
    words: names,
    form: Form::Proto(SKIP),
    max_len: 8 << 10,
    // Small fields become nodes of trees.
    budget: Budget { fixed_bytes: 1 << 20, per_byte: 512 },
    smoke: 10_000,
};

/// The kind, and `PBUF` where it is.
const SKIP: usize = 5;
/// File names are shorter.
const MAX_NAME: usize = 255;

fn run(input: &[u8]) {
    let Some((what, bytes)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match what % 10 {
        0 => region(bytes),
        1 => table(bytes),
        2 => namespace(bytes),
        3 => region_name(bytes),
        4 => meta(bytes),
        5 => reference(bytes),
        6 => table_state(bytes),
        7 => server_name(&text),
        8 => table_names(&text),
        _ => file_names(&text[..text.floor_char_boundary(MAX_NAME)]),
    }
}

fn region(bytes: &[u8]) {
    for info in [RegionInfo::from_bytes(bytes), RegionInfo::from_delimited_bytes(bytes)].into_iter().flatten() {
        // The table is in the name as text, the start key as it is: both must come back.
        let again = RegionInfo::from_bytes(&info.to_bytes());
        assert_eq!(again.as_ref().ok(), Some(&info));
        assert_eq!(RegionInfo::from_delimited_bytes(&info.to_delimited_bytes()).ok(), Some(info.clone()));
        let _ = (info.name_string(), format!("{info:?}"), info.contains_row(b"row"), info.is_split_parent());
        assert!(info.is_meta() || info.overlaps(&info) || info.start_key() >= info.end_key());
        assert!(info.is_meta() || region_info::parse_region_name(info.name()).is_some(), "{info:?}");
        let row = meta_row::row_of(&info);
        assert!(!row.is_empty());
    }
}

fn table(bytes: &[u8]) {
    let Ok(table) = TableDescriptor::from_bytes(bytes) else { return };
    let again = TableDescriptor::from_bytes(&table.to_bytes());
    assert_eq!(again.ok().as_ref().map(TableDescriptor::to_bytes), Some(table.to_bytes()));
    let _ = (table.check().is_ok(), table.max_file_size_bytes(), table.memstore_flush_size_bytes(), table.durability());
    let _ = (table.region_replication(), table.priority(), table.is_normalization_enabled(), table.coprocessors());
    for family in table.families().take(50) {
        let _ = (family.check().is_ok(), family.max_versions(), family.min_versions(), family.ttl_ms(), family.ttl_s());
        let _ = (family.block_size_bytes(), family.bloom_filter(), family.bloom_prefix_length(), family.compression());
        let _ = (family.keep_deleted_cells(), family.data_block_encoding(), family.mob_threshold_bytes());
        let _ = (family.compaction_compression(true), family.replication_scope(), family.in_memory_compaction());
    }
}

fn namespace(bytes: &[u8]) {
    let Ok(namespace) = NamespaceDescriptor::from_bytes(bytes) else { return };
    let again = NamespaceDescriptor::from_bytes(&namespace.to_bytes());
    assert_eq!(again.ok().map(|n| n.to_bytes()), Some(namespace.to_bytes()));
    let _ = namespace.to_string();
}

fn region_name(bytes: &[u8]) {
    let encoded = region_info::encoded_name(bytes);
    assert!(!encoded.is_empty());
    if let Some(parts) = region_info::parse_region_name(bytes) {
        assert!(bytes.starts_with(parts.table));
        let _ = TableName::parse_bytes(parts.table).map(|t| t.with_namespace());
    }
}

fn meta(bytes: &[u8]) {
    let Ok(cells) = CellBuf::from_block(bytes.to_vec(), true) else { return };
    cells.iter().for_each(|cell| look_at(&cell));
    if let Ok(meta_row::MetaRow::Region(region)) = meta_row::decode(cells.iter()) {
        let _ = (region.open_seq_num, region.replicas, region.info.encoded_name().len());
    }
}

fn reference(bytes: &[u8]) {
    let Ok(reference) = Reference::decode(Path::new("/f"), bytes) else { return };
    assert_eq!(Reference::decode(Path::new("/f"), &reference.encode()).ok(), Some(reference.clone()));
    let _ = reference.half.split_row();
}

fn table_state(bytes: &[u8]) {
    if let Ok(state) = TableState::from_bytes(bytes) {
        assert_eq!(TableState::from_bytes(&state.to_bytes()).ok(), Some(state));
    }
    let _ = RegionState::from_name(bytes).map(|state| assert_eq!(RegionState::from_code(state.code()), Some(state)));
}

fn server_name(text: &str) {
    for name in [ServerName::parse(text), ServerName::parse_address(text, 5)].into_iter().flatten() {
        assert_eq!(ServerName::parse(&name.to_string()).ok(), Some(name.clone()), "{text}");
        let _ = (name.address(), name.to_proto());
    }
}

fn table_names(text: &str) {
    let _ = (table_name::check_namespace(text).is_ok(), table_name::check_snapshot_name(text).is_ok());
    let _ = family::check_family_name(text.as_bytes()).is_ok();
    if let Ok(table) = TableName::parse(text) {
        assert_eq!(TableName::parse(&table.with_namespace()).ok(), Some(table.clone()));
        assert_eq!(TableName::from_proto(&table.to_proto()).ok(), Some(table));
    }
    if let Some(spec) = CoprocessorSpec::parse(text) {
        assert!(CoprocessorSpec::parse(&spec.to_text()).is_some(), "{text}");
    }
    let _ = coprocessor::is_coprocessor_key(text.as_bytes());
}

fn file_names(text: &str) {
    let _ = (name::is_hfile(text), name::bulk_load_seq_id(text), files::parse_table_info_name(text));
    let _ = layout::is_region_dir_name(text);
    if let Some(name::StoreFileName::Link(link)) = name::StoreFileName::parse(text) {
        assert_eq!(link.locations(Path::new("/hbase"), "f").len(), 4);
    }
}

fn parent() -> RegionInfo {
    let table = TableName::new("ns", "table").unwrap_or_else(|_| TableName::meta());
    RegionInfo::new(table, &b"a,b"[..], &b"m"[..], 1_700_000_000_000)
}

fn meta_cells() -> Vec<u8> {
    let (region, server) = (parent(), ServerName::new("host", 16020, 1_700_000_000_000));
    let edit = MetaEdit::region(&region, 5)
        .region_info(&region)
        .state(RegionState::Open, 0)
        .location(&server, 7, 0)
        .location(&server, 8, 1)
        .target(&server, 0)
        .daughters(&region, &region)
        .merge_parents(&[RegionInfo::meta(), region.clone()]);
    let mut cells = edit.cells().to_vec();
    cells.sort_by(|a, b| martite_cell::Order::Meta.cells(&a.as_ref(), &b.as_ref()));
    block(cells.iter().map(|cell| cell.as_ref()))
}

fn block<'a>(cells: impl Iterator<Item = CellRef<'a>>) -> Vec<u8> {
    let mut buf = CellBuf::new(true);
    cells.for_each(|cell| buf.push(&cell));
    buf.into_bytes()
}

fn seeds() -> Vec<Vec<u8>> {
    let family = FamilyDescriptor::new("f")
        .with("VERSIONS", "3")
        .with("TTL", "86400")
        .with("BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH")
        .with("COMPRESSION", "SNAPPY")
        .with("DATA_BLOCK_ENCODING", "FAST_DIFF");
    let table = TableDescriptor::new(TableName::meta())
        .with_family(family)
        .with("MAX_FILESIZE", "10737418240")
        .with("coprocessor$1", "hdfs:///a.jar|com.example.Observer|1001|k=v");
    let table_state = meta_row_state();
    let namespaces = NamespaceDescriptor::reserved().map(|n| n.to_bytes());
    let seed = |what: u8, bytes: &[u8]| [&[what], bytes].concat();
    vec![
        seed(0, &parent().to_bytes()),
        seed(0, &parent().to_delimited_bytes()),
        seed(0, &RegionInfo::meta().to_bytes()),
        seed(1, &table.to_bytes()),
        seed(1, &martite_catalog::system::meta_table().to_bytes()),
        seed(2, &namespaces[0]),
        seed(3, parent().name()),
        seed(3, b"hbase:meta,,1"),
        seed(3, b"t,start,1700000000000_0001.0123456789abcdef0123456789abcdef."),
        seed(4, &meta_cells()),
        seed(4, &table_state),
        seed(5, &Reference::at_row(b"n", true).encode()),
        seed(5, &legacy_reference()),
        seed(6, &TableState::Enabled.to_bytes()),
        seed(6, b"SPLITTING_NEW"),
        seed(7, b"host.example,16020,1700000000000"),
        seed(7, b"host.example:16020"),
        seed(8, b"ns:table"),
        seed(8, b"hdfs:///a.jar|com.example.Observer|1001|k=v,l=w"),
        seed(9, b"0123456789abcdef_SeqId_42_.fedcba"),
        seed(9, b"ns=t=5d41402abc-9c2be1.77aa03"),
        seed(9, b".tableinfo.0000000001.537"),
    ]
}

fn meta_row_state() -> Vec<u8> {
    let edit = MetaEdit::table_state(&TableName::namespace_table(), TableState::Disabled, 5);
    block(edit.cells().iter().map(|cell| cell.as_ref()))
}

fn legacy_reference() -> Vec<u8> {
    let key = martite_cell::key::first_on_row(b"n");
    [&[1, key.len() as u8], &key[..]].concat()
}

fn names() -> Vec<Vec<u8>> {
    let mut names =
        words(&["PBUF", "hbase:meta", "default", "OPEN", "SPLIT", "regioninfo", "server", "serverstartcode"]);
    names.extend(words(&[
        "sn",
        "state",
        "seqnumDuringOpen",
        "splitA",
        "splitB",
        "merge0000",
        "_0001",
        ",",
        ".",
        "=",
        "|",
    ]));
    names.extend(words(&["VERSIONS", "TTL", "FOREVER", "BLOOMFILTER", "KEEP_DELETED_CELLS", "BLOCKSIZE", "_SeqId_"]));
    names.push(pb::PBUF_MAGIC.to_vec());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_accepted() {
        for seed in seeds() {
            let (what, bytes) = (seed[0], &seed[1..]);
            let text = String::from_utf8_lossy(bytes);
            let sound = match what {
                0 => RegionInfo::from_bytes(bytes).is_ok() || RegionInfo::from_delimited_bytes(bytes).is_ok(),
                1 => TableDescriptor::from_bytes(bytes).is_ok(),
                2 => NamespaceDescriptor::from_bytes(bytes).is_ok(),
                3 => region_info::parse_region_name(bytes).is_some(),
                4 => !matches!(
                    meta_row::decode(CellBuf::from_block(bytes.to_vec(), true).expect("cells").iter()),
                    Ok(meta_row::MetaRow::Other) | Err(_)
                ),
                5 => Reference::decode(Path::new("/f"), bytes).is_ok(),
                6 => TableState::from_bytes(bytes).is_ok() || RegionState::from_name(bytes).is_some(),
                7 => ServerName::parse(&text).is_ok() || ServerName::parse_address(&text, 5).is_ok(),
                8 => TableName::parse(&text).is_ok() || CoprocessorSpec::parse(&text).is_some(),
                _ => name::StoreFileName::parse(&text).is_some() || files::parse_table_info_name(&text).is_some(),
            };
            assert!(sound, "{what} {}", bytes.escape_ascii());
        }
    }
}
