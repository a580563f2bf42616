//! Prints the cells of a file, one per line, and what its index and filters say.
//!
//! ```text
//! hfile_dump FILE [rows of the sample, to ask the bloom filters about]
//! row family qualifier timestamp type value tags sequence-id        bytes in hex, "-" for none
//! # entries N first KEY last KEY mid KEY
//! # bloom present P of P absent A of N delete-family D
//! ```
//! `compat/files/HFileTool.java` prints the same with HBase's own reader; the two outputs must be equal.

use martite_env::{FileSystem, LocalFs, ReadAt};
use martite_hfile::{BloomType, FileSource, Reader, Scanner, Step};
use std::{
    error::Error,
    io::{BufWriter, Write},
    path::Path,
    sync::Arc,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("hfile_dump FILE [rows]")?;
    let rows: u64 = args.next().map_or(Ok(0), |rows| rows.parse())?;
    let file = LocalFs.open(Path::new(&path))?;
    let reader = Arc::new(Reader::open(0, &path, &*file)?);
    let mut out = BufWriter::new(std::io::stdout().lock());
    dump(&reader, &*file, &mut out)?;
    if rows > 0 {
        ask_filters(&reader, &*file, rows, &mut out)?;
    }
    Ok(out.flush()?)
}

fn dump(reader: &Arc<Reader>, file: &dyn ReadAt, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let src = FileSource { file };
    let mut scanner = Scanner::new(reader.clone(), false);
    scanner.seek_to_first(&src)?;
    let mut entries = 0;
    while let Some(cell) = scanner.peek() {
        let (row, family, qualifier) = (hex(cell.row()), hex(cell.family()), hex(cell.qualifier()));
        let (value, tags) = (hex(cell.value), hex(cell.tags));
        let (ts, code, seq_id) = (cell.timestamp() as i64, cell.type_code(), cell.seq_id);
        writeln!(out, "{row} {family} {qualifier} {ts} {code} {value} {tags} {seq_id}")?;
        entries += 1;
        scanner.next(&src)?;
    }
    if entries != reader.entries() {
        return Err(format!("{entries} cells, the trailer says {}", reader.entries()).into());
    }
    let first = reader.first_key(&src)?.ready().flatten();
    let (last, middle) = (reader.last_key(), reader.mid_key(&src)?);
    let key = |k: Option<&[u8]>| hex(k.unwrap_or_default());
    writeln!(
        out,
        "# entries {entries} first {} last {} mid {}",
        key(first.as_deref()),
        key(last),
        key(middle.as_deref())
    )?;
    Ok(())
}

fn ask_filters(reader: &Reader, file: &dyn ReadAt, rows: u64, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let src = FileSource { file };
    let (mut present, mut absent, mut deleted) = (0, 0, 0);
    for i in 0..rows {
        let (row, other) = (format!("row-{i:07}"), format!("row-{:06}x{}", i, i % 10));
        let yes = |step: Step<bool>| step.ready() == Some(true);
        if reader.bloom_type() == BloomType::RowCol {
            present += yes(reader.may_contain_row_col(row.as_bytes(), b"a", &src)?) as u64;
            absent += yes(reader.may_contain_row_col(other.as_bytes(), b"a", &src)?) as u64;
        } else {
            present += yes(reader.may_contain_row(row.as_bytes(), &src)?) as u64;
            absent += yes(reader.may_contain_row(other.as_bytes(), &src)?) as u64;
        }
        deleted += yes(reader.may_contain_delete_family(row.as_bytes(), &src)?) as u64;
    }
    writeln!(out, "# bloom present {present} of {rows} absent {absent} of {rows} delete-family {deleted}")?;
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
