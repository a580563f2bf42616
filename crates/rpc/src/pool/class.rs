//! [`Class`]: kinds of work, and which threads do it.

/// Kinds of work that share the pool's threads by weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Gets and multi-gets.
    Read = 0,
    Scan = 1,
    Write = 2,
    /// Meta and system tables, and calls above priority 10.
    Priority = 3,
    Replication = 4,
    /// Administration; may wait long (flush, DDL).
    Admin = 5,
    /// Whatever is to use only what others leave.
    Batch = 6,
    /// Scans, as long as calls leave nothing: the pool sees to it.
    WeightedScan = 7,
    /// Scans, as long as whoever leaves nothing is no call.
    OrdinaryScan = 8,
}

/// All of them are scans to those who ask.
pub(crate) const SCANS: [Class; 3] = [Class::Scan, Class::WeightedScan, Class::OrdinaryScan];

/// How many classes there are.
pub(super) const CLASSES: usize = 9;

/// The threads that take jobs of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    All = 0,
    Scan = 1,
    Batch = 2,
    WeightedScan = 3,
    OrdinaryScan = 4,
}

impl Group {
    /// The class, if it is one of scans.
    pub fn scans(self) -> Option<Class> {
        self.class().filter(|class| *class != Class::Batch)
    }

    /// The class, if there is only one.
    pub fn class(self) -> Option<Class> {
        match self {
            Group::Scan => Some(Class::Scan),
            Group::WeightedScan => Some(Class::WeightedScan),
            Group::OrdinaryScan => Some(Class::OrdinaryScan),
            Group::Batch => Some(Class::Batch),
            Group::All => None,
        }
    }
}

impl Class {
    pub const ALL: [Class; CLASSES] = [
        Class::Read,
        Class::Scan,
        Class::Write,
        Class::Priority,
        Class::Replication,
        Class::Admin,
        Class::Batch,
        Class::WeightedScan,
        Class::OrdinaryScan,
    ];

    pub(super) fn group(self) -> Group {
        match self {
            Class::Scan => Group::Scan,
            Class::WeightedScan => Group::WeightedScan,
            Class::OrdinaryScan => Group::OrdinaryScan,
            Class::Batch => Group::Batch,
            _ => Group::All,
        }
    }
}
