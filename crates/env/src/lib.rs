//! The door to the outside: clock, randomness, file systems, the scheduler.
//!
//! Everything below the binary takes time, luck and files from here, so that a test (or a simulation) can hand in its
//! own: [`ManualClock`], [`SeededRandom`], and [`MemFs`], a file system that loses what was not synced.
//!
//! | seam | real | for tests |
//! |---|---|---|
//! | [`Clock`] | [`SystemClock`] | [`ManualClock`] |
//! | [`Random`] | [`OsRandom`] | [`SeededRandom`] |
//! | [`FileSystem`] | [`LocalFs`] | [`MemFs`] |
//!
//! What is absent: any knowledge of HBase, and of connections (`ring` and `socket` only carry bytes for who has them).
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
mod blocks;
pub mod clock;
pub mod disk_time;
pub mod fs;
pub mod idle;
pub mod local;
pub mod mem;
pub mod prefetch;
pub mod random;
pub mod ring;
pub mod share;
pub mod socket;
pub mod thread;
pub mod wide;

pub use clock::{Clock, ManualClock, SystemClock};
pub use fs::{DIRECT_BLOCK_BYTES, DirEntry, FileSystem, FileWriter, ReadAt, WriteAt};
pub use local::LocalFs;
pub use mem::{Fault, MemFs, Op};
pub use random::{OsRandom, Random, SeededRandom};
pub use ring::{RING_ENTRIES, Ring};
