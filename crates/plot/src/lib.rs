//! Numbers and plots as people read them, for reports and web pages.
//!
//! What is absent: where values come from; colours, which the page's style gives to the classes `s0`, `s1`, …
#![forbid(unsafe_code)]

mod axis;
pub mod number;
mod timeline;
mod unit;

pub use axis::Axis;
pub use timeline::{Line, Timeline};
pub use unit::Unit;
