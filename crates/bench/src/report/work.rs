//! Other work beside Gets, in words.

use crate::beside::Work;
use martite_plot::number::short;

pub fn work(work: &Work) -> String {
    match work {
        Work::Scan { at_once, returns, rows_per_s } => {
            let scans = if *at_once == 1 { "a scan".to_owned() } else { format!("{at_once} scans") };
            format!("{scans}, {} rows/s{}", short(*rows_per_s), if *returns { " returned" } else { "" })
        }
        Work::Compaction { outlasted: true } => "a compaction".to_owned(),
        Work::Compaction { outlasted: false } => "a compaction that ended before".to_owned(),
    }
}
