//! [`TableTimes`]: how long the calls took that asked a table, whichever of its regions.

use martite_metrics::Histogram;

/// From the read that brought the call until its answer was ready, by the call's method.
#[derive(Debug, Default)]
pub struct TableTimes {
    pub get: Histogram,
    pub multi: Histogram,
    pub scan: Histogram,
    pub mutate: Histogram,
}
