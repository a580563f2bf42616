//! [`Command`]: what is done with each row.

use crate::Error;

/// What a command does; which rows, and how the Java class is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Get,
    Put,
    Delete,
    /// All rows, one after the other.
    Scan {
        reversed: bool,
    },
    /// A scan for each row that returns what equals a value.
    FilterScan,
    /// From a random row, 120 rows of a region at most.
    SeekScan,
    /// From a random row, so many rows.
    Range(u64),
    Increment,
    Append,
    CheckAndMutate,
    CheckAndPut,
    CheckAndDelete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    pub name: &'static str,
    pub does: Does,
    /// Rows are drawn, instead of taken in order.
    pub random: bool,
    /// HBase's client without blocking calls; here all are.
    pub asynchronous: bool,
}

const fn plain(name: &'static str, does: Does, random: bool) -> Command {
    Command { name, does, random, asynchronous: false }
}

const fn asynchronous(name: &'static str, does: Does, random: bool) -> Command {
    Command { name, does, random, asynchronous: true }
}

const ALL: [Command; 24] = [
    plain("sequentialWrite", Does::Put, false),
    plain("randomWrite", Does::Put, true),
    plain("sequentialRead", Does::Get, false),
    plain("randomRead", Does::Get, true),
    plain("sequentialDelete", Does::Delete, false),
    plain("randomDelete", Does::Delete, true),
    plain("scan", Does::Scan { reversed: false }, false),
    plain("reverseScan", Does::Scan { reversed: true }, false),
    plain("filterScan", Does::FilterScan, false),
    plain("randomSeekScan", Does::SeekScan, true),
    plain("scanRange10", Does::Range(10), true),
    plain("scanRange100", Does::Range(100), true),
    plain("scanRange1000", Does::Range(1000), true),
    plain("scanRange10000", Does::Range(10_000), true),
    plain("increment", Does::Increment, false),
    plain("append", Does::Append, false),
    plain("checkAndMutate", Does::CheckAndMutate, false),
    plain("checkAndPut", Does::CheckAndPut, false),
    plain("checkAndDelete", Does::CheckAndDelete, false),
    asynchronous("asyncRandomRead", Does::Get, true),
    asynchronous("asyncRandomWrite", Does::Put, true),
    asynchronous("asyncSequentialRead", Does::Get, false),
    asynchronous("asyncSequentialWrite", Does::Put, false),
    asynchronous("asyncScan", Does::Scan { reversed: false }, false),
];

/// Those that write rows of regions that are nowhere into hbase:meta, and read and remove them.
const REFUSED: [&str; 3] = ["metaWrite", "metaRandomRead", "cleanMeta"];

impl Command {
    /// None: it is no command's name.
    pub fn parse(name: &str) -> Option<Result<Command, Error>> {
        if REFUSED.contains(&name) {
            let why = format!("{name}: rows in hbase:meta of regions that are nowhere are not made here");
            return Some(Err(Error::Setup(why)));
        }
        ALL.into_iter().find(|command| command.name == name).map(Ok)
    }

    /// The Java class, by which summary lines and the qualifiers of increments and the like are named.
    pub fn test_name(self) -> String {
        match self.does {
            Does::FilterScan => "FilteredScanTest".to_owned(),
            Does::Range(rows) => format!("RandomScanWithRange{rows}Test"),
            _ => {
                let (first, rest) = self.name.split_at(1);
                format!("{}{rest}Test", first.to_uppercase())
            }
        }
    }

    /// Clients' rows lie above each other, so that they meet.
    pub fn is_overlapping(self) -> bool {
        matches!(
            self.does,
            Does::Increment | Does::Append | Does::CheckAndMutate | Does::CheckAndPut | Does::CheckAndDelete
        )
    }

    /// Whether the table must be there, with rows.
    pub fn needs_data(self) -> bool {
        let name = self.name.to_lowercase();
        ["read", "scan", "delete"].iter().any(|word| name.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_names_of_java_s_classes() {
        for (name, want) in [
            ("randomRead", "RandomReadTest"),
            ("scanRange100", "RandomScanWithRange100Test"),
            ("filterScan", "FilteredScanTest"),
            ("asyncScan", "AsyncScanTest"),
            ("checkAndPut", "CheckAndPutTest"),
        ] {
            assert_eq!(Command::parse(name).unwrap().unwrap().test_name(), want);
        }
        assert!(Command::parse("walk").is_none());
        let told = Command::parse("cleanMeta").unwrap().unwrap_err().to_string();
        assert!(told.starts_with("cleanMeta: "), "{told}");
        let data: Vec<&str> = ALL.iter().filter(|c| c.needs_data()).map(|c| c.name).collect();
        // As in HBase, checkAndDelete counts as one that needs rows.
        assert!(data.contains(&"checkAndDelete") && data.contains(&"scanRange10") && !data.contains(&"increment"));
    }
}
