//! The pages of the info ports, under HBase's paths where HBase has such a page.

pub mod calls;
pub mod cluster;
pub mod limits;
pub mod procedures;
pub mod regions;
pub mod server;
pub mod snapshots;
pub mod tables;

use super::Shown;
use martite_proto as pb;
use martite_web::view::{Cell, Link, View};
use martite_web::{Asked, Refused};

/// What comes of a path.
pub type Answer = Result<View, Refused>;

type Draw = fn(&Shown, &Asked) -> Answer;

/// Paths, titles for tabs (none: a page of one thing, to which others lead), pages.
pub type Pages = &'static [(&'static str, Option<&'static str>, Draw)];

pub const OF_MASTER: Pages = &[
    ("/master-status", Some("Cluster"), cluster::page),
    ("/tablesDetailed.jsp", Some("Tables"), tables::all),
    ("/table.jsp", None, tables::one),
    ("/quotas.jsp", Some("Quotas"), limits::quotas),
    ("/snapshotsStats.jsp", Some("Snapshots"), snapshots::all),
    ("/snapshot.jsp", None, snapshots::one),
    ("/procedures.jsp", Some("Procedures & locks"), procedures::page),
];

pub const OF_REGION_SERVER: Pages = &[
    ("/rs-status", Some("Region server"), server::page),
    ("/regionserver.jsp", None, server::page),
    ("/calls", Some("Calls"), calls::page),
    ("/blockCache.jsp", Some("Block cache"), server::cache),
    ("/regions", Some("Regions"), regions::all),
    ("/region.jsp", None, regions::one),
    ("/limits", Some("Limits"), limits::usage),
];

/// Tabs of a port, and of what is on both.
pub fn tabs(pages: Pages, other: Option<Link>) -> Vec<Link> {
    let own = pages.iter().filter_map(|(path, title, _)| Some(link(*path, (*title)?)));
    own.chain([link("/conf?format=html", "Configuration"), link("/jmx", "Metrics")]).chain(other).collect()
}

pub fn find(pages: Pages, path: &str, shown: &Shown, asked: &Asked) -> Option<Answer> {
    pages.iter().find(|(known, ..)| *known == path).map(|(_, _, draw)| draw(shown, asked))
}

fn link(to: impl Into<String>, text: impl Into<String>) -> Link {
    Link { to: to.into(), text: text.into() }
}

/// What a page of one thing is asked for.
fn name(asked: &Asked) -> Result<&str, Refused> {
    asked.get("name").filter(|name| !name.is_empty()).ok_or_else(|| Refused::Wrong("name: whose page?".to_owned()))
}

/// A whole number, or what it is by itself.
fn number(asked: &Asked, field: &str, default: usize) -> Result<usize, Refused> {
    let Some(text) = asked.get(field) else { return Ok(default) };
    text.parse().map_err(|_| Refused::Wrong(format!("{field}: {text} is no whole number")))
}

/// At most so many lines are on a page.
const MOST: usize = 1000;

/// The part of a long list that was asked for (`from`), and what to say of the others.
fn part<'a, T>(all: &'a [T], asked: &Asked) -> Result<(&'a [T], String), Refused> {
    let from = number(asked, "from", 0)?.min(all.len());
    let to = all.len().min(from + MOST);
    let note = if from == to && !all.is_empty() {
        format!("There are {}, all of them before those that were asked for.", all.len())
    } else if to - from == all.len() {
        String::new()
    } else {
        format!("{} to {to} of {}; from=N in the address shows those from the Nth on.", from + 1, all.len())
    };
    Ok((&all[from..to], note))
}

/// Attributes and settings of a descriptor: `KEY => 'value'`.
fn attributes(attributes: &[pb::BytesBytesPair], settings: &[pb::NameStringPair]) -> Cell {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let attributes = attributes.iter().map(|pair| (text(&pair.first), text(&pair.second)));
    let settings = settings.iter().map(|pair| (pair.name.clone(), pair.value.clone()));
    let all: Vec<String> = attributes.chain(settings).map(|(key, value)| format!("{key} => '{value}'")).collect();
    if all.is_empty() { Cell::None } else { Cell::Code(all.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_shown_in_parts() {
        let of = |query: &str| Asked::parse(query).unwrap();
        let all: Vec<usize> = (0..2500).collect();
        let (first, note) = part(&all, &of("")).unwrap();
        assert_eq!((first.len(), first[0]), (1000, 0));
        assert!(note.starts_with("1 to 1000 of 2500;"), "{note}");
        let (last, note) = part(&all, &of("from=2000")).unwrap();
        assert_eq!((last.len(), last[0]), (500, 2000));
        assert!(note.starts_with("2001 to 2500 of 2500;"), "{note}");
        let (none, note) = part(&all, &of("from=9999")).unwrap();
        assert_eq!((none.len(), &*note), (0, "There are 2500, all of them before those that were asked for."));
        assert_eq!(part(&all[..3], &of("")).unwrap(), (&all[..3], String::new()));
        assert_eq!(part(&all, &of("from=-1")), Err(Refused::Wrong("from: -1 is no whole number".to_owned())));
    }

    #[test]
    fn each_page_has_a_path_of_its_own() {
        for pages in [OF_MASTER, OF_REGION_SERVER] {
            let mut paths: Vec<&str> = pages.iter().map(|(path, ..)| *path).collect();
            paths.sort_unstable();
            paths.dedup();
            assert_eq!(paths.len(), pages.len());
            assert!(pages[0].1.is_some(), "the first is where / leads");
        }
    }
}
