//! The layers of ARCHITECTURE.md against what cargo says the crates depend on.

use crate::{Outcome, cargo};

/// Development only: they may use anything, and nothing that ships may use them.
const DEV: u8 = 9;

const LAYERS: &[(&str, u8)] = &[
    ("martite-proto", 0),
    ("martite-cell", 0),
    ("martite-compress", 0),
    ("martite-config", 0),
    ("martite-env", 0),
    ("martite-metrics", 0),
    ("martite-plot", 0),
    ("martite-filter", 1),
    ("martite-blockcache", 1),
    ("martite-hfile", 1),
    ("martite-wal", 1),
    ("martite-catalog", 1),
    ("martite-quota", 1),
    ("martite-rpc", 1),
    ("martite-zk", 1),
    ("martite-store", 2),
    ("martite-region", 2),
    ("martite-client", 2),
    ("martite-regionserver", 3),
    ("martite-master", 3),
    ("martite-shell", 3),
    ("martite-import", 3),
    ("martite-web", 3),
    ("martite-gateway", 3),
    ("martite-bench", 4),
    ("martite", 4),
    ("martite-testkit", DEV),
    ("martite-sim", DEV),
    ("martite-fuzz", DEV),
    ("xtask", DEV),
];

/// Crates of one layer that may use each other nevertheless: upper, lower.
const WITHIN: &[(&str, &str)] = &[("martite-region", "martite-store"), ("martite", "martite-bench")];

/// Settings are for the upper layers; what is below gets plain structs.
const LOWEST_THAT_READS_CONFIG: u8 = 3;

/// What ships, dependency by dependency: `--prefix depth` writes 0 before a crate and 1 before what it uses.
pub fn check() -> Outcome<Vec<String>> {
    let args =
        ["tree", "--workspace", "--edges", "normal,build", "--depth", "1", "--prefix", "depth", "--format", "{p}"];
    let output = cargo().args(args).output().map_err(|e| format!("cargo tree: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(problems(&String::from_utf8_lossy(&output.stdout)))
}

fn problems(tree: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut user = "";
    for line in tree.lines() {
        let name = line.get(1..).unwrap_or_default().split(' ').next().unwrap_or_default();
        if line.starts_with('0') {
            user = name;
            if layer(name).is_none() {
                problems.push(format!("{name}: has no layer in crates/xtask/src/tidy/layers.rs and ARCHITECTURE.md"));
            }
        } else if let (Some(upper), Some(lower)) = (layer(user), layer(name)) {
            if upper != DEV && (lower == DEV || (lower >= upper && !WITHIN.contains(&(user, name)))) {
                problems.push(format!("{user} (layer {upper}) uses {name} (layer {lower})"));
            }
            if name == "martite-config" && upper < LOWEST_THAT_READS_CONFIG {
                problems.push(format!("{user} (layer {upper}) reads the configuration"));
            }
        }
    }
    problems
}

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

#[cfg(test)]
mod tests {
    use super::problems;

    #[test]
    fn upward_edges_and_unknown_crates_are_found() {
        let tree = "\
0martite-store v0.1.0 (/r/crates/store)
1martite-hfile v0.1.0 (/r/crates/hfile)
1bytes v1.0.0

0martite-hfile v0.1.0 (/r/crates/hfile)
1martite-store v0.1.0 (/r/crates/store)
1martite-wal v0.1.0 (/r/crates/wal)
1martite-config v0.1.0 (/r/crates/config)
0martite-region v0.1.0 (/r/crates/region)
1martite-store v0.1.0 (/r/crates/store)
1martite-testkit v0.1.0 (/r/crates/testkit)
0martite-new v0.1.0 (/r/crates/new)
0xtask v0.1.0 (/r/crates/xtask)
1martite-testkit v0.1.0 (/r/crates/testkit)
";
        let want = [
            "martite-hfile (layer 1) uses martite-store (layer 2)",
            "martite-hfile (layer 1) uses martite-wal (layer 1)",
            "martite-hfile (layer 1) reads the configuration",
            "martite-region (layer 2) uses martite-testkit (layer 9)",
            "martite-new: has no layer in crates/xtask/src/tidy/layers.rs and ARCHITECTURE.md",
        ];
        assert_eq!(problems(tree), want);
    }
}
