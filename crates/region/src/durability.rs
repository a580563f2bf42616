//! [`Durability`]: how far a mutation must have gone before it is acknowledged.

/// HBase's levels, in rising order; the values are those of `MutationProto.Durability`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Durability {
    /// The table's own.
    #[default]
    UseDefault = 0,
    /// Not logged: lost in a crash unless flushed before.
    SkipWal = 1,
    /// Logged, acknowledged before the log is synced.
    AsyncWal = 2,
    SyncWal = 3,
    FsyncWal = 4,
}

impl Durability {
    /// The level of a wire value; unknown ones are the default.
    pub fn from_wire(value: i32) -> Durability {
        match value {
            1 => Durability::SkipWal,
            2 => Durability::AsyncWal,
            3 => Durability::SyncWal,
            4 => Durability::FsyncWal,
            _ => Durability::UseDefault,
        }
    }
    /// The level of a table attribute (`DURABILITY => 'SYNC_WAL'`).
    pub fn from_name(name: &str) -> Option<Durability> {
        Some(match name {
            "USE_DEFAULT" => Durability::UseDefault,
            "SKIP_WAL" => Durability::SkipWal,
            "ASYNC_WAL" => Durability::AsyncWal,
            "SYNC_WAL" => Durability::SyncWal,
            "FSYNC_WAL" => Durability::FsyncWal,
            _ => return None,
        })
    }
    /// This level, or `table`'s where none was asked for.
    pub fn or(self, table: Durability) -> Durability {
        if self == Durability::UseDefault { table } else { self }
    }
}
