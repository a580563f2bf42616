//! [`History`]: what some figures were in the last half an hour.

use martite_plot::Line;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// From one look to the next.
pub const STEP: Duration = Duration::from_secs(5);
/// So many looks are remembered: half an hour.
const ROOM: usize = 360;
/// A plot has room for so many; the first that are not fewer than there were.
const ROOMS: [usize; 3] = [60, 180, ROOM];

/// Values of named series, all of them with a value or none for each look.
#[derive(Debug, Default)]
pub struct History {
    looks: usize,
    series: BTreeMap<String, VecDeque<Option<f64>>>,
}

impl History {
    /// The next look; what is not in it is not known of that time.
    pub fn push(&mut self, mut values: BTreeMap<String, f64>) {
        for (name, series) in &mut self.series {
            series.push_back(values.remove(name));
        }
        for (name, value) in values {
            let mut series = VecDeque::from(vec![None; self.looks]);
            series.push_back(Some(value));
            self.series.insert(name, series);
        }
        if self.looks < ROOM {
            self.looks += 1;
        } else {
            for series in self.series.values_mut() {
                series.pop_front();
            }
            self.series.retain(|_, series| series.iter().any(Option::is_some));
        }
    }

    /// How many values a plot is to have room for.
    pub fn room(&self) -> usize {
        ROOMS.into_iter().find(|room| *room >= self.looks).unwrap_or(ROOM)
    }

    /// A series as a line of that name.
    pub fn line(&self, series: &str, name: impl Into<String>) -> Line {
        let values = self.series.get(series).map(|values| values.iter().copied().collect());
        Line { name: name.into(), values: values.unwrap_or_default() }
    }

    /// Of the last look.
    pub fn last(&self, series: &str) -> Option<f64> {
        self.series.get(series)?.back().copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_and_gaps_stay() {
        let mut history = History::default();
        assert_eq!((history.last("a"), history.line("a", "A").values, history.room()), (None, Vec::new(), 60));
        for i in 0..=ROOM {
            let series = if i == ROOM - 1 { "b" } else { "a" };
            history.push(BTreeMap::from([(series.to_owned(), i as f64)]));
        }
        assert_eq!(history.room(), ROOM);
        let line = history.line("a", "A");
        assert_eq!((line.name.as_str(), line.values.len()), ("A", ROOM));
        assert_eq!(line.values[0], Some(1.0), "0 is forgotten");
        assert_eq!(line.values[ROOM - 2..], [None, Some(ROOM as f64)]);
        assert_eq!((history.last("a"), history.last("b")), (Some(ROOM as f64), None));
        let b = history.line("b", "B").values;
        assert_eq!((b.len(), b[ROOM - 2], b[ROOM - 1]), (ROOM, Some((ROOM - 1) as f64), None), "as long as the others");
    }
}
