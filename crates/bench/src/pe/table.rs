//! The table of a test: made if it is not there, or made anew if a command that writes wants another one.

use super::options::Options;
use super::report::log;
use crate::{Error, rows};
use martite_catalog::{FamilyDescriptor, TableDescriptor};
use martite_client::Connection;
use martite_proto as pb;

const REPLICATION: &str = "REGION_REPLICATION";
const SPLIT_POLICY: &str = "SPLIT_POLICY";

pub async fn check(connection: &Connection, options: &Options) -> Result<(), Error> {
    let admin = connection.admin();
    let there = described(connection, options).await?;
    let needs_data = options.command.needs_data();
    let Some(there) = there else {
        if needs_data {
            let what = "Must specify an existing table for read/delete commands. Run a write command first.";
            return Err(Error::Setup(what.to_owned()));
        }
        return create(connection, options).await;
    };
    if needs_data && there.family_count() != options.families {
        return Err(Error::Setup(format!(
            "Cannot proceed the test. Run a write command first: --families={}, but found {} column families",
            options.families,
            there.family_count()
        )));
    }
    let regions =
        if options.presplit > 0 { connection.table(options.table.clone()).locations().await?.len() } else { 0 };
    let differences = differences(options, &there, regions);
    if differences.is_empty() {
        return Ok(());
    }
    let reason = differences.join(", ");
    if needs_data {
        log("main", &format!("The table is another one than the options say: {reason}. The test goes on."));
        return Ok(());
    }
    log("main", &format!("Table will be recreated: {reason}"));
    // It may be disabled already.
    if let Err(e) = admin.disable_table(&options.table).await
        && !e.to_string().contains("TableNotEnabledException")
    {
        return Err(e.into());
    }
    admin.delete_table(&options.table).await?;
    create(connection, options).await
}

/// None: it is not there.
async fn described(connection: &Connection, options: &Options) -> Result<Option<TableDescriptor>, Error> {
    let request = pb::GetTableDescriptorsRequest { table_names: vec![options.table.to_proto()], ..Default::default() };
    let answer: pb::GetTableDescriptorsResponse =
        connection.master_call("MasterService", "GetTableDescriptors", &request).await?;
    let schema = answer.table_schema.first();
    let there = schema.map(TableDescriptor::from_proto).transpose().map_err(martite_client::Error::from)?;
    Ok(there)
}

/// Why a table cannot be used by a command that writes.
fn differences(options: &Options, there: &TableDescriptor, regions: usize) -> Vec<String> {
    let mut found = Vec::new();
    if there.family_count() != options.families {
        found.push(format!("[--families={}, but found {} column families]", options.families, there.family_count()));
    }
    if options.presplit > 0 && options.presplit != regions {
        found.push(format!("[--presplit={}, but found {regions} regions]", options.presplit));
    }
    if options.split_policy.as_deref() != there.split_policy() {
        let (wanted, found_one) = (options.split_policy.as_deref(), there.split_policy());
        let name = |policy: Option<&str>| policy.unwrap_or("null").to_owned();
        found.push(format!("[--splitPolicy={}, but current policy is {}]", name(wanted), name(found_one)));
    }
    if options.replicas != there.region_replication() {
        found.push(format!("[--replicas={}, but found {} replicas]", options.replicas, there.region_replication()));
    }
    found
}

fn descriptor(options: &Options) -> TableDescriptor {
    let mut table = TableDescriptor::new(options.table.clone());
    for nth in 0..options.families {
        let mut family = FamilyDescriptor::new(&family_name(nth));
        for (name, value) in &options.family {
            family = family.with(name, value);
        }
        if options.in_memory {
            family = family.with("IN_MEMORY", "true");
        }
        table = table.with_family(family);
    }
    if options.replicas != 1 {
        table = table.with(REPLICATION, &options.replicas.to_string());
    }
    if let Some(policy) = &options.split_policy {
        table = table.with(SPLIT_POLICY, policy);
    }
    table
}

pub fn family_name(nth: usize) -> String {
    format!("info{nth}")
}

/// Rows at which the table is split, evenly among all.
fn splits(options: &Options) -> Vec<rows::Key> {
    let jump = options.total_rows / options.presplit.max(1) as u64;
    (1..options.presplit as u64).map(|nth| rows::key(jump * nth)).collect()
}

async fn create(connection: &Connection, options: &Options) -> Result<(), Error> {
    let splits = splits(options);
    let splits: Vec<&[u8]> = splits.iter().map(|key| &key[..]).collect();
    connection.admin().create_table(&descriptor(options), &splits).await?;
    log("main", &format!("Table {} created", options.table));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe::options::tests::parse;

    #[test]
    fn a_table_is_as_the_options_say() {
        let options =
            parse("--rows=100 --presplit=4 --families=2 --bloomFilter=ROWCOL --inmemory --replicas=2 randomWrite 2")
                .unwrap();
        let table = descriptor(&options);
        let family = table.family(b"info1").unwrap();
        assert_eq!((family.bloom_filter().as_str(), family.is_in_memory()), ("ROWCOL", true));
        assert_eq!((table.family_count(), table.region_replication()), (2, 2));
        assert_eq!(splits(&options), [50, 100, 150].map(rows::key));
        assert!(differences(&options, &table, 4).is_empty());
        assert!(splits(&parse("--rows=1 scan 1").unwrap()).is_empty());
    }

    #[test]
    fn differences_are_named() {
        let table = descriptor(&parse("--rows=1 randomWrite 1").unwrap());
        let options = parse("--rows=100 --presplit=4 --families=2 --splitPolicy=P --replicas=3 randomWrite 2").unwrap();
        assert_eq!(
            differences(&options, &table, 1),
            [
                "[--families=2, but found 1 column families]",
                "[--presplit=4, but found 1 regions]",
                "[--splitPolicy=P, but current policy is null]",
                "[--replicas=3, but found 1 replicas]"
            ]
        );
    }
}
