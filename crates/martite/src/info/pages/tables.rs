//! Tables: their descriptors, and the regions of one.

use super::regions::{compaction, key, path};
use super::{Answer, attributes, name, part};
use crate::info::Shown;
use martite_catalog::{TableName, TableState};
use martite_master::{RegionOverview, TableOverview};
use martite_region::{Load, Region};
use martite_web::view::{Body, Cell, Table, Tone, View};
use martite_web::{Asked, Refused, encode};
use std::collections::HashMap;
use std::sync::Arc;

/// The page of all tables, with their descriptors.
pub fn all(shown: &Shown, _: &Asked) -> Answer {
    let mut view = View::new("Tables", "Descriptors");
    let mut table = Table::new("There is no table.", &["Table", "State", "Attributes", "Families"]);
    for one in shown.master.tables() {
        let schema = one.descriptor.to_proto();
        let families: Vec<String> = one.descriptor.families().map(|family| family.name_string()).collect();
        table.rows.push(vec![
            to_table(one.descriptor.name()),
            state(one.state),
            attributes(&schema.attributes, &schema.configuration),
            Cell::Code(families.join(", ")),
        ]);
    }
    view.add("All tables", Body::Table(table));
    Ok(view)
}

/// The page of one table.
pub fn one(shown: &Shown, asked: &Asked) -> Answer {
    let given = name(asked)?;
    let absent = || Refused::Absent(format!("{given}: there is no such table"));
    let table = TableName::parse(given).map_err(|e| Refused::Wrong(e.to_string()))?;
    let table = shown.master.table(&table).ok_or_else(absent)?;
    let mut view = View::new(format!("Table {given}"), "");
    let schema = table.descriptor.to_proto();
    let served = served(shown);
    let sum = Sum::of(&table, &served);
    view.add(
        "Table",
        Body::Facts(vec![
            ("State", state(table.state)),
            ("Regions", Cell::Count(sum.regions)),
            ("Size", Cell::Bytes(sum.size_bytes)),
            ("Store files", Cell::Count(sum.files)),
            ("Memstores", Cell::Bytes(sum.memstore_bytes)),
            ("Reads", Cell::Count(sum.reads)),
            ("Writes", Cell::Count(sum.writes)),
            ("Attributes", attributes(&schema.attributes, &schema.configuration)),
        ]),
    );
    let mut families = Table::new("", &["Family", "Attributes"]);
    families.rows = schema
        .column_families
        .iter()
        .map(|f| vec![Cell::code(String::from_utf8_lossy(&f.name)), attributes(&f.attributes, &f.configuration)])
        .collect();
    view.add("Families", Body::Table(families));
    let (some, note) = part(&table.regions, asked)?;
    view.add_noted("Regions", note, Body::Table(regions(shown, some, &served)));
    Ok(view)
}

fn regions(shown: &Shown, some: &[RegionOverview], served: &Served) -> Table {
    let columns =
        ["Region", "State", "Start key", "End key", "Reads", "Writes", "Files", "Size", "Memstore", "Compaction"];
    let mut table = Table::new("It has no region.", &columns);
    for region in some {
        let encoded = region.info.encoded_name();
        let load = served.get(encoded).map(|region| region.load());
        let of = |figure: fn(&Load) -> Cell| load.as_ref().map_or(Cell::None, figure);
        let url = shown.urls[1].as_ref().filter(|_| load.is_some());
        let name =
            url.map_or_else(|| Cell::code(encoded), |url| Cell::link(format!("{url}{}", path(encoded)), encoded));
        let is_open = region.state == martite_catalog::RegionState::Open;
        let tone = if is_open || !region.is_live { Tone::Good } else { Tone::Busy };
        table.rows.push(vec![
            name,
            Cell::Tone(tone, region.state.name().to_owned()),
            key(region.info.start_key()),
            key(region.info.end_key()),
            of(|load| Cell::Count(load.read_requests)),
            of(|load| Cell::Count(load.write_requests)),
            of(|load| Cell::Count(load.files)),
            of(|load| Cell::Bytes(load.file_size_bytes)),
            of(|load| Cell::Bytes(load.memstore_data_bytes)),
            of(compaction),
        ]);
    }
    table
}

/// Regions that are open here, by their encoded names.
pub type Served = HashMap<String, Arc<Region>>;

pub fn served(shown: &Shown) -> Served {
    shown.regions.online.all().into_iter().map(|region| (region.info().encoded_name().to_owned(), region)).collect()
}

/// What a table's regions have together.
#[derive(Default)]
pub struct Sum {
    /// Those that were split or merged not counted.
    pub regions: u64,
    pub open: u64,
    pub files: u64,
    pub size_bytes: u64,
    pub memstore_bytes: u64,
    pub reads: u64,
    pub writes: u64,
}

impl Sum {
    pub fn of(table: &TableOverview, served: &Served) -> Sum {
        let mut sum = Sum::default();
        for region in table.regions.iter().filter(|region| region.is_live) {
            sum.regions += 1;
            let Some(load) = served.get(region.info.encoded_name()).map(|region| region.load()) else { continue };
            sum.open += 1;
            sum.files += load.files;
            sum.size_bytes += load.file_size_bytes;
            sum.memstore_bytes += load.memstore_data_bytes;
            sum.reads += load.read_requests;
            sum.writes += load.write_requests;
        }
        sum
    }
}

pub fn state(state: TableState) -> Cell {
    let tone = if state == TableState::Enabled { Tone::Good } else { Tone::Busy };
    Cell::Tone(tone, state.name().to_owned())
}

pub fn to_table(name: &TableName) -> Cell {
    Cell::link(format!("/table.jsp?name={}", encode(name.as_str())), name.as_str())
}
