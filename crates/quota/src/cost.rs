//! [`Kind`] and [`Cost`]: the thirteen things that HBase limits, and how much of each a call takes.

use crate::table::{TYPES, slot, slot_ref};
use martite_proto as pb;

/// What is limited; the numbers are HBase's `ThrottleType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    RequestNumber = 1,
    RequestSize = 2,
    WriteNumber = 3,
    WriteSize = 4,
    ReadNumber = 5,
    ReadSize = 6,
    RequestCapacityUnit = 7,
    WriteCapacityUnit = 8,
    ReadCapacityUnit = 9,
    AtomicReadSize = 10,
    AtomicRequestNumber = 11,
    AtomicWriteSize = 12,
    RequestHandlerUsageMs = 13,
}

/// Handler time is counted finer than its limit is given, in these parts of a millisecond.
pub const HANDLER_UNITS_PER_MS: u64 = 1000;

impl Kind {
    pub const ALL: [Kind; 13] = [
        Kind::RequestNumber,
        Kind::RequestSize,
        Kind::WriteNumber,
        Kind::WriteSize,
        Kind::ReadNumber,
        Kind::ReadSize,
        Kind::RequestCapacityUnit,
        Kind::WriteCapacityUnit,
        Kind::ReadCapacityUnit,
        Kind::AtomicReadSize,
        Kind::AtomicRequestNumber,
        Kind::AtomicWriteSize,
        Kind::RequestHandlerUsageMs,
    ];

    /// HBase's name, as `set_quota` and `list_quotas` have it.
    pub fn name(self) -> &'static str {
        self.throttle_type().as_str_name()
    }

    fn throttle_type(self) -> pb::ThrottleType {
        TYPES[self as usize - 1]
    }

    /// Its limit in a Throttle message.
    pub fn of(self, throttle: &pb::Throttle) -> Option<&pb::TimedQuota> {
        slot_ref(throttle, self.throttle_type()).as_ref()
    }

    /// The place of its limit in a Throttle message.
    pub fn of_mut(self, throttle: &mut pb::Throttle) -> &mut Option<pb::TimedQuota> {
        slot(throttle, self.throttle_type())
    }

    /// The words of HBase's RpcThrottlingException, by which its client knows it again.
    pub fn phrase(self) -> &'static str {
        match self {
            Kind::RequestNumber => "number of requests exceeded",
            Kind::RequestSize => "request size limit exceeded",
            Kind::WriteNumber => "number of write requests exceeded",
            Kind::WriteSize => "write size limit exceeded",
            Kind::ReadNumber => "number of read requests exceeded",
            Kind::ReadSize => "read size limit exceeded",
            Kind::RequestCapacityUnit => "request capacity unit exceeded",
            Kind::WriteCapacityUnit => "write capacity unit exceeded",
            Kind::ReadCapacityUnit => "read capacity unit exceeded",
            Kind::AtomicReadSize => "atomic read size exceeded",
            Kind::AtomicRequestNumber => "atomic request number exceeded",
            Kind::AtomicWriteSize => "atomic write size exceeded",
            Kind::RequestHandlerUsageMs => "request handler usage time exceeded",
        }
    }

    /// HBase's name of the exception's type, `RpcThrottlingException.Type`.
    pub fn exception(self) -> &'static str {
        match self {
            Kind::RequestNumber => "NumRequestsExceeded",
            Kind::RequestSize => "RequestSizeExceeded",
            Kind::WriteNumber => "NumWriteRequestsExceeded",
            Kind::WriteSize => "WriteSizeExceeded",
            Kind::ReadNumber => "NumReadRequestsExceeded",
            Kind::ReadSize => "ReadSizeExceeded",
            Kind::RequestCapacityUnit => "RequestCapacityUnitExceeded",
            Kind::WriteCapacityUnit => "WriteCapacityUnitExceeded",
            Kind::ReadCapacityUnit => "ReadCapacityUnitExceeded",
            Kind::AtomicReadSize => "AtomicReadSizeExceeded",
            Kind::AtomicRequestNumber => "AtomicRequestNumberExceeded",
            Kind::AtomicWriteSize => "AtomicWriteSizeExceeded",
            Kind::RequestHandlerUsageMs => "RequestHandlerUsageTimeExceeded",
        }
    }

    /// The unit of its limit, as the shell writes it.
    pub fn unit(self) -> &'static str {
        match self {
            Kind::RequestNumber | Kind::WriteNumber | Kind::ReadNumber | Kind::AtomicRequestNumber => "req",
            Kind::RequestSize | Kind::WriteSize | Kind::ReadSize | Kind::AtomicReadSize | Kind::AtomicWriteSize => "B",
            Kind::RequestCapacityUnit | Kind::WriteCapacityUnit | Kind::ReadCapacityUnit => "CU",
            Kind::RequestHandlerUsageMs => "ms",
        }
    }
}

/// What a call takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Calls, or actions of a Multi: Gets, Scans, and what reads before it writes.
    pub reads: u64,
    pub writes: u64,
    /// Rows that were read; a Get is one, a Scan has as many as it looked at.
    pub rows: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub handler_ns: u64,
    /// Increment, Append, or anything with a condition.
    pub is_atomic: bool,
}

/// Bytes of a capacity unit (`hbase.quota.read.capacity.unit`, `hbase.quota.write.capacity.unit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapacityUnits {
    pub read_bytes: u64,
    pub write_bytes: u64,
}

impl Default for CapacityUnits {
    fn default() -> CapacityUnits {
        CapacityUnits { read_bytes: 1024, write_bytes: 1024 }
    }
}

/// So much of each [`Kind`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts([u64; 13]);

impl Amounts {
    pub fn get(&self, kind: Kind) -> u64 {
        self.0[kind as usize - 1]
    }

    pub fn add(&mut self, other: &Amounts) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine = mine.saturating_add(theirs));
    }

    /// Of so many calls.
    pub fn times(self, calls: u64) -> Amounts {
        Amounts(self.0.map(|amount| amount.saturating_mul(calls)))
    }

    pub fn subtract(&mut self, other: &Amounts) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine = mine.saturating_sub(theirs));
    }
}

/// Mostly without a division, which takes as long as all the rest.
#[inline]
fn units_of(bytes: u64, unit: u64) -> u64 {
    if bytes <= unit { u64::from(bytes > 0) } else { bytes.div_ceil(unit.max(1)) }
}

impl Cost {
    #[inline]
    pub fn amounts(&self, units: CapacityUnits) -> Amounts {
        let read_units = units_of(self.read_bytes, units.read_bytes);
        let write_units = units_of(self.write_bytes, units.write_bytes);
        let if_atomic = |amount| if self.is_atomic { amount } else { 0 };
        // In the order of `Kind::ALL`.
        Amounts([
            self.reads + self.writes,
            self.read_bytes + self.write_bytes,
            self.writes,
            self.write_bytes,
            self.rows,
            self.read_bytes,
            read_units + write_units,
            write_units,
            read_units,
            if_atomic(self.read_bytes),
            if_atomic(self.reads + self.writes),
            if_atomic(self.write_bytes),
            self.handler_ns / (1_000_000 / HANDLER_UNITS_PER_MS),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_counts_for_each_kind_that_it_concerns() {
        let increment = Cost {
            reads: 1,
            writes: 1,
            rows: 1,
            read_bytes: 1025,
            write_bytes: 40,
            handler_ns: 2_500_000,
            is_atomic: true,
        };
        let amounts = increment.amounts(CapacityUnits::default());
        let all: Vec<u64> = Kind::ALL.iter().map(|kind| amounts.get(*kind)).collect();
        assert_eq!(all, [2, 1065, 1, 40, 1, 1025, 3, 1, 2, 1025, 2, 40, 2500]);
        let plain = Cost { is_atomic: false, ..increment }.amounts(CapacityUnits::default());
        assert_eq!((plain.get(Kind::AtomicRequestNumber), plain.get(Kind::AtomicReadSize)), (0, 0));
    }

    #[test]
    fn kinds_have_hbases_names() {
        assert_eq!(Kind::RequestNumber.name(), "REQUEST_NUMBER");
        assert_eq!(Kind::RequestHandlerUsageMs.name(), "REQUEST_HANDLER_USAGE_MS");
    }
}
