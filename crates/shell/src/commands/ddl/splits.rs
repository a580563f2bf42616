//! Where a new table is split: SPLITS, SPLITS_FILE, or NUMREGIONS with SPLITALGO.

use crate::commands::Options;
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::language::java::to_bytes_binary;
use martite_catalog::{TableDescriptor, to_string_binary};

/// The keys that the options ask for, sorted; None: they ask for none.
pub fn of(options: &mut Options, table: &mut TableDescriptor) -> Run<Option<Vec<Vec<u8>>>> {
    if let Some(file) = options.take_text("SPLITS_FILE") {
        let text = match std::fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Failure::argument(format!("Splits file {file} doesn't exist")));
            }
            Err(error) => return Err(Failure::argument(format!("{file}: {error}"))),
        };
        table.attributes.set("SPLITS_FILE", file.into_bytes());
        let lines = text.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let mut lines: Vec<Vec<u8>> = lines.map(to_bytes_binary).collect();
        if lines.last().is_some_and(Vec::is_empty) {
            lines.pop();
        }
        options.take("SPLITS");
        return sorted(lines).map(Some);
    }
    if let Some(value) = options.take("SPLITS") {
        let Value::Array(keys) = &value else {
            return Err(Failure::argument(format!("SPLITS is {}, which is no array", value.inspect())));
        };
        let keys = keys.borrow().iter().map(|key| to_bytes_binary(&key.to_bytes())).collect();
        return sorted(keys).map(Some);
    }
    if !options.has("NUMREGIONS") && !options.has("SPLITALGO") {
        return Ok(None);
    }
    let count = options.take_integer("NUMREGIONS")?;
    let count = count.ok_or_else(|| Failure::argument("Number of regions must be specified"))?;
    let algorithm = options.take_text("SPLITALGO");
    let algorithm = algorithm.ok_or_else(|| Failure::argument("Split algorithm must be specified"))?;
    let Some(count) = u64::try_from(count).ok().filter(|count| *count > 1) else {
        return Err(Failure::argument("Number of regions must be greater than 1"));
    };
    by_algorithm(&algorithm, count).map(Some)
}

/// Sorted, as HBase's client sends them; it refuses what is there twice.
fn sorted(mut keys: Vec<Vec<u8>>) -> Run<Vec<Vec<u8>>> {
    keys.sort();
    if keys.iter().any(Vec::is_empty) {
        return Err(Failure::argument("Empty split key must not be passed in the split keys."));
    }
    if let Some(twice) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        let key = to_string_binary(&twice[0]);
        return Err(Failure::argument(format!("All split keys must be unique, found duplicate: {key}, {key}")));
    }
    Ok(keys)
}

fn by_algorithm(name: &str, regions: u64) -> Run<Vec<Vec<u8>>> {
    let numbers = 1..regions;
    match name.rsplit(['.', '$']).next().unwrap_or_default() {
        "HexStringSplit" if regions <= 1 << 32 => {
            let size = (1u64 << 32) / regions;
            Ok(numbers.map(|i| format!("{:08x}", i * size).into_bytes()).collect())
        }
        "DecimalStringSplit" if regions <= 100_000_000 => {
            let size = 100_000_000 / regions;
            Ok(numbers.map(|i| format!("{:08}", i * size).into_bytes()).collect())
        }
        "UniformSplit" => {
            let size = (1u128 << 64) / u128::from(regions);
            Ok(numbers.map(|i| ((u128::from(i) * size) as u64).to_be_bytes().to_vec()).collect())
        }
        "HexStringSplit" | "DecimalStringSplit" => Err(Failure::argument("Number of regions is too large")),
        _ => Err(Failure::argument(format!(
            "the split algorithm {name} is not known to this shell: HexStringSplit, DecimalStringSplit, UniformSplit are"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms() {
        let keys = |name: &str, n| {
            by_algorithm(name, n).unwrap().iter().map(|k| to_string_binary(k)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(keys("HexStringSplit", 4), "40000000 80000000 c0000000");
        assert_eq!(keys("DecimalStringSplit", 3), "33333333 66666666");
        assert_eq!(keys("o.a.h.h.util.RegionSplitter$UniformSplit", 2), "\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00");
        assert!(by_algorithm("Mine", 2).is_err());
        assert!(sorted(vec![b"a".to_vec(), b"a".to_vec()]).is_err());
    }
}
