//! Quotas: what hbase:quota says, the arithmetic of limits, and who waits in which order. Pure: the time is an argument,
//! nothing waits here.
//!
//! ```text
//! hbase:quota ── Settings ── Plan: who calls what table? ──▶ whose limits count
//!                                                                  │
//! call ── Cost ──▶ Gate ── passes now │ parked, in order │ refused ◀ Limiter: exact in integers
//! ```
#![forbid(unsafe_code)]

pub mod change;
mod cost;
mod gate;
mod limiter;
mod plan;
mod refusal;
mod settings;
pub mod space;
pub mod table;

pub use cost::{Amounts, CapacityUnits, Cost, Kind};
pub use gate::{Answer, Answers, Bounds, Gate, Operation, Passed, Place, Request, Returned, Several, Ticket, Woken};
pub use limiter::{Limiter, Rate};
pub use plan::{Key, Limit, Owner, Plan, Share, all_limits};
pub use refusal::Refusal;
pub use settings::{Priorities, Priority, Settings, UserSettings};
