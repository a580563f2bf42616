//! Lengths: a limit for all, and a list of those that were longer when it was made, which may only become shorter.
//!
//! ```text
//! crates/x/src/a.rs 912          the file has 912 lines
//! crates/x/src/b.rs::name 81     the function has 81
//! ```

use super::source::Source;
use crate::{Outcome, at, root};
use std::collections::BTreeMap;

const FILE_LINES: usize = 800;
const FUNCTION_LINES: usize = 70;
const LIST: &str = "crates/xtask/tidy-allow.txt";

/// What is longer than its limit, by name.
type Lengths = BTreeMap<String, usize>;

pub fn check(files: &[Source], update: bool) -> Outcome<Vec<String>> {
    let list = root().join(LIST);
    let text = std::fs::read_to_string(&list).map_err(at(&list))?;
    let (allowed, long) = (parse(&text)?, measure(files));
    let problems = compare(&allowed, &long);
    if update {
        std::fs::write(&list, shrink(&text, &allowed, &long)).map_err(at(&list))?;
        return Ok(problems.into_iter().filter(|p| !p.ends_with(LOWER)).collect());
    }
    Ok(problems)
}

const LOWER: &str = "cargo xtask tidy --update writes it down";

fn parse(text: &str) -> Outcome<Lengths> {
    let mut lengths = Lengths::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let entry = line.rsplit_once(' ').and_then(|(name, n)| Some((name.to_owned(), n.parse().ok()?)));
        let (name, lines) = entry.ok_or_else(|| format!("{LIST}: not a name and a number: {line}"))?;
        lengths.insert(name, lines);
    }
    Ok(lengths)
}

fn measure(files: &[Source]) -> Lengths {
    let mut long = Lengths::new();
    for file in files {
        if file.lines() > FILE_LINES {
            long.insert(file.path.clone(), file.lines());
        }
        for function in file.functions().iter().filter(|f| f.lines > FUNCTION_LINES) {
            // Two of one name in a file: the longer counts.
            let lines = long.entry(format!("{}::{}", file.path, function.name)).or_default();
            *lines = (*lines).max(function.lines);
        }
    }
    long
}

fn compare(allowed: &Lengths, long: &Lengths) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, &lines) in long {
        match allowed.get(name) {
            None => problems.push(format!("{name}: {lines} lines, at most {} are allowed", limit(name))),
            Some(&most) if lines > most => problems.push(format!("{name}: {lines} lines, it had {most}")),
            Some(&most) if lines < most => problems.push(format!("{name}: now {lines} lines, not {most}: {LOWER}")),
            Some(_) => {}
        }
    }
    for name in allowed.keys().filter(|name| !long.contains_key(*name)) {
        problems.push(format!("{name}: is no longer too long: {LOWER}"));
    }
    problems
}

fn limit(name: &str) -> usize {
    if name.contains("::") { FUNCTION_LINES } else { FILE_LINES }
}

/// The list with its comments, every number lowered to what it is.
fn shrink(text: &str, allowed: &Lengths, long: &Lengths) -> String {
    let comments = text.lines().take_while(|l| l.starts_with('#'));
    let mut out: Vec<String> = comments.map(str::to_owned).collect();
    for (name, &most) in allowed {
        if let Some(&lines) = long.get(name) {
            out.push(format!("{name} {}", lines.min(most)));
        }
    }
    out.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_only_shrinks() {
        let text = "# why\na.rs 900\nb.rs::f 80\nc.rs::g 90\nd.rs 1000\n";
        let allowed = parse(text).unwrap();
        let long = parse("a.rs 901\nb.rs::f 75\nc.rs::g 90\ne.rs::h 71\n").unwrap();
        let want = [
            "a.rs: 901 lines, it had 900",
            "b.rs::f: now 75 lines, not 80: cargo xtask tidy --update writes it down",
            "e.rs::h: 71 lines, at most 70 are allowed",
            "d.rs: is no longer too long: cargo xtask tidy --update writes it down",
        ];
        assert_eq!(compare(&allowed, &long), want);
        assert_eq!(shrink(text, &allowed, &long), "# why\na.rs 900\nb.rs::f 75\nc.rs::g 90\n");
        assert!(parse("a.rs many").is_err());
    }
}
