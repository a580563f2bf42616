//! [`Loader`] puts files and settings on top of each other; [`Config`] is what comes out, and does not change.

use crate::expand::{expand, system_property};
use crate::kind::Kind;
use crate::{ConfigError, Effect, Key, Opt, Property, keys, site};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// As written, `${var}` unexpanded.
    raw: String,
    /// Expanded.
    value: String,
    file: String,
    is_final: bool,
}

/// Collects properties; later ones replace earlier ones, except final ones.
#[derive(Debug, Default)]
pub struct Loader {
    entries: BTreeMap<String, Entry>,
    ignored: Vec<String>,
}

impl Loader {
    pub fn new() -> Loader {
        Loader::default()
    }

    /// Adds the content of a file in the form of hbase-site.xml; `file` is for messages.
    pub fn file(mut self, file: &str, text: &str) -> Result<Loader, ConfigError> {
        for property in site::parse(file, text)? {
            self.insert(property, file);
        }
        Ok(self)
    }

    /// Adds one setting; `source` says where it comes from, such as "command line".
    pub fn set(mut self, key: &str, value: &str, source: &str) -> Loader {
        self.insert(Property { name: key.into(), value: value.into(), is_final: false }, source);
        self
    }

    fn insert(&mut self, property: Property, file: &str) {
        let Property { name, value, is_final } = property;
        if let Some(first) = self.entries.get(&name).filter(|e| e.is_final) {
            self.ignored.push(format!("{file}: {name} is ignored, it is final in {}", first.file));
            return;
        }
        self.entries.insert(name, Entry { value: value.clone(), raw: value, file: file.to_string(), is_final });
    }

    /// Expands variables and checks every value.
    pub fn load(self) -> Result<Config, ConfigError> {
        self.load_with(&system_property)
    }

    /// The same, with the system's properties from elsewhere.
    pub fn load_with(self, property: &dyn Fn(&str) -> Option<String>) -> Result<Config, ConfigError> {
        let Loader { entries, ignored } = self;
        let defaults: BTreeMap<&str, &str> = keys::ALL.iter().map(|o| (o.key, o.default)).collect();
        let lookup = |name: &str| {
            property(name)
                .or_else(|| entries.get(name).map(|e| e.raw.clone()))
                .or_else(|| defaults.get(name).map(|d| d.to_string()))
        };
        let mut expanded = BTreeMap::new();
        for (key, entry) in &entries {
            let fail = |why| value_error(&entry.file, key, &entry.raw, why);
            let value = expand(&entry.raw, &lookup).map_err(fail)?;
            expanded.insert(key.clone(), Entry { value, ..entry.clone() });
        }
        let mut default_values = BTreeMap::new();
        for option in keys::ALL {
            let fail = |why| value_error("defaults", option.key, option.default, why);
            default_values.insert(option.key, expand(option.default, &lookup).map_err(fail)?);
        }
        let config = Config { entries: expanded, defaults: default_values, ignored };
        config.check()?;
        Ok(config)
    }
}

fn value_error(file: &str, key: &str, value: &str, why: String) -> ConfigError {
    ConfigError::Value { file: file.into(), key: key.into(), value: value.into(), why }
}

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    entries: BTreeMap<String, Entry>,
    defaults: BTreeMap<&'static str, String>,
    ignored: Vec<String>,
}

impl Default for Config {
    /// Nothing but defaults.
    fn default() -> Config {
        let bare = Config { entries: BTreeMap::new(), defaults: BTreeMap::new(), ignored: Vec::new() };
        Loader::new().load().unwrap_or(bare)
    }
}

/// A key whose value differs between two configurations.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    pub key: &'static str,
    /// False: the change waits for a restart.
    pub reloadable: bool,
}

impl Config {
    /// A configuration of a few settings, for tests and embedded use.
    pub fn of(settings: &[(&str, &str)]) -> Result<Config, ConfigError> {
        settings.iter().fold(Loader::new(), |loader, (key, value)| loader.set(key, value, "settings")).load()
    }

    fn check(&self) -> Result<(), ConfigError> {
        for option in keys::ALL {
            if let Some((key, entry)) = self.entry(option) {
                (option.check)(&entry.value).map_err(|why| value_error(&entry.file, key, &entry.value, why))?;
            }
        }
        Ok(())
    }

    /// The entry of an option under its own name or an alias; an empty value counts as absent.
    fn entry(&self, option: &'static Opt) -> Option<(&'static str, &Entry)> {
        std::iter::once(&option.key)
            .chain(option.aliases)
            .filter_map(|key| self.entries.get(*key).map(|entry| (*key, entry)))
            .find(|(_, entry)| !entry.value.trim().is_empty())
    }

    /// The value of an option.
    pub fn get<K: Kind>(&self, key: Key<K>) -> K::Value {
        self.get_for(key, |_| None)
    }

    /// The value of an option where a table or a family may override it: `overrides` is asked first, and what it says
    /// counts if it parses (descriptors are checked where they are accepted).
    pub fn get_for<'a, K: Kind>(&self, key: Key<K>, overrides: impl Fn(&str) -> Option<&'a str>) -> K::Value {
        let option = key.option();
        let special = std::iter::once(&option.key).chain(option.aliases).find_map(|k| overrides(k));
        if let Some(value) = special.and_then(|text| K::parse(text).ok()) {
            return value;
        }
        match K::parse(&self.text_of(option)) {
            Ok(value) => value,
            Err(why) => unreachable!("{} was checked at load: {why}", option.key),
        }
    }

    fn text_of(&self, option: &'static Opt) -> String {
        if let Some((_, entry)) = self.entry(option) {
            return entry.value.clone();
        }
        match self.defaults.get(option.key) {
            Some(value) => value.clone(),
            None => option.default.to_string(),
        }
    }

    /// Whether somebody set the option.
    pub fn is_set<K: Kind>(&self, key: Key<K>) -> bool {
        self.entry(key.option()).is_some()
    }

    /// A value by its text key, known or not, expanded; defaults included.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|e| &e.value).or_else(|| self.defaults.get(key)).map(String::as_str)
    }

    /// Keys that were set and that no option knows, with their files, in order.
    pub fn unknown(&self) -> Vec<(&str, &str)> {
        let known: std::collections::BTreeSet<&str> =
            keys::ALL.iter().flat_map(|o| std::iter::once(&o.key).chain(o.aliases).copied()).collect();
        self.entries
            .iter()
            .filter(|(key, _)| !known.contains(key.as_str()))
            .map(|(key, entry)| (key.as_str(), entry.file.as_str()))
            .collect()
    }

    /// Keys that were set though nothing reads them yet, with their files.
    pub fn idle(&self) -> Vec<(&str, &str)> {
        let set = keys::ALL.iter().filter(|o| o.effect == Effect::Later).filter_map(|o| self.entry(o));
        set.map(|(key, entry)| (key, entry.file.as_str())).collect()
    }

    /// Settings that did not count because an earlier file made them final.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Every key with its value in force, where it comes from and whether it is final; for /conf.
    pub fn effective(&self) -> Vec<(&str, &str, &str, bool)> {
        let set = self.entries.iter().map(|(k, e)| (k.as_str(), e.value.as_str(), e.file.as_str(), e.is_final));
        let defaults = self.defaults.iter().filter(|(k, _)| !self.entries.contains_key(**k));
        let mut all: Vec<_> = set.chain(defaults.map(|(k, v)| (*k, v.as_str(), "defaults", false))).collect();
        all.sort_unstable();
        all
    }

    /// What a newer configuration changes.
    pub fn changes(&self, newer: &Config) -> Vec<Change> {
        keys::ALL
            .iter()
            .filter(|o| self.text_of(o) != newer.text_of(o))
            .map(|o| Change { key: o.key, reloadable: o.effect == Effect::Reload })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(files: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let mut loader = Loader::new();
        for (file, properties) in files {
            loader = loader.file(file, &format!("<configuration>{properties}</configuration>"))?;
        }
        loader.load_with(&|name| match name {
            "java.io.tmpdir" => Some("/tmp".into()),
            "user.name" => Some("alice".into()),
            _ => None,
        })
    }

    #[test]
    fn values_defaults_aliases_and_variables() {
        let config = load(&[(
            "site",
            "<property name='hbase.master.port' value='1'/><property name='hbase.hstore.compactionThreshold' value='7'/>
             <property name='hbase.regionserver.port' value=' '/>",
        )])
        .unwrap();
        assert_eq!((config.get(keys::MASTER_PORT), config.get(keys::REGIONSERVER_PORT)), (1, 16020));
        assert_eq!(config.get(keys::COMPACTION_MIN), 7);
        assert_eq!(config.get(keys::ROOTDIR), "/tmp/hbase-alice/hbase");
        assert_eq!(config.text("hbase.rootdir"), Some("/tmp/hbase-alice/hbase"));
        assert!(config.is_set(keys::MASTER_PORT) && !config.is_set(keys::ROOTDIR));
        assert_eq!(Config::default().get(keys::MASTER_PORT), 16000);
        assert_eq!(config.get_for(keys::COMPACTION_MIN, |k| (k == "hbase.hstore.compaction.min").then_some("9")), 9);
        assert_eq!(config.get_for(keys::COMPACTION_MIN, |_| Some("bad")), 7);
    }

    #[test]
    fn final_values_stay() {
        let config = load(&[
            ("one", "<property name='hbase.master.port' value='1' final='true'/>"),
            (
                "two",
                "<property name='hbase.master.port' value='2'/><property name='x.y' value='${hbase.master.port}'/>",
            ),
        ])
        .unwrap();
        assert_eq!(config.get(keys::MASTER_PORT), 1);
        assert_eq!(config.ignored(), ["two: hbase.master.port is ignored, it is final in one"]);
        assert_eq!((config.unknown(), config.text("x.y")), (vec![("x.y", "two")], Some("1")));
    }

    #[test]
    fn keys_that_nothing_reads_yet_are_told_apart() {
        let config = load(&[(
            "site.xml",
            "<property name='hbase.wal.provider' value='filesystem'/><property name='hbase.master.port' value='1'/>",
        )]);
        assert_eq!(config.unwrap().idle(), [("hbase.wal.provider", "site.xml")]);
    }

    #[test]
    fn bad_values_name_file_and_key() {
        let why = |key: &str, value: &str| {
            load(&[("site.xml", &format!("<property name='{key}' value='{value}'/>"))]).unwrap_err().to_string()
        };
        assert_eq!(
            why("hbase.master.port", "many"),
            "site.xml: hbase.master.port = \"many\": expected a port, 0 to 65535"
        );
        assert_eq!(
            why("hbase.hstore.compactionThreshold", "-3"),
            "site.xml: hbase.hstore.compactionThreshold = \"-3\": expected a whole number >= 0"
        );
        assert!(why("hbase.rootdir", "${hbase.rootdir}").contains("nested variables"));
    }

    #[test]
    fn changes_say_whether_they_need_a_restart() {
        let old = Config::default();
        let new = Config::of(&[("hbase.master.port", "1"), ("hbase.hstore.compaction.min", "5")]).unwrap();
        let rootdir = Change { key: "hbase.rootdir", reloadable: false };
        let changes: Vec<_> =
            old.changes(&new).into_iter().filter(|c| c.key.ends_with("port") || c.reloadable).collect();
        assert_eq!(
            changes,
            [
                Change { key: "hbase.master.port", reloadable: false },
                Change { key: "hbase.hstore.compaction.min", reloadable: true }
            ]
        );
        assert_ne!(changes[0], rootdir);
    }

    #[test]
    fn every_default_parses_and_every_key_is_there_once() {
        let mut seen = std::collections::BTreeSet::new();
        for option in keys::ALL {
            assert!(seen.insert(option.key), "{} is there twice", option.key);
            (option.check)(option.default).unwrap_or_else(|why| panic!("{}: {why}", option.key));
            assert!(option.doc.ends_with('.'), "{}: the doc is not a sentence", option.key);
        }
    }
}
