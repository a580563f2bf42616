//! Writes, reads and scans a table: `cargo run -p martite-client --example tour -- localhost:2181`.

use martite_catalog::{FamilyDescriptor, TableDescriptor};
use martite_client::{Connection, Delete, Error, Get, Options, Put, Scan};

pub async fn run(connection: &Connection, name: &str) -> Result<Vec<String>, Error> {
    let admin = connection.admin();
    let descriptor = TableDescriptor::new(name.parse()?).with_family(FamilyDescriptor::new("f"));
    admin.create_table(&descriptor, &[b"m"]).await?;

    let table = connection.table(name.parse()?);
    table.put(Put::row("ann").column("f", "age", "41").column("f", "city", "Bonn")).await?;
    let people = [("bob", "Oslo"), ("mia", "Rome"), ("zoe", "Bonn")];
    let puts = people.map(|(row, city)| Put::row(row).column("f", "city", city).into());
    for written in table.batch(puts.into()).await {
        written?;
    }
    table.delete(Delete::row("bob")).await?;

    let mut lines = Vec::new();
    let ann = table.get(Get::row("ann").column("f", "age")).await?;
    lines.push(format!("ann is {}", String::from_utf8_lossy(ann.value("f", "age").unwrap_or_default())));
    let mut scanner = table.scan(Scan::new().column("f", "city"));
    while let Some(row) = scanner.next().await? {
        let city = row.value("f", "city").unwrap_or_default();
        lines.push(format!("{} lives in {}", row.row().escape_ascii(), city.escape_ascii()));
    }
    admin.disable_table(table.name()).await?;
    admin.delete_table(table.name()).await?;
    Ok(lines)
}

#[allow(dead_code)]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let quorum = std::env::args().nth(1).unwrap_or_else(|| "localhost:2181".to_owned());
    let connection = Connection::connect(Options::new(quorum.parse()?)).await?;
    for line in run(&connection, "tour").await? {
        println!("{line}");
    }
    Ok(())
}
