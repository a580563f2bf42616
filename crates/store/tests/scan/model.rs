//! The rules of visibility said once more, over a sorted list: no streaming, no seeking, nothing clever.

use super::{is_past_stop, text};
use martite_cell::{CellRef, CellType, Order, OwnedCell, tags};
use martite_store::{FamilyOptions, KeepDeleted, StoreScan};
use std::collections::BTreeMap;

pub struct Model<'a> {
    pub family: &'a FamilyOptions,
    pub scan: &'a StoreScan,
    /// With a ValueFilter: the value that passes.
    pub value: Option<&'a str>,
}

impl Model<'_> {
    pub fn read(&self, cells: &[OwnedCell]) -> Vec<String> {
        let mut visible: Vec<CellRef<'_>> =
            cells.iter().map(|c| c.as_ref()).filter(|c| c.seq_id <= self.scan.read_point).collect();
        visible.sort_by(|a, b| Order::Default.cells(a, b));
        visible.dedup_by(|b, a| a.key == b.key && a.seq_id == b.seq_id);
        let mut rows: BTreeMap<&[u8], Vec<CellRef<'_>>> = BTreeMap::new();
        for cell in visible {
            rows.entry(cell.row()).or_default().push(cell);
        }
        let rows = rows.into_iter().filter(|(row, _)| self.holds_row(row));
        let rows: Vec<_> = if self.scan.reversed { rows.rev().collect() } else { rows.collect() };
        rows.iter().flat_map(|(_, cells)| self.row(cells)).map(|c| text(&c)).collect()
    }

    fn holds_row(&self, row: &[u8]) -> bool {
        let start = &self.scan.start_row[..];
        let after_start = match row.cmp(start) {
            _ if start.is_empty() => true,
            std::cmp::Ordering::Less => self.scan.reversed,
            std::cmp::Ordering::Equal => self.scan.include_start,
            std::cmp::Ordering::Greater => !self.scan.reversed,
        };
        after_start && !is_past_stop(row, self.scan)
    }

    fn oldest(&self) -> u64 {
        if self.scan.raw { 0 } else { self.family.ttl_ms.map_or(0, |ttl| self.scan.now_ms - ttl) }
    }

    fn row<'c>(&self, cells: &[CellRef<'c>]) -> Vec<CellRef<'c>> {
        let mut out = Vec::new();
        for column in cells.chunk_by(|a, b| a.qualifier() == b.qualifier()) {
            let wanted = self.scan.columns.as_ref().is_none_or(|c| c.iter().any(|q| q == column[0].qualifier()));
            if wanted {
                out.extend(self.column(column, cells));
            }
        }
        let offset = self.scan.store_offset as usize;
        let limit = usize::try_from(self.scan.store_limit).unwrap_or(usize::MAX);
        out.into_iter().skip(offset).take(limit).collect()
    }

    fn column<'c>(&self, column: &[CellRef<'c>], row: &[CellRef<'c>]) -> Vec<CellRef<'c>> {
        let result_max = match self.scan.raw {
            true => self.scan.max_versions,
            false => self.scan.max_versions.min(self.family.max_versions),
        } as usize;
        if self.scan.raw {
            return self.raw_column(column, result_max);
        }
        let by_sequence = self.family.new_version_behavior;
        let puts = if by_sequence { self.new_version(column, row) } else { self.not_deleted(column, row) };
        let puts = puts.into_iter().filter(|c| self.scan.time_range.contains(c.timestamp()));
        // By sequence id, the filter sees what the reader may see; otherwise all that the family keeps.
        let max = if self.value.is_none() || by_sequence { result_max } else { self.family.max_versions as usize };
        let kept = self.versions(puts, max);
        kept.into_iter().filter(|c| self.value.is_none_or(|v| c.value == v.as_bytes())).take(result_max).collect()
    }

    /// Versions by number and age.
    fn versions<'c>(&self, puts: impl Iterator<Item = CellRef<'c>>, max: usize) -> Vec<CellRef<'c>> {
        let (min, oldest) = (self.family.min_versions as usize, self.oldest());
        let mut kept: Vec<CellRef<'c>> = Vec::new();
        for put in puts {
            if kept.last().is_some_and(|last| last.timestamp() == put.timestamp()) {
                continue;
            }
            let count = kept.len() + 1;
            let expired = put.timestamp() < oldest;
            // HBase: a named column takes one expired version more when the minimum is there already.
            let explicit = self.scan.columns.is_some() && !self.family.new_version_behavior;
            if count > max || (expired && count > min && !(explicit && min > 0)) {
                break;
            }
            kept.push(put);
            if expired && count >= min {
                break;
            }
        }
        kept
    }

    fn raw_column<'c>(&self, column: &[CellRef<'c>], max: usize) -> Vec<CellRef<'c>> {
        let mut out: Vec<CellRef<'c>> = Vec::new();
        let mut puts = 0;
        for cell in column.iter().filter(|c| self.lives(c) && self.scan.time_range.contains(c.timestamp())) {
            if out.last().is_some_and(|last| last.key == cell.key) {
                continue;
            }
            puts += usize::from(!cell.is_delete());
            if puts > max {
                break;
            }
            out.push(*cell);
        }
        match self.value {
            None => out,
            Some(value) => out.into_iter().filter(|c| c.value == value.as_bytes()).collect(),
        }
    }

    fn lives(&self, cell: &CellRef<'_>) -> bool {
        tags::ttl_ms(cell.tags).is_none_or(|ttl| cell.timestamp() + ttl >= self.scan.now_ms)
    }

    fn markers<'c>(&self, row: &[CellRef<'c>]) -> Vec<CellRef<'c>> {
        let range = self.scan.time_range;
        let effective = |c: &&CellRef<'c>| match self.family.keep_deleted {
            KeepDeleted::False => c.timestamp() >= range.min,
            _ => range.contains(c.timestamp()),
        };
        row.iter().filter(|c| c.is_delete() && self.lives(c)).filter(effective).copied().collect()
    }

    fn not_deleted<'c>(&self, column: &[CellRef<'c>], row: &[CellRef<'c>]) -> Vec<CellRef<'c>> {
        let markers = self.markers(row);
        let is_hidden = |put: &CellRef<'_>| markers.iter().any(|m| covers(m, put));
        column.iter().filter(|c| !c.is_delete() && self.lives(c) && !is_hidden(c)).copied().collect()
    }

    /// Plays the writes of a column in the order of their sequence ids; versions are counted whenever a marker comes.
    fn new_version<'c>(&self, column: &[CellRef<'c>], row: &[CellRef<'c>]) -> Vec<CellRef<'c>> {
        let max = self.family.max_versions as usize;
        let qualifier = column[0].qualifier();
        let of_column = |m: &CellRef<'_>| {
            m.qualifier() == qualifier
                || m.type_code() == CellType::DeleteFamily as u8
                || m.type_code() == CellType::DeleteFamilyVersion as u8
        };
        let mut events = self.markers(row);
        events.retain(of_column);
        events.extend(column.iter().filter(|c| !c.is_delete() && self.lives(c)));
        events.sort_by_key(|c| (c.seq_id, c.is_delete()));
        let mut live: Vec<CellRef<'c>> = Vec::new();
        for event in events {
            if event.is_delete() {
                live.truncate(max);
                live.retain(|put| !covers(&event, put));
            } else {
                live.retain(|put| put.timestamp() != event.timestamp());
                live.push(event);
                live.sort_by_key(|put| std::cmp::Reverse(put.timestamp()));
            }
        }
        live.truncate(max);
        live
    }
}

/// Whether a marker of the same row hides a put, by time.
fn covers(marker: &CellRef<'_>, put: &CellRef<'_>) -> bool {
    let same_column = marker.qualifier() == put.qualifier();
    let (at, older) = (put.timestamp() == marker.timestamp(), put.timestamp() <= marker.timestamp());
    match CellType::from_code(marker.type_code()) {
        Some(CellType::DeleteFamily) => older,
        Some(CellType::DeleteFamilyVersion) => at,
        Some(CellType::DeleteColumn) => same_column && older,
        Some(CellType::Delete) => same_column && at,
        _ => false,
    }
}
