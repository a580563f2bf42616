//! Prints the entries of log files, ours or HBase's: `wal_dump FILE…`.

use martite_cell::Codec;
use martite_env::LocalFs;
use martite_wal::WalReader;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let mut reader = WalReader::open(&LocalFs, Path::new(&path))?;
        let header = reader.header();
        println!("{path}: writer {}, codec {}", header.writer_cls_name(), header.cell_codec_cls_name());
        println!("  checksums {}, closed {}", reader.has_checksums(), reader.is_closed());
        let mut entries = 0;
        loop {
            let at = reader.position();
            let Some(entry) = reader.next()? else { break };
            entries += 1;
            let (region, table) = (entry.region.escape_ascii(), entry.table.escape_ascii());
            println!("  {at}: {table} {region} seq {} written {}", entry.seq, entry.write_time_ms);
            Codec::KeyValueWithTags.decode(&entry.cells, |cell| {
                println!("    {cell:?} tags {}", cell.tags.len());
                Ok(())
            })?;
        }
        match reader.torn_tail() {
            Some(tail) => println!("  {entries} entries, {} bytes lost at {}", tail.lost_bytes, tail.offset),
            None => println!("  {entries} entries"),
        }
    }
    Ok(())
}
