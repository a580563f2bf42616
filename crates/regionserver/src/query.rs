//! `Get` and `Scan` messages → what the region is asked.

use crate::error::Fault;
use crate::mutation::{attribute, time_range};
use bytes::Bytes;
use martite_cell::{TimeRange, key};
use martite_proto as pb;
use martite_region::{FamilyColumns, GetSpec, Region, ScanSpec};

/// Attribute of a Scan: return delete markers and what they cover; a boolean.
const RAW_ATTRIBUTE: &str = "_raw_";
/// Attribute of a query: 1 is READ_UNCOMMITTED.
const ISOLATION_ATTRIBUTE: &str = "_isolationlevel_";

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
        families: families(&proto.column, &proto.cf_time_range, region)?,
        max_versions: proto.max_versions.unwrap_or(1),
        time_range: time_range(proto.time_range.as_ref()),
        filter: proto.filter.clone(),
        store_limit: proto.store_limit.map_or(-1, |n| n as i32),
        store_offset: proto.store_offset.unwrap_or(0),
        cache_blocks: proto.cache_blocks.unwrap_or(true),
        exists_only: proto.existence_only.unwrap_or(false),
        read_point: uncommitted(&proto.attribute),
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

fn check_row(row: &[u8]) -> Result<(), Fault> {
    if row.len() > key::MAX_ROW_LENGTH {
        return Err(Fault::illegal_argument(format!("Row length {} is > {}", row.len(), key::MAX_ROW_LENGTH)));
    }
    Ok(())
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
        if region.store(&column.family).is_none() {
            return Err(Fault::no_such_family(format!(
                "Column family {} does not exist in region {} in table {:?}",
                martite_catalog::to_string_binary(&column.family),
                region.info().name_string(),
                region.table().name().as_str()
            )));
        }
        out.push(FamilyColumns {
            family: column.family.clone(),
            columns: column.qualifier.clone(),
            time_range: range_of(&column.family),
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

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
