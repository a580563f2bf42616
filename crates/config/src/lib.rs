//! The configuration: one table of options, and the loader of hbase-site.xml.
//!
//! ```text
//! hbase-site.xml ─┐
//! -Dkey=value    ─┼─> Loader ──> Config ── get(keys::MASTER_PORT) -> u16
//! defaults       ─┘  ${var}, final, checks
//! ```
//! Each option exists once, in [`keys`], with type, default and doc; `docs/config.md` is generated from there. A value
//! that does not parse is an error at load, naming file and key, so reading an option cannot fail later. Keys that are
//! not in the table are kept (clients' and tools' keys share the file) and listed once by [`Config::unknown`].
//!
//! Never: read by the engine's crates, which get plain option structs.
#![forbid(unsafe_code)]

mod config;
pub mod docs;
mod expand;
pub mod keys;
mod kind;
mod site;

pub use config::{Change, Config, Loader};
pub use kind::{Bool, Count, Decimal, Kind, List, Millis, Port, Signed, Size, Text};
pub use site::{Property, parse as parse_site};

/// When the value of an option counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is read once, at start.
    Start,
    /// A change takes effect without a restart.
    Reload,
    /// Not yet: the key is known and its value checked, and that is all.
    Later,
}

/// An option: a row of the table.
#[derive(Debug)]
pub struct Opt {
    pub section: &'static str,
    pub key: &'static str,
    /// Older names, and keys from which HBase takes the default; looked up in order.
    pub aliases: &'static [&'static str],
    pub kind: &'static str,
    /// Text as in hbase-site.xml; may hold `${var}`.
    pub default: &'static str,
    pub effect: Effect,
    pub doc: &'static str,
    check: fn(&str) -> Result<(), String>,
}

/// The typed name of an option.
#[derive(Debug)]
pub struct Key<K: Kind> {
    option: &'static Opt,
    kind: std::marker::PhantomData<fn() -> K>,
}

impl<K: Kind> Key<K> {
    pub const fn new(option: &'static Opt) -> Key<K> {
        Key { option, kind: std::marker::PhantomData }
    }
    /// The key as hbase-site.xml has it.
    pub fn name(&self) -> &'static str {
        self.option.key
    }
    pub fn option(&self) -> &'static Opt {
        self.option
    }
}

impl<K: Kind> Clone for Key<K> {
    fn clone(&self) -> Key<K> {
        *self
    }
}

impl<K: Kind> Copy for Key<K> {}

/// What can be wrong with a configuration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    #[error("{file}: {why}")]
    File { file: String, why: String },
    #[error("{file}: {key} = {value:?}: {why}")]
    Value { file: String, key: String, value: String, why: String },
}
