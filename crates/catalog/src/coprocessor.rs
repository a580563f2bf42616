//! [`CoprocessorSpec`]: a table's `coprocessor$N` attribute, `path|class|priority|key=value,…`.

use std::collections::BTreeMap;

/// HBase's Coprocessor.PRIORITY_USER.
pub const PRIORITY_USER: i32 = i32::MAX / 2;
/// HBase's Coprocessor.PRIORITY_SYSTEM.
pub const PRIORITY_SYSTEM: i32 = i32::MAX / 4;

/// A coprocessor that a table asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoprocessorSpec {
    /// Jar; None: the class comes with the server.
    pub path: Option<String>,
    pub class: String,
    pub priority: i32,
    pub arguments: BTreeMap<String, String>,
}

impl CoprocessorSpec {
    /// Reads an attribute's value; None if it has no class or a bad priority.
    pub fn parse(value: &str) -> Option<CoprocessorSpec> {
        let mut parts = value.trim().splitn(4, '|');
        let path = parts.next()?.trim();
        let class = parts.next()?.trim();
        let priority = parts.next()?.trim();
        let arguments = parts.next().unwrap_or("");
        if class.is_empty() {
            return None;
        }
        let priority = if priority.is_empty() { PRIORITY_USER } else { priority.parse().ok()? };
        let arguments = arguments
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .filter(|(key, value)| !key.is_empty() && !value.is_empty())
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        Some(CoprocessorSpec {
            path: (!path.is_empty()).then(|| path.to_string()),
            class: class.to_string(),
            priority,
            arguments,
        })
    }

    /// The attribute's value.
    pub fn to_text(&self) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(|(k, v)| format!("{k}={v}")).collect();
        format!("{}|{}|{}|{}", self.path.as_deref().unwrap_or(""), self.class, self.priority, arguments.join(","))
    }
}

/// Whether `key` is `coprocessor$` and a number, in any case.
pub fn is_coprocessor_key(key: &[u8]) -> bool {
    let Some((prefix, number)) = key.split_at_checked(b"coprocessor$".len()) else { return false };
    prefix.eq_ignore_ascii_case(b"coprocessor$") && !number.is_empty() && number.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_round_trip() {
        let spec = CoprocessorSpec::parse("hdfs:///foo.jar|com.foo.Observer| 1001 |arg1=1,arg2=2").unwrap();
        assert_eq!(spec.path.as_deref(), Some("hdfs:///foo.jar"));
        assert_eq!(
            (spec.class.as_str(), spec.priority, spec.arguments["arg2"].as_str()),
            ("com.foo.Observer", 1001, "2")
        );
        assert_eq!(spec.to_text(), "hdfs:///foo.jar|com.foo.Observer|1001|arg1=1,arg2=2");
        assert_eq!(CoprocessorSpec::parse("|c||").unwrap().priority, 1_073_741_823);
        assert_eq!(CoprocessorSpec::parse("|  |1|"), None);
        assert_eq!(CoprocessorSpec::parse("|c|x|"), None);
        assert!(
            is_coprocessor_key(b"Coprocessor$12")
                && !is_coprocessor_key(b"coprocessor$")
                && !is_coprocessor_key(b"cop")
        );
    }
}
