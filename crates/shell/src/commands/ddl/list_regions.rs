//! `list_regions`: a table's regions with their servers, keys, sizes, requests, locality.

use crate::commands::{Arguments, Arity, Command, Options};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::{TableName, to_string_binary};
use martite_client::Location;
use martite_proto as pb;
use std::collections::HashMap;

pub const COMMAND: Command = Command {
    name: "list_regions",
    aliases: &[],
    summary: "the regions of a table, with their servers and sizes",
    help: "\
Lists the regions of a table: server, name, start and end key, size in MB, requests, locality. A second argument chooses
regions by the beginning of their server's name and by a locality that is not exceeded, a third one the columns.

  hbase> list_regions 't1'
  hbase> list_regions 't1', 'server1'
  hbase> list_regions 't1', {SERVER_NAME => 'server1', LOCALITY_THRESHOLD => 0.8}
  hbase> list_regions 't1', '', ['SERVER_NAME', 'START_KEY', 'END_KEY', 'SIZE', 'REQ', 'LOCALITY']
",
    arity: Arity::between(1, 3),
    run,
};

const COLUMNS: [(&str, usize); 7] = [
    ("SERVER_NAME", 12),
    ("REGION_NAME", 12),
    ("START_KEY", 10),
    ("END_KEY", 10),
    ("SIZE", 5),
    ("REQ", 5),
    ("LOCALITY", 10),
];
const NAMES: &str = "Possible values are SERVER_NAME, REGION_NAME, START_KEY, END_KEY, SIZE, REQ, LOCALITY.";

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let text = arguments.text(0);
    let name = TableName::parse(&text)?;
    let mut options = match arguments.get(1) {
        Some(Value::Hash(_)) => arguments.options(1)?,
        Some(server) => Options::of(&Value::hash(vec![(Value::text("SERVER_NAME"), server.clone())]))?,
        None => Options::default(),
    };
    let admin = session.admin()?;
    if !session.wait(async { admin.is_table_enabled(&name).await })? {
        return Err(Failure::runtime(format!("Table {text} must be enabled.")));
    }
    let mut columns = columns(arguments.get(2))?;
    let server = options.take_text("SERVER_NAME").unwrap_or_default();
    let threshold = match options.take_any("LOCALITY_THRESHOLD") {
        None => 1.0,
        Some(Value::Float(t)) if (0.0..=1.0).contains(&t) => t,
        Some(Value::Float(_)) => {
            return Err(Failure::runtime("LOCALITY_THRESHOLD must be between 0 and 1.0, inclusive"));
        }
        Some(_) => return Err(Failure::runtime("LOCALITY_THRESHOLD must be a float value")),
    };
    let table = session.table(&text)?;
    let status = session.wait(async { admin.cluster_status(&[]).await })?;
    let loads = loads(&status);
    let mut rows = Vec::new();
    for location in session.wait(async { table.locations().await })? {
        if !location.server.to_string().starts_with(&server) {
            continue;
        }
        let load = loads.get(&location.info.name()[..]).copied();
        match load {
            Some(load) if f64::from(load.data_locality()) > threshold => continue,
            Some(_) => {}
            None => session.print.puts(format!(
                "Can not find all details for region: {} , it may be disabled or in transition",
                location.info.name_string()
            )),
        }
        rows.push(columns.iter().map(|(column, _)| cell(column, &location, load)).collect::<Vec<_>>());
    }
    session.stop_clock();
    print(session, &mut columns, &rows);
    Ok(Value::Nil)
}

fn columns(value: Option<&Value>) -> Run<Vec<(&'static str, usize)>> {
    let wanted = match value {
        None => return Ok(COLUMNS.to_vec()),
        Some(Value::Array(items)) => items.borrow().iter().map(Value::to_text).collect::<Vec<_>>(),
        Some(other) => {
            return Err(Failure::runtime(format!("{} must be an array of strings. {NAMES}", other.to_text())));
        }
    };
    let find = |name: &String| COLUMNS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).copied();
    wanted
        .iter()
        .map(|name| find(name).ok_or_else(|| Failure::runtime(format!("{name} is not a valid column. {NAMES}"))))
        .collect()
}

/// What servers say of regions, by the region's name.
fn loads(status: &pb::ClusterStatus) -> HashMap<&[u8], &pb::RegionLoad> {
    let regions = status.live_servers.iter().flat_map(|server| &server.server_load.region_loads);
    regions.map(|load| (&load.region_specifier.value[..], load)).collect()
}

fn cell(column: &str, location: &Location, load: Option<&pb::RegionLoad>) -> String {
    let of_load = |text: &dyn Fn(&pb::RegionLoad) -> String| load.map(text).unwrap_or_default();
    match column {
        "SERVER_NAME" => location.server.to_string(),
        "REGION_NAME" => location.info.name_string(),
        "START_KEY" => to_string_binary(location.info.start_key()),
        "END_KEY" => to_string_binary(location.info.end_key()),
        "SIZE" => of_load(&|load| load.storefile_size_mb().to_string()),
        "REQ" => of_load(&|load| (load.read_requests_count() + load.write_requests_count()).to_string()),
        _ => of_load(&|load| Value::Float(f64::from(load.data_locality())).inspect()),
    }
}

fn print(session: &mut Session, columns: &mut [(&str, usize)], rows: &[Vec<String>]) {
    for (i, (_, width)) in columns.iter_mut().enumerate() {
        let longest = rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
        *width = longest.max(*width);
    }
    let mut line = |cells: &mut dyn Iterator<Item = (String, usize)>| {
        let text: String = cells.map(|(cell, width)| format!(" {cell:>width$} |")).collect();
        session.print.puts(text);
    };
    line(&mut columns.iter().map(|(name, width)| ((*name).to_owned(), *width)));
    line(&mut columns.iter().map(|(_, width)| ("-".repeat(*width), *width)));
    for row in rows {
        line(&mut row.iter().zip(columns.iter()).map(|(cell, (_, width))| (cell.clone(), *width)));
    }
    session.print.puts(format!(" {} rows", rows.len()));
}
