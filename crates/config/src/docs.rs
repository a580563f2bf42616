//! `docs/config.md`, written from the option table.

use crate::keys;

/// The whole page.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Configuration\n\n<!-- Generated from crates/config/src/keys.rs: do not edit. \
         MARTITE_UPDATE=1 cargo test -p martite-config writes it anew. -->\n\n\
         Martite reads `hbase-site.xml`. The keys below have an effect; HBase's keys mean what they mean in HBase 2.6 \
         unless the text says otherwise. Any other key is listed once at start and left alone. `${key}` stands for the \
         value of another key, for `java.io.tmpdir`, `user.name`, `user.home`, `user.dir`, or, as `${env.NAME}`, for a \
         variable of the environment. Sizes may end in k, m, g or t, times in ms, s, m, h or d.\n\n\
         Keys marked ↻ take effect at `update_config`, without a restart.\n",
    );
    let mut section = "";
    for option in keys::ALL {
        if option.section != section {
            section = option.section;
            out.push_str(&format!("\n## {section}\n\n| Key | Type | Default | Meaning |\n|---|---|---|---|\n"));
        }
        let reload = if option.reloadable { " ↻" } else { "" };
        let also = match option.aliases {
            [] => String::new(),
            aliases => format!(" Also: `{}`.", aliases.join("`, `")),
        };
        let default = if option.default.is_empty() { String::new() } else { format!("`{}`", option.default) };
        let (key, kind, doc) = (option.key, option.kind, option.doc);
        out.push_str(&format!("| `{key}`{reload} | {kind} | {default} | {doc}{also} |\n"));
    }
    out
}

#[cfg(test)]
mod tests {
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
}
