//! Writes a sample file. `compat/files/HFileTool.java` makes the same cells with HBase's own writer.
//!
//! ```text
//! hfile_write OUT [rows=1000] [compression=NONE] [encoding=NONE] [bloom=ROW] [prefix=11] [block=65536] [index=131072]
//!             [bloomblock=131072] [tags=0] [dictionary=0] [mvcc=1] [meta=0] [fill=0]
//! ```

use martite_cell::{CellType, Order, OwnedCell, key::flat_key, tags};
use martite_env::{FileSystem, LocalFs};
use martite_hfile::{BloomType, Compression, Encoding, StoreMeta, Writer, WriterOptions};
use std::{collections::HashMap, error::Error, path::Path};

const START_MS: u64 = 1_700_000_000_000;
const QUALIFIERS: [&str; 3] = ["a", "ab", "column-name"];

struct Args {
    values: HashMap<String, String>,
}

impl Args {
    fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.values.get(name).map_or(default, String::as_str)
    }
    fn number(&self, name: &str, default: u64) -> Result<u64, Box<dyn Error>> {
        Ok(self.values.get(name).map_or(Ok(default), |v| v.parse())?)
    }
    fn flag(&self, name: &str, default: bool) -> Result<bool, Box<dyn Error>> {
        Ok(self.number(name, default as u64)? != 0)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("hfile_write OUT [name=value]...")?;
    let pair = |arg: String| arg.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned())).ok_or(arg);
    let args = Args { values: args.map(pair).collect::<Result<_, _>>()? };
    let options = options(&path, &args)?;
    let (tags, mvcc, meta) = (options.include_tags, options.include_mvcc, options.order == Order::Meta);
    let mut writer = Writer::new(LocalFs.create(Path::new(&path))?, options)?;
    let fill = "+".repeat(args.number("fill", 0)? as usize);
    for i in 0..args.number("rows", 1000)? {
        for mut cell in row(i, tags, meta, &fill) {
            cell.seq_id *= mvcc as u64;
            writer.append(&cell.as_ref())?;
        }
    }
    let (mut file, _) = writer.finish(StoreMeta { max_seq_id: Some(77), ..StoreMeta::default() })?;
    file.sync_data()?;
    Ok(())
}

fn options(path: &str, args: &Args) -> Result<WriterOptions, Box<dyn Error>> {
    let bloom = match args.text("bloom", "ROW") {
        "NONE" => BloomType::None,
        "ROW" => BloomType::Row,
        "ROWCOL" => BloomType::RowCol,
        "ROWPREFIX_FIXED_LENGTH" => BloomType::RowPrefix(args.number("prefix", 11)? as usize),
        other => return Err(format!("bloom {other}").into()),
    };
    Ok(WriterOptions {
        name: path.to_owned(),
        compression: Compression::from_name(args.text("compression", "NONE")).ok_or("unknown compression")?,
        encoding: Encoding::from_name(args.text("encoding", "NONE")).ok_or("unknown encoding")?,
        bloom,
        block_size: args.number("block", 64 << 10)? as usize,
        index_block_size: args.number("index", 128 << 10)? as usize,
        bloom_block_size: args.number("bloomblock", 128 << 10)? as usize,
        include_tags: args.flag("tags", false)?,
        compress_tags: args.flag("dictionary", false)?,
        include_mvcc: args.flag("mvcc", true)?,
        order: if args.flag("meta", false)? { Order::Meta } else { Order::Default },
        ..WriterOptions::default()
    })
}

/// The cells of row `i`, sorted.
fn row(i: u64, with_tags: bool, meta: bool, fill: &str) -> Vec<OwnedCell> {
    let row = if meta { format!("t,row-{i:07},1") } else { format!("row-{i:07}") };
    let mut cells = Vec::new();
    let mut add = |qualifier: &str, ts: u64, code: CellType, value: &[u8], section: &[u8], seq_id: u64| {
        let key = flat_key(row.as_bytes(), b"f", qualifier.as_bytes(), ts, code as u8);
        cells.push(OwnedCell::new(&key, value, section, seq_id));
    };
    if i.is_multiple_of(10) {
        add("", START_MS + i, CellType::DeleteFamily, b"", &[], i + 1);
    }
    if i.is_multiple_of(50) {
        add("", START_MS + i, CellType::DeleteFamilyVersion, b"", &[], i + 1);
    }
    for (j, qualifier) in (0..).zip(QUALIFIERS) {
        let mut section = Vec::new();
        if with_tags && (i + j).is_multiple_of(3) {
            tags::append(&mut section, tags::TTL, &(1000 + i % 7).to_be_bytes());
            if i.is_multiple_of(6) {
                tags::append(&mut section, tags::ACL, format!("acl{}", i % 4).as_bytes());
            }
        }
        for version in 0..=(i + j) % 2 {
            let deleted = i % 13 == 5 && version == 0;
            let value = format!("value-{i}-{j}-{version}").repeat(i as usize % 5 + 1) + fill;
            let (code, value) = if deleted { (CellType::DeleteColumn, "") } else { (CellType::Put, value.as_str()) };
            add(qualifier, START_MS + i - version, code, value.as_bytes(), &section, i * 3 + j + 1);
        }
    }
    cells
}
