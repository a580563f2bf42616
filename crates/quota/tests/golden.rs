//! Golden scripts of who passes when: limits, scopes, the order of those who wait. The time is the script's.
//!
//! ```text
//! limit OWNER KIND AMOUNT/UNIT     set a limit; OWNER: user=u, user=u/t, user=u/ns:, table=t, namespace=ns, server, default
//! unlimit OWNER | bypass u | exceed on|off | throttling on|off
//! at MS                            what follows happens at this time; what waits and is due passes first
//! call NAME USER TABLE OP [field=n …] [timeout=MS] [bytes=N]     OP: get, scan, put, increment, multi
//! done NAME [rows=n] [read=n] [handler=ms]                        what it took in truth
//! gone NAME                        its client has gone
//! crowd N USER TABLE OP            N calls at once
//! keep N USER TABLE OP             from now on N calls of the kind wait: for each that passes another one comes
//! until MS [every=MS]              time passes; counts who passes in each second
//! owed                             what limiters are owed
//! ```
//! `MARTITE_UPDATE=1` writes what is answered into the scripts.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

use martite_proto as pb;
use martite_quota::{
    Answer, Bounds, CapacityUnits, Cost, Gate, Key, Kind, Operation, Passed, Plan, Request, Settings, Ticket, Woken,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

const MS: u64 = 1_000_000;
/// When scripts begin, as a server's clock would be when it has run for a day.
const START_NS: u64 = 86_400_000 * MS;

struct World {
    settings: Settings,
    default_user: pb::Throttle,
    throttling: bool,
    gate: Gate<Vec<String>>,
    now_ns: u64,
    gone: BTreeSet<String>,
    tickets: BTreeMap<String, (Ticket, Cost)>,
    requests: BTreeMap<String, (Key, Operation, Cost, Option<u64>, usize)>,
    serial: u64,
    /// Users whose calls come again.
    kept: BTreeSet<String>,
    out: String,
}

impl World {
    fn new() -> World {
        let bounds = Bounds { calls_per_user: 100, bytes_per_user: 10_000 };
        World {
            settings: Settings::default(),
            default_user: pb::Throttle::default(),
            throttling: true,
            gate: Gate::new(Plan::off(), CapacityUnits::default(), bounds),
            now_ns: START_NS,
            gone: BTreeSet::new(),
            tickets: BTreeMap::new(),
            requests: BTreeMap::new(),
            serial: 0,
            kept: BTreeSet::new(),
            out: String::new(),
        }
    }

    fn run(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["limit", owner, kind, limit] => self.limit(owner, kind, Some(limit)),
            ["unlimit", owner, kind] => self.limit(owner, kind, None),
            ["bypass", user] => {
                let quotas = self.settings.users.entry(user.to_owned()).or_default().global.get_or_insert_default();
                quotas.bypass_globals = Some(true);
                self.change();
            }
            ["exceed", on] => {
                self.settings.exceed = on == "on";
                self.change();
            }
            ["throttling", on] => {
                self.throttling = on == "on";
                self.change();
            }
            ["at", ms] => {
                self.now_ns = START_NS + ms.parse::<u64>().unwrap() * MS;
                self.wake();
            }
            ["call", name, user, table, operation, ..] => self.call(name, user, table, operation, &fields(&words[5..])),
            ["done", name, ..] => self.done(name, &fields(&words[2..])),
            ["gone", name] => drop(self.gone.insert(name.to_owned())),
            ["sweep"] => {
                let gone = &self.gone;
                let out = self.gate.sweep(self.now_ns, |names| gone.contains(&names[0]));
                writeln!(self.out, "left: {}", out.concat().join(" ")).unwrap();
            }
            ["crowd", count, user, table, operation] => {
                for _ in 0..count.parse().unwrap() {
                    self.serial += 1;
                    self.call(&format!("#{}", self.serial), user, table, operation, &BTreeMap::new());
                }
            }
            ["keep", count, user, table, operation] => {
                for i in 0..count.parse().unwrap() {
                    self.call(&format!("#{user}-{i}"), user, table, operation, &BTreeMap::new());
                }
                self.kept.insert(user.to_owned());
            }
            ["until", ms, ..] => {
                self.until(ms.parse().unwrap(), fields(&words[2..]).get("every").copied().unwrap_or(1))
            }
            ["owed"] => {
                for (owner, limit, owed) in self.gate.owed(self.now_ns) {
                    writeln!(self.out, "{owner}: {limit}: {owed}").unwrap();
                }
            }
            _ => panic!("{line}"),
        }
    }

    fn throttle(&mut self, owner: &str) -> &mut pb::Throttle {
        let settings = &mut self.settings;
        let quotas = match owner.split_once('=') {
            None if owner == "default" => return &mut self.default_user,
            None => settings.region_server.get_or_insert_default(),
            Some(("table", table)) => settings.tables.entry(table.to_owned()).or_default(),
            Some(("namespace", namespace)) => settings.namespaces.entry(namespace.to_owned()).or_default(),
            Some((_, user)) => match user.split_once('/') {
                None => settings.users.entry(user.to_owned()).or_default().global.get_or_insert_default(),
                Some((user, what)) => {
                    let user = settings.users.entry(user.to_owned()).or_default();
                    match what.strip_suffix(':') {
                        Some(namespace) => user.namespaces.entry(namespace.to_owned()).or_default(),
                        None => user.tables.entry(what.to_owned()).or_default(),
                    }
                }
            },
        };
        quotas.throttle.get_or_insert_default()
    }

    fn limit(&mut self, owner: &str, kind: &str, limit: Option<&str>) {
        let quota = limit.map(|limit| {
            let (amount, unit) = limit.split_once('/').unwrap();
            let unit = match unit {
                "ms" => pb::TimeUnit::Milliseconds,
                "sec" => pb::TimeUnit::Seconds,
                "min" => pb::TimeUnit::Minutes,
                "hour" => pb::TimeUnit::Hours,
                _ => pb::TimeUnit::Days,
            };
            let soft_limit = Some(amount.parse().unwrap());
            pb::TimedQuota { time_unit: unit as i32, soft_limit, share: None, scope: None }
        });
        let kind = Kind::ALL.into_iter().find(|k| k.name() == kind).unwrap();
        *kind.of_mut(self.throttle(owner)) = quota;
        self.change();
    }

    fn change(&mut self) {
        let plan = Plan::new(Arc::new(self.settings.clone()), self.default_user);
        let plan = if self.throttling { plan } else { Plan::off() };
        for returned in self.gate.change(plan, self.now_ns) {
            let _ = self.arrive(returned.item.concat());
        }
    }

    fn call(&mut self, name: &str, user: &str, table: &str, operation: &str, fields: &BTreeMap<&str, u64>) {
        let field = |name, default| fields.get(name).copied().unwrap_or(default);
        let (operation, mut cost) = match operation {
            "get" => (Operation::Get, Cost { reads: 1, rows: 1, ..Cost::default() }),
            "scan" => (Operation::Scan, Cost { reads: 1, ..Cost::default() }),
            "put" => (Operation::Mutate, Cost { writes: 1, write_bytes: 100, ..Cost::default() }),
            "increment" => (
                Operation::Mutate,
                Cost { reads: 1, rows: 1, writes: 1, write_bytes: 100, is_atomic: true, ..Cost::default() },
            ),
            _ => (Operation::Multi, Cost::default()),
        };
        cost.reads = field("gets", cost.reads);
        cost.rows = cost.rows.max(field("gets", 0));
        cost.writes = field("puts", cost.writes);
        cost.write_bytes = field("write", cost.write_bytes);
        let key = Key { user: user.into(), table: table.into() };
        let deadline = fields.get("timeout").map(|ms| self.now_ns + ms * MS);
        self.requests.insert(name.to_owned(), (key, operation, cost, deadline, field("bytes", 50) as usize));
        let _ = self.arrive(name.to_owned());
    }

    /// True: it passes at once.
    fn arrive(&mut self, name: String) -> bool {
        let (key, operation, cost, deadline_ns, size_bytes) = self.requests[&name].clone();
        let request = Request { key: &key, operation, cost, calls: 1, size_bytes, deadline_ns };
        let quiet = name.starts_with('#');
        let answer = match self.gate.ask(&request, self.now_ns) {
            Answer::Free => "is free".to_owned(),
            Answer::Passes(ticket) => {
                self.tickets.insert(name.clone(), (ticket, cost));
                "passes".to_owned()
            }
            Answer::Waits(place) => {
                self.gate.park(place, vec![name.clone()], self.now_ns);
                "waits".to_owned()
            }
            Answer::Refused(refusal) => refusal.to_string(),
        };
        if !quiet {
            writeln!(self.out, "{name}: {answer}").unwrap();
        }
        answer == "passes"
    }

    fn done(&mut self, name: &str, fields: &BTreeMap<&str, u64>) {
        let (ticket, mut cost) = self.tickets.remove(name).unwrap();
        cost.rows = fields.get("rows").copied().unwrap_or(cost.rows);
        cost.read_bytes = fields.get("read").copied().unwrap_or(0);
        cost.handler_ns = fields.get("handler").copied().unwrap_or(0) * MS;
        self.gate.settle(&ticket, [cost], self.now_ns);
    }

    fn woken(&mut self) -> Vec<(String, u64)> {
        let (mut woken, gone) = (Woken::default(), &self.gone);
        // In portions as the server does: nobody is the better or worse for it.
        while self.gate.wake(self.now_ns, |names| gone.contains(&names[0]), &mut woken, 3) {}
        for name in woken.gone.into_iter().flatten() {
            writeln!(self.out, "{name}: is gone").unwrap();
        }
        let mut names = Vec::new();
        for Passed { item, ticket, cost, .. } in woken.pass {
            let [name] = item.try_into().unwrap();
            names.push((name.clone(), ticket.parked_ns));
            self.tickets.insert(name, (ticket, cost));
        }
        names
    }

    fn wake(&mut self) {
        for (name, parked_ns) in self.woken() {
            writeln!(self.out, "{name}: passes after {} ms", parked_ns / MS).unwrap();
        }
    }

    /// Counts who passes in each second, by user and table, and what is settled at once.
    fn until(&mut self, ms: u64, every: u64) {
        let end = START_NS + ms * MS;
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        while self.now_ns < end {
            self.now_ns += every * MS;
            loop {
                let woken = self.woken();
                if woken.is_empty() {
                    break;
                }
                for (name, _) in woken {
                    let key = &self.requests[&name].0;
                    let (kept, named) = (self.kept.contains(&*key.user), (key.user.to_string(), key.table.to_string()));
                    let count = counts.entry(named).or_default();
                    *count += 1;
                    while kept && self.arrive(name.clone()) {
                        *count += 1;
                    }
                }
            }
            if (self.now_ns - START_NS).is_multiple_of(1000 * MS) {
                let second = (self.now_ns - START_NS) / (1000 * MS);
                let said: Vec<String> =
                    std::mem::take(&mut counts).into_iter().map(|((u, t), n)| format!("{u}/{t} {n}")).collect();
                writeln!(self.out, "second {second}: {}", said.join(", ")).unwrap();
            }
        }
    }
}

fn fields<'a>(words: &[&'a str]) -> BTreeMap<&'a str, u64> {
    words.iter().map(|word| word.split_once('=').unwrap()).map(|(name, n)| (name, n.parse().unwrap())).collect()
}

/// A script: prose, then blocks of commands, each with what it answers after `----`.
fn rewrite(script: &str) -> String {
    let mut world = World::new();
    let mut result = String::new();
    let mut in_answer = false;
    for line in script.lines() {
        match line {
            "----" => {
                writeln!(result, "----\n{}", std::mem::take(&mut world.out)).unwrap();
                in_answer = true;
            }
            "" if in_answer => in_answer = false,
            _ if in_answer => {}
            line => {
                writeln!(result, "{line}").unwrap();
                if !line.is_empty() && !line.starts_with('#') {
                    world.run(line);
                }
            }
        }
    }
    format!("{}\n", result.trim_end())
}

#[test]
fn scripts_answer_what_they_say() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let script = std::fs::read_to_string(&path).unwrap();
        let answer = rewrite(&script);
        if std::env::var_os("MARTITE_UPDATE").is_some() {
            std::fs::write(&path, &answer).unwrap();
        } else if answer != script {
            wrong.push(format!("{}:\n{answer}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
