//! `docs/config.md`, written from the option table.

use crate::{Effect, Opt, keys};

/// The whole page.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Configuration\n\n<!-- Generated from crates/config/src/keys.rs: do not edit. \
         MARTITE_UPDATE=1 cargo test -p martite-config writes it anew. -->\n\n\
         Martite reads `hbase-site.xml`. HBase's keys mean what they mean in HBase 2.6 unless the text says otherwise. \
         Any other key is listed once at start and left alone. `${key}` stands for the value of another key, for \
         `java.io.tmpdir`, `user.name`, `user.home`, `user.dir`, or, as `${env.NAME}`, for a variable of the \
         environment. Sizes may end in k, m, g or t, times in ms, s, m, h or d.\n\n\
         A change waits for the next start: `update_config` is accepted and reloads nothing yet. ↻ marks the keys that it \
         is going to reload.\n",
    );
    let mut section = "";
    for option in keys::ALL.iter().filter(|o| o.effect != Effect::Later) {
        if option.section != section {
            section = option.section;
            out.push_str(&format!("\n## {section}\n\n{HEAD}"));
        }
        out.push_str(&line(option));
    }
    out.push_str(&format!(
        "\n## Without effect yet\n\nThese keys are known and their values checked, and that is all; the start lists those \
         that are set.\n\n{HEAD}"
    ));
    keys::ALL.iter().filter(|o| o.effect == Effect::Later).for_each(|o| out.push_str(&line(o)));
    out
}

const HEAD: &str = "| Key | Type | Default | Meaning |\n|---|---|---|---|\n";

fn line(option: &Opt) -> String {
    let reload = if option.effect == Effect::Reload { " ↻" } else { "" };
    let also = match option.aliases {
        [] => String::new(),
        aliases => format!(" Also: `{}`.", aliases.join("`, `")),
    };
    let default = if option.default.is_empty() { String::new() } else { format!("`{}`", option.default) };
    let (key, kind, doc) = (option.key, option.kind, option.doc);
    format!("| `{key}`{reload} | {kind} | {default} | {doc}{also} |\n")
}

#[cfg(test)]
mod tests {
    use crate::{Effect, keys};
    use std::path::Path;

    #[test]
    fn the_page_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config.md");
        let page = super::markdown();
        if std::env::var_os("MARTITE_UPDATE").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let current = std::fs::read_to_string(path).unwrap_or_default();
        assert!(current == page, "docs/config.md is old: run with MARTITE_UPDATE=1");
    }

    /// What the other crates' sources read as `keys::NAME`.
    fn collect(dir: &Path, text: &mut String) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, text);
            } else if path.extension().is_some_and(|e| e == "rs") {
                text.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    #[test]
    fn an_option_is_read_somewhere_or_says_that_it_is_not() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut sources = String::new();
        for entry in std::fs::read_dir(&crates).unwrap() {
            let dir = entry.unwrap().path();
            if !dir.ends_with("config") && dir.join("src").is_dir() {
                collect(&dir.join("src"), &mut sources);
            }
        }
        let table = include_str!("keys.rs");
        let read: std::collections::BTreeSet<&str> = sources
            .split("keys::")
            .skip(1)
            .filter_map(|s| s.split(|c: char| c != '_' && !c.is_ascii_uppercase()).next())
            .collect();
        for option in keys::ALL {
            let row = table.split('\n').find(|l| l.contains(&format!("= \"{}\",", option.key))).unwrap();
            let name = row.trim_start().split(':').next().unwrap();
            // A key may also count as a part of another one's default.
            let is_read = read.contains(name) || table.contains(&format!("${{{}}}/", option.key));
            assert_eq!(is_read, option.effect != Effect::Later, "{}: start, reload or later?", option.key);
        }
    }
}
