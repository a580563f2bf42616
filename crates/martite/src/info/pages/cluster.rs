//! The cluster at a glance: its server, its tables.

use super::Answer;
use super::tables::{Served, Sum, served, state, to_table};
use crate::info::Shown;
use martite_master::TableOverview;
use martite_web::Asked;
use martite_web::view::{Body, Cell, Table, Tone, View};

pub fn page(shown: &Shown, _: &Asked) -> Answer {
    let master = &shown.master;
    let mut view = View::new("Cluster", format!("Master {}", master.server_name()));
    let (served, tables) = (served(shown), master.tables());
    let (system, of_users): (Vec<_>, Vec<_>) = tables.iter().partition(|table| table.descriptor.name().is_system());
    view.add("Region servers", Body::Table(servers(shown, &served)));
    view.add("Calls", Body::Plots(shown.sampler.of_calls()));
    view.add("Tables", Body::Table(table_of(&of_users, &served, "There is no table yet.")));
    view.add("System tables", Body::Table(table_of(&system, &served, "")));
    let mut namespaces = Table::new("", &["Namespace", "Tables", "Settings"]);
    for namespace in master.namespaces() {
        let count = tables.iter().filter(|table| table.descriptor.name().namespace() == namespace.name()).count();
        let settings = super::attributes(&[], &namespace.to_proto().configuration);
        namespaces.rows.push(vec![Cell::text(namespace.name()), Cell::Count(count as u64), settings]);
    }
    view.add("Namespaces", Body::Table(namespaces));
    let switch = |(name, on): (&'static str, bool)| {
        let (tone, text) = if on { (Tone::Good, "on") } else { (Tone::Busy, "off") };
        (name, Cell::Tone(tone, text.to_owned()))
    };
    view.add("Switches", Body::Facts(master.switches().into_iter().map(switch).collect()));
    view.add(
        "Software",
        Body::Facts(vec![
            ("Martite", Cell::text(env!("CARGO_PKG_VERSION"))),
            ("HBase version told to clients", Cell::text(crate::start::HBASE_VERSION)),
            ("Started", Cell::Moment(master.server_name().start_code.unsigned_abs())),
            ("Cluster id", Cell::code(master.cluster_id())),
            ("ZooKeeper, for clients", Cell::code(&shown.zookeeper)),
            ("Root directory", Cell::code(shown.regions.ctx.root.display().to_string())),
        ]),
    );
    Ok(view)
}

fn servers(shown: &Shown, served: &Served) -> Table {
    let columns =
        ["Server", "Started", "Calls a second", "Regions", "Store files", "Size", "Memstores", "Memory, of its budget"];
    let mut table = Table::new("", &columns);
    let name = shown.regions.name.to_string();
    let (mut files, mut size, mut memstores) = (0, 0, 0);
    for load in served.values().map(|region| region.load()) {
        files += load.files;
        size += load.file_size_bytes;
        memstores += load.memstore_data_bytes;
    }
    let last = |series: &str| shown.sampler.last(series);
    table.rows.push(vec![
        match &shown.urls[1] {
            Some(url) => Cell::link(url, name),
            None => Cell::text(name),
        },
        Cell::Moment(shown.regions.name.start_code.unsigned_abs()),
        last("requests").map_or(Cell::None, Cell::Number),
        Cell::Count(served.len() as u64),
        Cell::Count(files),
        Cell::Bytes(size),
        Cell::Bytes(memstores),
        last("memory").map_or(Cell::None, |bytes| Cell::Share(bytes, shown.memory.budget as f64)),
    ]);
    table
}

fn table_of(tables: &[&TableOverview], served: &Served, empty: &'static str) -> Table {
    let columns = [
        "Namespace",
        "Table",
        "State",
        "Regions",
        "Open",
        "Store files",
        "Size",
        "Memstores",
        "Reads",
        "Writes",
        "Families",
    ];
    let mut table = Table::new(empty, &columns);
    for one in tables {
        let (name, sum) = (one.descriptor.name(), Sum::of(one, served));
        let families: Vec<String> = one.descriptor.families().map(|family| family.name_string()).collect();
        table.rows.push(vec![
            Cell::text(name.namespace()),
            to_table(name),
            state(one.state),
            Cell::Count(sum.regions),
            Cell::Count(sum.open),
            Cell::Count(sum.files),
            Cell::Bytes(sum.size_bytes),
            Cell::Bytes(sum.memstore_bytes),
            Cell::Count(sum.reads),
            Cell::Count(sum.writes),
            Cell::Code(families.join(", ")),
        ]);
    }
    table
}
