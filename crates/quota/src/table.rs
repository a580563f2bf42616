//! The format of hbase:quota, as HBase 2.6 writes and scans it.
//!
//! ```text
//! row                      column       value
//! u.<user>                 q:s          PBUF Quotas: the user's
//!                          q:s.<table>  PBUF Quotas: the user's in a table
//!                          q:s.<ns>:    PBUF Quotas: the user's in a namespace
//! t.<table>                q:s          PBUF Quotas
//!                          u:p          SpaceQuotaSnapshot, no magic: usage, limit, whether violated
//!                          u:ss<name>   SpaceQuotaSnapshot: usage = the size of a snapshot
//! n.<namespace>            q:s          PBUF Quotas
//!                          u:ss         SpaceQuotaSnapshot: usage = the sizes of its tables' snapshots
//! r.all                    q:s          PBUF Quotas: of every region server
//! exceedThrottleQuota      q:s          FF on, 00 off
//! u.…, t.… or n.…          u:priority   online, default or batch; ours: HBase's tools never read it. (Of a user's row
//!                                       they read every cell of family q as quotas.)
//! ```
//!
//! Example: 10 requests per second for user `bob` is row `u.bob`, column `q:s`, value
//! `50 42 55 46 · 12 08 · 0a 06 · 08 04 10 0a 20 02`: PBUF; throttle; req_num; SECONDS, 10, MACHINE.

use crate::{Priority, Settings, UserSettings};
use martite_proto::{self as pb, Message};
use std::fmt;

/// Family of settings.
pub const SETTINGS_FAMILY: &[u8] = b"q";
/// Family of usage.
pub const USAGE_FAMILY: &[u8] = b"u";
/// Qualifier of an owner's settings.
pub const SETTINGS: &[u8] = b"s";
/// Qualifier of a user's, table's or namespace's priority.
pub const PRIORITY: &[u8] = b"priority";
/// Before the table or namespace of a user's settings there.
const SETTINGS_PREFIX: &[u8] = b"s.";
/// Qualifier of a table's usage.
pub const USAGE: &[u8] = b"p";
/// Qualifier of a namespace's snapshots' size, and before the name of a table's snapshot.
pub const SNAPSHOT_SIZE: &[u8] = b"ss";
/// The row of the exceed-throttle switch.
pub const EXCEED_ROW: &[u8] = b"exceedThrottleQuota";
/// The only region server that has quotas: every one.
pub const ALL_SERVERS: &str = "all";

const DEFAULT_NAMESPACE: &str = "default:";

/// Whose quotas a cell holds. Tables by their full names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    User(String),
    UserTable(String, String),
    UserNamespace(String, String),
    Table(String),
    Namespace(String),
    RegionServer(String),
}

/// Why a cell of hbase:quota does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hbase:quota row {row} column q:{qualifier}: {reason}")]
pub struct Skipped {
    pub row: String,
    pub qualifier: String,
    pub reason: String,
}

/// A cell of family q.
#[derive(Debug, Clone, Copy)]
pub struct SettingsCell<'a> {
    pub row: &'a [u8],
    pub qualifier: &'a [u8],
    pub value: &'a [u8],
}

impl Owner {
    pub fn row(&self) -> Vec<u8> {
        let (kind, name) = match self {
            Owner::User(name) | Owner::UserTable(name, _) | Owner::UserNamespace(name, _) => ("u.", name),
            Owner::Table(name) => ("t.", name),
            Owner::Namespace(name) => ("n.", name),
            Owner::RegionServer(name) => ("r.", name),
        };
        format!("{kind}{name}").into_bytes()
    }

    pub fn qualifier(&self) -> Vec<u8> {
        match self {
            Owner::UserTable(_, table) => format!("s.{table}").into_bytes(),
            Owner::UserNamespace(_, namespace) => format!("s.{namespace}:").into_bytes(),
            _ => SETTINGS.to_vec(),
        }
    }

    /// The owner of a cell, or why there is none.
    pub fn parse(row: &[u8], qualifier: &[u8]) -> Result<Owner, String> {
        let text = |bytes: &[u8], what: &str| match std::str::from_utf8(bytes) {
            Ok("") => Err(format!("no {what}")),
            Ok(text) => Ok(text.to_string()),
            Err(_) => Err(format!("the {what} is not UTF-8")),
        };
        if let Some(user) = row.strip_prefix(b"u.") {
            return Owner::of_user(text(user, "user")?, qualifier);
        }
        if qualifier != SETTINGS {
            return Err("an unknown column".into());
        }
        match row.split_at_checked(2) {
            Some((b"t.", table)) => Ok(Owner::Table(full_name(text(table, "table")?))),
            Some((b"n.", namespace)) => Ok(Owner::Namespace(text(namespace, "namespace")?)),
            Some((b"r.", server)) => Ok(Owner::RegionServer(text(server, "region server")?)),
            _ => Err("an unknown kind of row".into()),
        }
    }

    fn of_user(user: String, qualifier: &[u8]) -> Result<Owner, String> {
        if qualifier == SETTINGS {
            return Ok(Owner::User(user));
        }
        let name = qualifier.strip_prefix(SETTINGS_PREFIX).ok_or("an unknown column")?;
        let name = std::str::from_utf8(name).map_err(|_| "the qualifier is not UTF-8")?;
        match name.strip_suffix(':') {
            Some("") => Err("no namespace".into()),
            Some(namespace) => Ok(Owner::UserNamespace(user, namespace.to_string())),
            None if name.is_empty() => Err("no table".into()),
            None => Ok(Owner::UserTable(user, full_name(name.to_string()))),
        }
    }
}

/// As the shell names owners.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::User(user) => write!(f, "USER => {user}"),
            Owner::UserTable(user, table) => write!(f, "USER => {user}, TABLE => {table}"),
            Owner::UserNamespace(user, namespace) => write!(f, "USER => {user}, NAMESPACE => {namespace}"),
            Owner::Table(table) => write!(f, "TABLE => {table}"),
            Owner::Namespace(namespace) => write!(f, "NAMESPACE => {namespace}"),
            Owner::RegionServer(server) => write!(f, "REGIONSERVER => {server}"),
        }
    }
}

/// Tables of the default namespace have no prefix.
fn full_name(table: String) -> String {
    table.strip_prefix(DEFAULT_NAMESPACE).map(str::to_string).unwrap_or(table)
}

/// The row of a table.
pub fn table_row(table: &str) -> Vec<u8> {
    Owner::Table(table.to_string()).row()
}

/// The value of a settings cell.
pub fn encode(quotas: &pb::Quotas) -> Vec<u8> {
    let mut out = pb::PBUF_MAGIC.to_vec();
    out.extend_from_slice(&quotas.encode_to_vec());
    out
}

/// The quotas in a settings cell, or why they cannot be read.
pub fn decode(value: &[u8]) -> Result<pb::Quotas, String> {
    let body = value.strip_prefix(pb::PBUF_MAGIC).ok_or("the PBUF magic is missing")?;
    pb::Quotas::decode(body).map_err(|e| e.to_string())
}

/// The value of the exceed-throttle switch.
pub fn encode_switch(on: bool) -> Vec<u8> {
    vec![if on { 0xff } else { 0 }]
}

/// As HBase reads a boolean: one byte, on unless 0.
pub fn decode_switch(value: &[u8]) -> Result<bool, String> {
    match value {
        [byte] => Ok(*byte != 0),
        other => Err(format!("a switch has 1 byte, not {}", other.len())),
    }
}

/// The throttles of an owner that are set, with their types.
pub fn throttles(quotas: &pb::Quotas) -> impl Iterator<Item = (pb::ThrottleType, &pb::TimedQuota)> {
    let throttle = quotas.throttle.as_ref();
    TYPES.into_iter().filter_map(move |kind| Some((kind, slot_ref(throttle?, kind).as_ref()?)))
}

/// Every type of throttle.
pub const TYPES: [pb::ThrottleType; 13] = [
    pb::ThrottleType::RequestNumber,
    pb::ThrottleType::RequestSize,
    pb::ThrottleType::WriteNumber,
    pb::ThrottleType::WriteSize,
    pb::ThrottleType::ReadNumber,
    pb::ThrottleType::ReadSize,
    pb::ThrottleType::RequestCapacityUnit,
    pb::ThrottleType::WriteCapacityUnit,
    pb::ThrottleType::ReadCapacityUnit,
    pb::ThrottleType::AtomicReadSize,
    pb::ThrottleType::AtomicRequestNumber,
    pb::ThrottleType::AtomicWriteSize,
    pb::ThrottleType::RequestHandlerUsageMs,
];

macro_rules! slots {
    ($($kind:ident => $field:ident,)*) => {
        pub(crate) fn slot_ref(throttle: &pb::Throttle, kind: pb::ThrottleType) -> &Option<pb::TimedQuota> {
            match kind { $(pb::ThrottleType::$kind => &throttle.$field,)* }
        }
        /// Where a throttle keeps the limit of a type.
        pub(crate) fn slot(throttle: &mut pb::Throttle, kind: pb::ThrottleType) -> &mut Option<pb::TimedQuota> {
            match kind { $(pb::ThrottleType::$kind => &mut throttle.$field,)* }
        }
    };
}

slots! {
    RequestNumber => req_num,
    RequestSize => req_size,
    WriteNumber => write_num,
    WriteSize => write_size,
    ReadNumber => read_num,
    ReadSize => read_size,
    RequestCapacityUnit => req_capacity_unit,
    WriteCapacityUnit => write_capacity_unit,
    ReadCapacityUnit => read_capacity_unit,
    AtomicReadSize => atomic_read_size,
    AtomicRequestNumber => atomic_req_num,
    AtomicWriteSize => atomic_write_size,
    RequestHandlerUsageMs => req_handler_usage_ms,
}

/// Refuses quotas that nobody can enforce: a limit that is none, a unit of time that is none.
fn check(quotas: &pb::Quotas) -> Result<(), String> {
    for (kind, timed) in throttles(quotas) {
        let name = kind.as_str_name();
        if pb::TimeUnit::try_from(timed.time_unit).is_err() {
            return Err(format!("{name} has unit of time {}", timed.time_unit));
        }
        match timed.soft_limit {
            Some(limit) if limit >= 1 && i64::try_from(limit).is_ok() => {}
            Some(limit) => return Err(format!("{name} has limit {}", limit as i64)),
            None => return Err(format!("{name} has no limit")),
        }
    }
    if let Some(space) = &quotas.space
        && (space.soft_limit.is_none() || space.violation_policy.is_none())
    {
        return Err("the space quota has no limit or no policy".into());
    }
    Ok(())
}

/// Builds the settings from all cells of family q; what cannot be read is left out, with the reason.
pub fn read<'a>(cells: impl IntoIterator<Item = SettingsCell<'a>>) -> (Settings, Vec<Skipped>) {
    let (mut settings, mut skipped) = (Settings::default(), Vec::new());
    for cell in cells {
        if let Err(reason) = settings.add(&cell) {
            let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
            skipped.push(Skipped { row: text(cell.row), qualifier: text(cell.qualifier), reason });
        }
    }
    (settings, skipped)
}

impl Settings {
    fn add(&mut self, cell: &SettingsCell<'_>) -> Result<(), String> {
        if cell.row == EXCEED_ROW {
            if cell.qualifier != SETTINGS {
                return Err("an unknown column".into());
            }
            self.exceed = decode_switch(cell.value)?;
            return Ok(());
        }
        let owner = Owner::parse(cell.row, cell.qualifier)?;
        let quotas = decode(cell.value)?;
        check(&quotas)?;
        match owner {
            Owner::User(name) => self.user(name).global = Some(quotas),
            Owner::UserTable(name, table) => drop(self.user(name).tables.insert(table, quotas)),
            Owner::UserNamespace(name, namespace) => drop(self.user(name).namespaces.insert(namespace, quotas)),
            Owner::Table(table) => drop(self.tables.insert(table, quotas)),
            Owner::Namespace(namespace) => drop(self.namespaces.insert(namespace, quotas)),
            Owner::RegionServer(server) if server == ALL_SERVERS => self.region_server = Some(quotas),
            Owner::RegionServer(_) => return Err("only r.all counts, the quotas of every region server".into()),
        }
        Ok(())
    }

    /// Adds a cell of column u:priority, or says why it does not count.
    pub fn add_priority(&mut self, row: &[u8], value: &[u8]) -> Result<(), String> {
        let Some(priority) = Priority::parse(value) else {
            return Err(format!("{} is not online, default or batch", value.escape_ascii()));
        };
        match Owner::parse(row, SETTINGS)? {
            Owner::User(user) => self.priorities.users.insert(user, priority),
            Owner::Table(table) => self.priorities.tables.insert(table, priority),
            Owner::Namespace(namespace) => self.priorities.namespaces.insert(namespace, priority),
            _ => return Err("priorities are of users, tables and namespaces".into()),
        };
        Ok(())
    }

    fn user(&mut self, name: String) -> &mut UserSettings {
        self.users.entry(name).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(limit: u64) -> pb::TimedQuota {
        pb::TimedQuota {
            time_unit: pb::TimeUnit::Seconds as i32,
            soft_limit: Some(limit),
            share: None,
            scope: Some(pb::QuotaScope::Machine as i32),
        }
    }

    fn requests(limit: u64) -> pb::Quotas {
        let throttle = pb::Throttle { req_num: Some(timed(limit)), ..Default::default() };
        pb::Quotas { throttle: Some(throttle), ..Default::default() }
    }

    #[test]
    fn priorities_stand_beside_quotas() {
        let mut settings = Settings::default();
        let mut reasons = Vec::new();
        for (row, value) in
            [("u.bob", "batch"), ("t.ns:t", "online"), ("n.ns", "batch"), ("u.eve", "urgent"), ("r.all", "batch")]
        {
            reasons.extend(settings.add_priority(row.as_bytes(), value.as_bytes()).err());
        }
        let of = |user, table| settings.priorities.of(user, table);
        assert_eq!(
            [of("bob", "ns:t"), of("eve", "ns:t"), of("eve", "ns:other"), of("eve", "t")],
            [Priority::Batch, Priority::Online, Priority::Batch, Priority::Default]
        );
        assert_eq!(
            reasons,
            ["urgent is not online, default or batch", "priorities are of users, tables and namespaces"]
        );
        // A user with a priority alone still has the defaults.
        assert!(settings.users.is_empty());
    }

    /// The example of the page, as HBase 2.6.4 wrote it.
    #[test]
    fn a_cell_has_hbases_bytes() {
        let bytes = b"PBUF\x12\x08\x0a\x06\x08\x04\x10\x0a\x20\x02";
        assert_eq!(encode(&requests(10)), bytes);
        assert_eq!(decode(bytes), Ok(requests(10)));
        assert_eq!((encode_switch(true), encode_switch(false)), (vec![0xff], vec![0]));
        assert_eq!((decode_switch(b"\x01"), decode_switch(b"\x00")), (Ok(true), Ok(false)));
        assert!(decode_switch(b"").is_err());
    }

    #[test]
    fn owners_have_rows_and_columns() {
        let name = |text: &str| text.to_string();
        for (owner, row, qualifier, text) in [
            (Owner::User(name("bob")), "u.bob", "s", "USER => bob"),
            (Owner::UserTable(name("bob"), name("ns:t")), "u.bob", "s.ns:t", "USER => bob, TABLE => ns:t"),
            (Owner::UserTable(name("b.c"), name("t")), "u.b.c", "s.t", "USER => b.c, TABLE => t"),
            (Owner::UserNamespace(name("bob"), name("ns")), "u.bob", "s.ns:", "USER => bob, NAMESPACE => ns"),
            (Owner::Table(name("ns:t")), "t.ns:t", "s", "TABLE => ns:t"),
            (Owner::Namespace(name("ns")), "n.ns", "s", "NAMESPACE => ns"),
            (Owner::RegionServer(name("all")), "r.all", "s", "REGIONSERVER => all"),
        ] {
            assert_eq!((owner.row(), owner.qualifier()), (row.into(), qualifier.into()));
            assert_eq!(owner.to_string(), text);
            assert_eq!(Owner::parse(row.as_bytes(), qualifier.as_bytes()), Ok(owner));
        }
        assert_eq!(Owner::parse(b"t.default:x", b"s"), Ok(Owner::Table(name("x"))));
        for (row, qualifier, reason) in [
            ("x.y", "s", "an unknown kind of row"),
            ("t", "s", "an unknown kind of row"),
            ("u.", "s", "no user"),
            ("t.", "s", "no table"),
            ("u.bob", "s.", "no table"),
            ("u.bob", "s.:", "no namespace"),
            ("u.bob", "p", "an unknown column"),
            ("t.x", "s.y", "an unknown column"),
        ] {
            assert_eq!(
                Owner::parse(row.as_bytes(), qualifier.as_bytes()),
                Err(reason.to_string()),
                "{row} {qualifier}"
            );
        }
        assert!(Owner::parse(b"u.\xff", b"s").is_err());
    }

    #[test]
    fn settings_are_built_from_cells() {
        let value = encode(&requests(7));
        let rows = ["u.bob s", "u.bob s.t", "u.bob s.ns:", "u.eve s.t", "t.t s", "n.ns s", "r.all s"];
        let cells = rows.iter().map(|text| {
            let (row, qualifier) = text.split_once(' ').unwrap();
            SettingsCell { row: row.as_bytes(), qualifier: qualifier.as_bytes(), value: &value }
        });
        let switch = SettingsCell { row: EXCEED_ROW, qualifier: SETTINGS, value: &[0xff] };
        let (settings, skipped) = read(cells.chain([switch]));
        assert_eq!(skipped, []);
        let bob = &settings.users["bob"];
        assert_eq!((bob.global, bob.tables.len(), bob.namespaces.len()), (Some(requests(7)), 1, 1));
        let eve = &settings.users["eve"];
        assert_eq!((eve.global, eve.tables["t"]), (None, requests(7)));
        assert_eq!((settings.tables["t"], settings.namespaces["ns"]), (requests(7), requests(7)));
        assert_eq!((settings.region_server, settings.exceed), (Some(requests(7)), true));
    }

    #[test]
    fn what_cannot_be_read_is_named_and_left_out() {
        let reason = |row: &str, value: &[u8]| {
            let (settings, skipped) = read([SettingsCell { row: row.as_bytes(), qualifier: b"s", value }]);
            assert_eq!(settings, Settings::default());
            skipped[0].to_string()
        };
        let good = encode(&requests(1));
        assert_eq!(
            reason("r.host1", &good),
            "hbase:quota row r.host1 column q:s: only r.all counts, the quotas of every region server"
        );
        assert!(reason("u.bob", &good[4..]).ends_with("the PBUF magic is missing"));
        assert!(reason("u.bob", b"PBUF\xff").contains("hbase:quota row u.bob column q:s: "));
        assert!(reason("u.bob", &encode(&requests(0))).ends_with("REQUEST_NUMBER has limit 0"));
        assert!(reason("u.bob", &encode(&requests(u64::MAX))).ends_with("REQUEST_NUMBER has limit -1"));
        let mut quotas = requests(1);
        quotas.throttle.as_mut().unwrap().req_num.as_mut().unwrap().time_unit = 99;
        assert!(reason("u.bob", &encode(&quotas)).ends_with("REQUEST_NUMBER has unit of time 99"));
        let space = pb::SpaceQuota { soft_limit: Some(1), ..Default::default() };
        let quotas = pb::Quotas { space: Some(space), ..Default::default() };
        assert!(reason("t.t", &encode(&quotas)).ends_with("the space quota has no limit or no policy"));
        assert!(reason("exceedThrottleQuota", b"on").ends_with("a switch has 1 byte, not 2"));
    }

    #[test]
    fn every_type_has_its_place() {
        let mut quotas = pb::Quotas { throttle: Some(pb::Throttle::default()), ..Default::default() };
        for (i, kind) in TYPES.into_iter().enumerate() {
            *slot(quotas.throttle.as_mut().unwrap(), kind) = Some(timed(i as u64 + 1));
        }
        let limits: Vec<_> = throttles(&quotas).map(|(kind, t)| (kind as i32, t.soft_limit)).collect();
        assert_eq!(limits, (1..=13).map(|i| (i, Some(i as u64))).collect::<Vec<_>>());
        // Tags of Throttle are the numbers of the types.
        let tags: Vec<u8> = quotas.throttle.unwrap().encode_to_vec().chunks(8).map(|field| field[0] >> 3).collect();
        assert_eq!(tags, (1..=13).collect::<Vec<u8>>());
    }
}
