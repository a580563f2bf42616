//! What a client costs: many tasks read rows for some seconds.
//!
//! ```text
//! cargo run --release -p martite-client --example load -- localhost:2181 TASKS SECONDS get|put|multi
//! ```

use martite_catalog::{FamilyDescriptor, TableDescriptor};
use martite_client::{Action, Connection, Error, Get, Options, Put, Table};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ROWS: u64 = 10_000;

fn key(number: u64) -> String {
    // A step without a common factor reaches all rows in a scattered order.
    format!("user{:08}", number.wrapping_mul(7919) % ROWS)
}

/// One operation; the rows that it was about.
async fn operate(table: &Table, what: &str, number: u64) -> Result<u64, Error> {
    match what {
        "put" => table.put(Put::row(key(number)).column("f", "q", [b'v'; 100])).await.map(|()| 1),
        "multi" => {
            let gets: Vec<Action> = (0..100).map(|i| Get::row(key(number * 100 + i)).into()).collect();
            table.batch(gets).await.into_iter().try_fold(0, |sum, row| row.map(|_| sum + 1))
        }
        _ => table.get(Get::row(key(number)).column("f", "q")).await.map(|row| row.len() as u64),
    }
}

/// Operations, and the rows that they were about.
pub async fn run(
    connection: &Connection,
    name: &str,
    tasks: u64,
    length: Duration,
    what: &'static str,
) -> Result<(u64, u64), Error> {
    let admin = connection.admin();
    let descriptor = TableDescriptor::new(name.parse()?).with_family(FamilyDescriptor::new("f"));
    admin.create_table(&descriptor, &[b"user00003333", b"user00006666"]).await?;
    let table = connection.table(name.parse()?);
    let puts = (0..ROWS).map(|i| Put::row(key(i)).column("f", "q", [b'v'; 100]).into()).collect();
    for written in table.batch(puts).await {
        written?;
    }
    let (operations, rows) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let stop = Arc::new(AtomicBool::new(false));
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..tasks {
        let (table, operations, rows, stop) = (table.clone(), operations.clone(), rows.clone(), stop.clone());
        running.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let number = operations.fetch_add(1, Ordering::Relaxed);
                rows.fetch_add(operate(&table, what, number).await?, Ordering::Relaxed);
            }
            Ok::<(), Error>(())
        });
    }
    tokio::time::sleep(length).await;
    stop.store(true, Ordering::Relaxed);
    while let Some(done) = running.join_next().await {
        done.unwrap_or(Ok(()))?;
    }
    admin.disable_table(table.name()).await?;
    admin.delete_table(table.name()).await?;
    Ok((operations.load(Ordering::Relaxed), rows.load(Ordering::Relaxed)))
}

#[allow(dead_code)]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let quorum = arguments.next().unwrap_or_else(|| "localhost:2181".to_owned());
    let mut number = |default| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (tasks, seconds) = (number(100), number(10));
    let what = match std::env::args().nth(4).as_deref() {
        Some("put") => "put",
        Some("multi") => "multi",
        _ => "get",
    };
    let connection = Connection::connect(Options::new(quorum.parse()?)).await?;
    let began = Instant::now();
    let (operations, rows) = run(&connection, "load", tasks, Duration::from_secs(seconds), what).await?;
    println!("{operations} operations, {rows} rows in {} ms", began.elapsed().as_millis());
    Ok(())
}
