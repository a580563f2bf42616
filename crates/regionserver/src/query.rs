//! `Get` and `Scan` messages → what the region is asked.

use crate::error::Fault;
use crate::fields::{Fields, Malformed, Value};
use crate::keep;
use crate::mutation::{attribute, time_range};
use bytes::Bytes;
use martite_cell::{TimeRange, key};
use martite_proto as pb;
use martite_region::{FamilyColumns, GetSpec, Region, ScanSpec};
use pb::Message;
use std::cell::RefCell;
use std::sync::Arc;

/// Attribute of a Scan: return delete markers and what they cover; a boolean.
const RAW_ATTRIBUTE: &str = "_raw_";
/// Attribute of a query: 1 is READ_UNCOMMITTED.
const ISOLATION_ATTRIBUTE: &str = "_isolationlevel_";

/// A Get's row, which stands first in all messages that are written in the order of their fields, and what follows it.
pub fn row_and_rest(get: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut fields = Fields::new(get);
    match fields.next() {
        Ok(Some((1, Value::Bytes(row)))) if !row.is_empty() => Some((row, fields.rest())),
        _ => None,
    }
}

/// What a Get has behind its row is remembered up to this size.
const MOST_REMEMBERED: usize = 256;

/// A Get: of which row, and what of it, which mostly many have in common.
#[derive(Debug, Clone)]
pub struct RowGet {
    pub row: Bytes,
    /// Without a row.
    pub like: Arc<GetSpec>,
    /// Nothing of that lies in the frame that brought it.
    is_kept: bool,
}

impl From<GetSpec> for RowGet {
    fn from(mut get: GetSpec) -> RowGet {
        RowGet { row: std::mem::take(&mut get.row), like: Arc::new(get), is_kept: false }
    }
}

impl RowGet {
    /// Whether the two differ in their rows only.
    pub fn is_like(&self, other: &RowGet) -> bool {
        Arc::ptr_eq(&self.like, &other.like) || self.like.is_like(&other.like)
    }

    /// It is to wait: nothing of it lies in the frame that brought it any more.
    pub fn keep(&mut self) {
        self.keep_with(Bytes::copy_from_slice(&self.row));
    }

    /// The same, where `row` is a copy of its row.
    pub fn keep_with(&mut self, row: Bytes) {
        self.row = row;
        if !std::mem::replace(&mut self.is_kept, true) {
            keep::get(Arc::make_mut(&mut self.like));
        }
    }
}

/// A Get that was read.
#[derive(Default)]
struct Last {
    /// What it had behind its row.
    rest: Vec<u8>,
    /// What that means; of no row.
    like: Option<Arc<GetSpec>>,
}

thread_local! {
    /// The last one of this thread. Clients mostly ask for the same of many rows.
    static LAST: RefCell<Last> = RefCell::default();
}

impl Last {
    fn get(&self, rest: &[u8], row: Bytes) -> Option<RowGet> {
        let like = self.like.as_ref().filter(|_| self.rest == rest)?;
        Some(RowGet { row, like: like.clone(), is_kept: true })
    }

    /// The same Get, of which only the row lies in its frame.
    fn remember(&mut self, rest: &[u8], mut get: GetSpec) -> RowGet {
        let row = std::mem::take(&mut get.row);
        keep::get(&mut get);
        self.rest.clear();
        self.rest.extend_from_slice(rest);
        RowGet { row, like: self.like.insert(Arc::new(get)).clone(), is_kept: true }
    }
}

/// The Get that lies in `bytes`, a part of `frame`.
pub fn decode_get(bytes: &[u8], frame: &Bytes, region: &Region) -> Result<RowGet, Fault> {
    match remembered_get(bytes, frame) {
        Ok(Some(get)) => {
            check_row(&get.row)?;
            get.like.families.iter().try_for_each(|f| check_family(&f.family, region))?;
            Ok(get)
        }
        Ok(None) | Err(Malformed) => {
            let proto = pb::Get::decode(frame.slice_ref(bytes)).map_err(|e| Fault::bad_message("Get", e))?;
            get(&proto, region).map(RowGet::from)
        }
    }
}

/// [`plain_get`], or the last one for another row.
fn remembered_get(bytes: &[u8], frame: &Bytes) -> Result<Option<RowGet>, Malformed> {
    let Some((row, rest)) = row_and_rest(bytes).filter(|(_, rest)| rest.len() <= MOST_REMEMBERED) else {
        return Ok(plain_get(bytes, frame)?.map(RowGet::from));
    };
    LAST.with_borrow_mut(|last| {
        if let Some(get) = last.get(rest, frame.slice_ref(row)) {
            return Ok(Some(get));
        }
        let plain = plain_get(bytes, frame)?;
        // Of a row that comes twice the last one counts.
        match plain {
            Some(get) if get.row == row => Ok(Some(last.remember(rest, get))),
            plain => Ok(plain.map(RowGet::from)),
        }
    })
}

/// A Get of a row and columns, read where it lies. None: it has more to it than that.
fn plain_get(bytes: &[u8], frame: &Bytes) -> Result<Option<GetSpec>, Malformed> {
    let mut spec = GetSpec::new(Bytes::new());
    let mut families = Vec::new();
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(row)) => spec.row = frame.slice_ref(row),
            (2, Value::Bytes(column)) => families.push(plain_column(column, frame)?),
            (5, Value::Bytes(range)) => spec.time_range = plain_time_range(range)?,
            (6, Value::Number(versions)) => spec.max_versions = versions as u32,
            (7, Value::Number(cache)) => spec.cache_blocks = cache != 0,
            (8, Value::Number(limit)) => spec.store_limit = limit as u32 as i32,
            (9, Value::Number(offset)) => spec.store_offset = offset as u32,
            (10, Value::Number(only)) => spec.exists_only = only != 0,
            // How replicas are read, and hints for metrics: no concern of a row's only server.
            (12 | 14 | 15, Value::Number(_)) => {}
            _ => return Ok(None),
        }
    }
    spec.families = families.into();
    Ok((!spec.row.is_empty()).then_some(spec))
}

fn plain_time_range(bytes: &[u8]) -> Result<TimeRange, Malformed> {
    let mut proto = pb::TimeRange::default();
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(from)) => proto.from = Some(from),
            (2, Value::Number(to)) => proto.to = Some(to),
            _ => {}
        }
    }
    Ok(time_range(Some(&proto)))
}

fn plain_column(bytes: &[u8], frame: &Bytes) -> Result<FamilyColumns, Malformed> {
    let (mut of, mut columns) = (Bytes::new(), Vec::new());
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(family)) => of = frame.slice_ref(family),
            (2, Value::Bytes(qualifier)) => columns.push(frame.slice_ref(qualifier)),
            _ => {}
        }
    }
    Ok(FamilyColumns { columns: columns.into(), ..FamilyColumns::whole(of) })
}

pub fn get(proto: &pb::Get, region: &Region) -> Result<GetSpec, Fault> {
    if proto.closest_row_before == Some(true) {
        // asynchbase asks this first; the exception tells it to look regions up by reversed scans.
        return Err(Fault::unknown_protocol(
            "getClosestRowBefore was removed in HBase 2.0; use a reversed scan of hbase:meta",
        ));
    }
    if proto.row.is_empty() && proto.column.is_empty() && proto.filter.is_none() {
        return Err(Fault::illegal_argument("Row buffer is null or empty"));
    }
    check_row(&proto.row)?;
    check_filter(proto.filter.as_ref())?;
    Ok(GetSpec {
        row: proto.row.clone(),
        families: families(&proto.column, &proto.cf_time_range, region)?.into(),
        max_versions: proto.max_versions.unwrap_or(1),
        time_range: time_range(proto.time_range.as_ref()),
        filter: proto.filter.clone(),
        store_limit: proto.store_limit.map_or(-1, |n| n as i32),
        store_offset: proto.store_offset.unwrap_or(0),
        cache_blocks: proto.cache_blocks.unwrap_or(true),
        exists_only: proto.existence_only.unwrap_or(false),
        read_point: uncommitted(&proto.attribute),
        load_on_demand: true,
    })
}

pub fn scan(proto: &pb::Scan, region: &Region) -> Result<ScanSpec, Fault> {
    let start_row = proto.start_row.clone().unwrap_or_default();
    let stop_row = proto.stop_row.clone().unwrap_or_default();
    check_row(&start_row)?;
    check_row(&stop_row)?;
    check_filter(proto.filter.as_ref())?;
    let raw = attribute(&proto.attribute, RAW_ATTRIBUTE).is_some_and(|v| v.first().is_some_and(|b| *b != 0));
    let include_start = proto.include_start_row.unwrap_or(true);
    let include_stop = includes_stop(proto);
    Ok(ScanSpec {
        families: families(&proto.column, &proto.cf_time_range, region)?,
        start_row,
        include_start,
        stop_row,
        include_stop,
        reversed: proto.reversed.unwrap_or(false),
        max_versions: proto.max_versions.unwrap_or(1),
        time_range: time_range(proto.time_range.as_ref()),
        filter: proto.filter.clone(),
        raw,
        store_limit: proto.store_limit.map_or(-1, |n| n as i32),
        store_offset: proto.store_offset.unwrap_or(0),
        cache_blocks: proto.cache_blocks.unwrap_or(true),
        load_on_demand: proto.load_column_families_on_demand.unwrap_or(true),
        read_point: uncommitted(&proto.attribute).or(proto.mvcc_read_point.filter(|p| *p > 0)),
    })
}

/// Whether the stop row is part of the scan. Clients before 2.0 do not say it; for them a scan from a row to itself is a
/// Get.
fn includes_stop(proto: &pb::Scan) -> bool {
    let row = proto.start_row.as_deref().unwrap_or_default();
    proto.include_stop_row.unwrap_or(!row.is_empty() && proto.stop_row.as_deref() == Some(row))
}

pub(crate) fn check_row(row: &[u8]) -> Result<(), Fault> {
    if row.len() > key::MAX_ROW_LENGTH {
        return Err(Fault::illegal_argument(format!("Row length {} is > {}", row.len(), key::MAX_ROW_LENGTH)));
    }
    Ok(())
}

fn check_family(family: &[u8], region: &Region) -> Result<(), Fault> {
    match region.store(family) {
        Some(_) => Ok(()),
        None => Err(Fault::no_such_family(format!(
            "Column family {} does not exist in region {} in table {:?}",
            martite_catalog::to_string_binary(family),
            region.info().name_string(),
            region.table().name().as_str()
        ))),
    }
}

/// A filter that cannot be read is refused before the scan is opened.
fn check_filter(filter: Option<&pb::Filter>) -> Result<(), Fault> {
    if let Some(filter) = filter {
        martite_filter::Filter::decode(filter)?;
    }
    Ok(())
}

fn uncommitted(attributes: &[pb::NameBytesPair]) -> Option<u64> {
    let level = attribute(attributes, ISOLATION_ATTRIBUTE)?;
    (level.first() == Some(&1)).then_some(u64::MAX)
}

fn families(
    columns: &[pb::Column],
    ranges: &[pb::ColumnFamilyTimeRange],
    region: &Region,
) -> Result<Vec<FamilyColumns>, Fault> {
    let range_of = |family: &Bytes| -> Option<TimeRange> {
        ranges.iter().find(|r| r.column_family == *family).map(|r| time_range(Some(&r.time_range)))
    };
    if columns.is_empty() {
        if ranges.is_empty() {
            return Ok(Vec::new());
        }
        return Ok(region
            .stores()
            .iter()
            .map(|(family, _)| FamilyColumns { time_range: range_of(family), ..FamilyColumns::whole(family.clone()) })
            .collect());
    }
    let mut out: Vec<FamilyColumns> = Vec::with_capacity(columns.len());
    for column in columns {
        check_family(&column.family, region)?;
        out.push(FamilyColumns {
            family: column.family.clone(),
            columns: column.qualifier[..].into(),
            time_range: range_of(&column.family),
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(get: &pb::Get) -> Option<GetSpec> {
        let frame = Bytes::from([b"frame:", &get.encode_to_vec()[..]].concat());
        plain_get(&frame[6..], &frame).unwrap()
    }

    #[test]
    fn a_get_of_columns_is_read_where_it_lies() {
        let column = |family: &'static str, qualifiers: &[&'static str]| pb::Column {
            family: family.into(),
            qualifier: qualifiers.iter().map(|q| (*q).into()).collect(),
        };
        let get = pb::Get {
            row: "row".into(),
            column: vec![column("f", &["a", "b"]), column("g", &[])],
            max_versions: Some(3),
            cache_blocks: Some(false),
            time_range: Some(pb::TimeRange { from: Some(5), to: None }),
            store_limit: Some(7),
            store_offset: Some(2),
            existence_only: Some(true),
            consistency: Some(pb::Consistency::Strong as i32),
            ..pb::Get::default()
        };
        let spec = plain(&get).unwrap();
        let families: Vec<_> = spec.families.iter().map(|f| (&f.family[..], f.columns.len())).collect();
        assert_eq!((&spec.row[..], families), (&b"row"[..], vec![(&b"f"[..], 2), (&b"g"[..], 0)]));
        let rest = (spec.max_versions, spec.cache_blocks, spec.store_limit, spec.store_offset, spec.exists_only);
        assert_eq!(rest, (3, false, 7, 2, true));
        assert_eq!(spec.time_range, TimeRange::new(5, TimeRange::ALL.max));
        assert_eq!(plain(&pb::Get { row: "r".into(), ..pb::Get::default() }).unwrap().store_limit, -1);
    }

    #[test]
    fn gets_that_wait_share_what_is_the_same_of_them_and_hold_no_frame() {
        let kept = |row: &'static str, family: &'static str| {
            let column = pb::Column { family: Bytes::from_static(family.as_bytes()), qualifier: vec!["q".into()] };
            let get = pb::Get { row: row.into(), column: vec![column], ..pb::Get::default() };
            let frame = Bytes::from(get.encode_to_vec());
            let mut spec = remembered_get(&frame, &frame).ok().flatten().unwrap();
            spec.keep();
            assert_eq!((&spec.row[..], &spec.like.families[0].family[..]), (row.as_bytes(), family.as_bytes()));
            assert!(frame.try_into_mut().is_ok(), "{spec:?} holds its frame");
            spec
        };
        let [first, second, other] = [kept("a", "f"), kept("b", "f"), kept("a", "g")];
        assert!(Arc::ptr_eq(&first.like, &second.like));
        assert!(!first.is_like(&other));
    }

    #[test]
    fn a_get_with_more_to_it_goes_the_general_way() {
        let get = pb::Get { row: "r".into(), ..pb::Get::default() };
        let odd = [
            pb::Get::default(),
            pb::Get { filter: Some(pb::Filter::default()), ..get.clone() },
            pb::Get { attribute: vec![pb::NameBytesPair::default()], ..get.clone() },
            pb::Get { closest_row_before: Some(true), ..get.clone() },
            pb::Get { cf_time_range: vec![pb::ColumnFamilyTimeRange::default()], ..get },
        ];
        assert!(odd.iter().all(|get| plain(get).is_none()));
    }

    #[test]
    fn a_scan_from_a_row_to_itself_is_empty_unless_the_client_is_too_old_to_say_so() {
        let scan = |start: &'static str, stop: &'static str, include_stop_row| {
            includes_stop(&pb::Scan {
                start_row: Some(start.into()),
                stop_row: Some(stop.into()),
                include_stop_row,
                ..pb::Scan::default()
            })
        };
        assert!(!scan("r", "r", Some(false)));
        assert!(scan("r", "r", Some(true)));
        assert!(scan("r", "r", None));
        assert!(!scan("r", "s", None));
        assert!(!scan("", "", None));
        assert!(!includes_stop(&pb::Scan::default()));
    }
}
