//! `${var}` in values: another key, or a property of the system.
//!
//! Worked example: `hbase.rootdir` = `${hbase.tmp.dir}/hbase`, `hbase.tmp.dir` = `${java.io.tmpdir}/hbase-${user.name}`
//! → `/tmp/hbase-alice/hbase`. What nobody knows stays as it is, as in Hadoop.

/// Rounds of substitution, as Hadoop's limit; a cycle ends here.
const MAX_DEPTH: usize = 20;

/// Replaces each `${name}` by what `lookup` says.
pub fn expand(value: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut text = value.to_string();
    for _ in 0..MAX_DEPTH {
        match expand_once(&text, lookup) {
            Some(next) => text = next,
            None => return Ok(text),
        }
    }
    Err(format!("more than {MAX_DEPTH} nested variables"))
}

/// Replaces the first variable that is known; None if there is none.
fn expand_once(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut from = 0;
    while let Some(start) = text[from..].find("${").map(|at| from + at) {
        let end = start + text[start..].find('}')?;
        let name = &text[start + 2..end];
        // The innermost of nested variables comes first.
        if let Some(inner) = name.rfind("${") {
            from = start + 2 + inner;
            continue;
        }
        if let Some(value) = lookup(name) {
            return Some(format!("{}{value}{}", &text[..start], &text[end + 1..]));
        }
        from = end + 1;
    }
    None
}

/// Java's system properties that values use, and `env.NAME` for the environment.
pub fn system_property(name: &str) -> Option<String> {
    let env = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    match name {
        "java.io.tmpdir" => {
            Some(env("TMPDIR").map_or_else(|| "/tmp".to_string(), |d| d.trim_end_matches('/').to_string()))
        }
        "user.name" => env("USER").or_else(|| env("LOGNAME")).or_else(|| Some("martite".into())),
        "user.home" => env("HOME"),
        "user.dir" => std::env::current_dir().ok().map(|d| d.to_string_lossy().into_owned()),
        _ => name.strip_prefix("env.").and_then(env),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let lookup = |name: &str| match name {
            "a" => Some("1".to_string()),
            "b" => Some("<${a}>".to_string()),
            "k1" => Some("nested".to_string()),
            "loop" => Some("${loop}".to_string()),
            _ => None,
        };
        assert_eq!(expand("x${a}y${b}", &lookup).unwrap(), "x1y<1>");
        assert_eq!(expand("${k${a}}", &lookup).unwrap(), "nested");
        assert_eq!(expand("${unknown}-${a}-${open", &lookup).unwrap(), "${unknown}-1-${open");
        assert!(expand("${loop}", &lookup).is_err());
        assert_eq!(system_property("no.such"), None);
        assert!(system_property("java.io.tmpdir").is_some());
    }
}
