//! Many tasks count together, and one of them wins: `cargo run -p martite-client --example counters -- localhost:2181`.

use martite_catalog::{FamilyDescriptor, TableDescriptor};
use martite_client::{CheckAndMutate, Connection, Error, Increment, Options, Put};

pub async fn run(connection: &Connection, name: &str) -> Result<(i64, usize), Error> {
    let admin = connection.admin();
    let descriptor = TableDescriptor::new(name.parse()?).with_family(FamilyDescriptor::new("f"));
    admin.create_table(&descriptor, &[]).await?;
    let table = connection.table(name.parse()?);

    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..20 {
        let table = table.clone();
        tasks.spawn(async move {
            table.increment(Increment::row("page").column("f", "views", 5)).await?;
            let first = CheckAndMutate::row("page").if_absent("f", "first");
            table.check_and_mutate(first.put(Put::row("page").column("f", "first", task.to_string()))).await
        });
    }
    let mut winners = 0;
    while let Some(Ok(done)) = tasks.join_next().await {
        winners += usize::from(done?.0);
    }
    let views = table.increment(Increment::row("page").column("f", "views", 0)).await?;
    admin.disable_table(table.name()).await?;
    admin.delete_table(table.name()).await?;
    Ok((views.counter("f", "views").unwrap_or(0), winners))
}

#[allow(dead_code)]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let quorum = std::env::args().nth(1).unwrap_or_else(|| "localhost:2181".to_owned());
    let connection = Connection::connect(Options::new(quorum.parse()?)).await?;
    let (views, winners) = run(&connection, "counters").await?;
    println!("{views} views, {winners} task was the first");
    Ok(())
}
