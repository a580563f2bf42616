//! [`Unit`]: what values are of.

use crate::Axis;
use crate::number::{bytes, duration, percent, short};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Bytes,
    Nanoseconds,
    /// Of a whole.
    Share,
}

impl Unit {
    pub fn write(self, value: f64) -> String {
        match self {
            Unit::Count => short(value),
            Unit::Bytes => bytes(value),
            Unit::Nanoseconds => duration(value),
            Unit::Share => percent(value),
        }
    }

    /// Whether powers of ten are equally far apart: of times the slowest are a thousand times the fastest.
    pub fn is_logarithmic(self) -> bool {
        self == Unit::Nanoseconds
    }

    /// For values from `least` to `most`: from 0, with round ticks (those of bytes are round in KiB, MiB and so on), or by powers
    /// of ten.
    pub fn axis(self, least: f64, most: f64) -> Axis {
        if self.is_logarithmic() {
            return Axis::logarithmic(least, most);
        }
        if self != Unit::Bytes || most < 1024.0 {
            return Axis::linear(most);
        }
        let scale = 1024f64.powf(most.log(1024.0).floor());
        let Axis { low, high, ticks } = Axis::linear(most / scale);
        Axis { low: low * scale, high: high * scale, ticks: ticks.into_iter().map(|tick| tick * scale).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_bytes_are_round() {
        const MIB: f64 = 1024.0 * 1024.0;
        let axis = Unit::Bytes.axis(0.0, 90.0 * MIB);
        assert_eq!(axis.ticks, [0.0, 20.0, 40.0, 60.0, 80.0, 100.0].map(|n| n * MIB));
        assert_eq!(axis.high, 100.0 * MIB);
        assert_eq!(Unit::Bytes.axis(0.0, 0.0), Axis::linear(0.0));
        assert_eq!(Unit::Nanoseconds.axis(7e3, 9e5).ticks, [1e3, 1e4, 1e5, 1e6]);
    }
}
