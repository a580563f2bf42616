//! [`History`]: what some figures were in the last half an hour.

use martite_plot::Line;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// From one look to the next.
pub const STEP: Duration = Duration::from_secs(5);
/// So many looks are remembered: half an hour.
pub const ROOM: usize = 360;

/// Values of named series, a value or none for each look.
#[derive(Debug, Default)]
pub struct History {
    looks: VecDeque<BTreeMap<String, f64>>,
}

impl History {
    /// The next look; what is not in it is not known of that time.
    pub fn push(&mut self, values: BTreeMap<String, f64>) {
        if self.looks.len() == ROOM {
            self.looks.pop_front();
        }
        self.looks.push_back(values);
    }

    /// A series as a line of that name.
    pub fn line(&self, series: &str, name: impl Into<String>) -> Line {
        let values = self.looks.iter().map(|look| look.get(series).copied());
        Line { name: name.into(), values: values.collect() }
    }

    /// Of the last look.
    pub fn last(&self, series: &str) -> Option<f64> {
        self.looks.back()?.get(series).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_and_gaps_stay() {
        let mut history = History::default();
        assert_eq!((history.last("a"), history.line("a", "A").values), (None, Vec::new()));
        for i in 0..=ROOM {
            let series = if i == ROOM - 1 { "b" } else { "a" };
            history.push(BTreeMap::from([(series.to_owned(), i as f64)]));
        }
        let line = history.line("a", "A");
        assert_eq!((line.name.as_str(), line.values.len()), ("A", ROOM));
        assert_eq!(line.values[0], Some(1.0), "0 is forgotten");
        assert_eq!(line.values[ROOM - 2..], [None, Some(ROOM as f64)]);
        assert_eq!((history.last("a"), history.last("b")), (Some(ROOM as f64), None));
    }
}
