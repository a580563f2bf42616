//! `docs/compatibility.md`, written from the tables that answer requests. What no table knows stands in the text beside
//! this file, `compatibility.md`, with `{{name}}` where a table goes.

use martite_catalog::family::BLOOMS;
use martite_cell::Codec;
use martite_compress::{Algorithm, StreamCodec};
use martite_hfile::Encoding;
use martite_master::Master;
use martite_proto::SERVICES;
use martite_regionserver::RegionServer;

const TEXT: &str = include_str!("compatibility.md");

/// What a method of HBase gets here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Answered,
    /// As HBase answers when the feature is switched off.
    Off,
    /// DoNotRetryIOException with the method's name.
    Refused,
}

/// Every method of HBase 2.6, by service.
fn methods() -> Vec<(&'static str, Vec<(&'static str, State)>)> {
    let of_service = |(service, methods): &(&'static str, &'static str)| {
        let (of_master, off) = Master::methods(service);
        let mut answered = RegionServer::methods(service);
        answered.extend(of_master);
        if *service == "ConnectionRegistryService" {
            // It has no connection header: the preamble asks.
            answered.push("GetConnectionRegistry");
        }
        let known: Vec<&str> = methods.split_whitespace().collect();
        if let Some(stranger) = answered.iter().find(|method| !known.contains(method)) {
            panic!("{service}.{stranger} is no method of HBase 2.6");
        }
        let state = |method: &str| match () {
            () if off.contains(&method) => State::Off,
            () if answered.contains(&method) => State::Answered,
            () => State::Refused,
        };
        (*service, known.into_iter().map(|method| (method, state(method))).collect())
    };
    SERVICES.iter().map(of_service).collect()
}

fn services() -> String {
    let mut out =
        String::from("| Service | Answered | Refused as with the feature off | Refused by name |\n|---|---|---|---|\n");
    for (service, methods) in methods() {
        let column = |wanted: State| {
            let names: Vec<&str> =
                methods.iter().filter(|(_, state)| *state == wanted).map(|(name, _)| *name).collect();
            match names.len() {
                0 => String::new(),
                n if n == methods.len() => format!("all {n}: {}", names.join(", ")),
                n => format!("{n}: {}", names.join(", ")),
            }
        };
        let columns = [State::Answered, State::Off, State::Refused].map(column);
        out.push_str(&format!("| {service} | {} |\n", columns.join(" | ")));
    }
    out
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn kinds() -> String {
    let compressions =
        |supported: bool| list(Algorithm::ALL.iter().filter(|a| a.supported() == supported).map(|a| a.name()));
    let rows = [
        ("Filters", list(martite_filter::filter_classes()), String::new()),
        ("Comparators", list(martite_filter::comparator_classes()), String::new()),
        ("Cell codecs of a connection", list(Codec::ALL.iter().map(|codec| codec.name())), String::new()),
        ("Compressors of a connection", list(StreamCodec::classes()), String::new()),
        ("Compressions of files", compressions(true), compressions(false)),
        ("Data block encodings", list(Encoding::ALL.iter().map(|encoding| encoding.name())), String::new()),
        ("Bloom filters", list(BLOOMS.into_iter()), String::new()),
    ];
    let mut out = String::from("| What | Known | Refused when a table is created |\n|---|---|---|\n");
    rows.iter().for_each(|(what, known, refused)| out.push_str(&format!("| {what} | {known} | {refused} |\n")));
    out
}

/// The whole page.
fn markdown() -> String {
    TEXT.replace("{{services}}\n", &services()).replace("{{kinds}}\n", &kinds())
}

#[test]
fn the_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md");
    let page = markdown();
    assert!(!page.contains("{{"), "a table that does not exist");
    if std::env::var_os("MARTITE_UPDATE").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let current = std::fs::read_to_string(path).unwrap_or_default();
    assert!(current == page, "docs/compatibility.md is old: run with MARTITE_UPDATE=1");
}

#[test]
fn every_method_is_counted_once() {
    let all = methods();
    let count = |state: State| all.iter().flat_map(|(_, methods)| methods).filter(|(_, s)| *s == state).count();
    let named: usize = SERVICES.iter().map(|(_, methods)| methods.split_whitespace().count()).sum();
    assert_eq!(count(State::Answered) + count(State::Off) + count(State::Refused), named);
    let of = |service: &str, method: &str| {
        let (_, methods) = all.iter().find(|(name, _)| *name == service).unwrap();
        methods.iter().find(|(name, _)| *name == method).unwrap().1
    };
    assert_eq!(of("ClientService", "Get"), State::Answered);
    assert_eq!(of("MasterService", "SetQuota"), State::Answered);
    assert_eq!(of("MasterService", "Grant"), State::Off);
    assert_eq!(of("LockService", "RequestLock"), State::Refused);
}
