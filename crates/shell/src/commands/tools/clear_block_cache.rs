//! `clear_block_cache`: drops the blocks of a table from all caches.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_catalog::{TableName, to_string_binary};

pub const COMMAND: Command = Command {
    name: "clear_block_cache",
    aliases: &[],
    summary: "drops the blocks of a table from all caches",
    help: "\
Drops the blocks of a table from the caches of all servers. Reads are slower for a while.

  hbase> clear_block_cache 'TABLENAME'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let table = TableName::parse(&arguments.text(0))?;
    let admin = session.admin()?;
    let stats = session.wait(admin.clear_block_cache(&table))?;
    let failed: Vec<String> = stats.exception.iter().map(|e| to_string_binary(&e.region.value)).collect();
    session.print.row(&[format!(
        "CacheEvictionStats{{evictedBlocks={}, maxCacheSize={}, failedRegionsSize={}, failedRegions=[{}]}}",
        stats.evicted_blocks(),
        stats.max_cache_size(),
        failed.len(),
        failed.join(", ")
    )]);
    Ok(Value::Nil)
}
