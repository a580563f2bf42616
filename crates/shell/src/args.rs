//! The command line of `martite shell`, and the files that it names.

use crate::session::Setup;
use martite_client::{Options, Registry};
use std::path::{Path, PathBuf};

/// HBase's shell asks seven times again, not fifteen: a person waits.
const RETRIES: u32 = 7;

#[derive(Debug, clap::Args)]
pub struct ShellArgs {
    /// The cluster: host:port,… of its ZooKeeper, or hbase+rpc://host:port,… [default: what hbase-site.xml says, or localhost:2181]
    #[arg(long, value_name = "QUORUM")]
    pub zk: Option<String>,
    /// Folder with hbase-site.xml [default: HBASE_CONF_DIR]
    #[arg(long, value_name = "DIR")]
    pub conf: Option<PathBuf>,
    /// Not interactive: the first error ends the shell with exit code 1
    #[arg(short = 'n', long = "noninteractive")]
    pub noninteractive: bool,
    /// Show errors with their details
    #[arg(short = 'd', long = "debug")]
    pub debug: bool,
    /// Any setting of hbase-site.xml
    #[arg(short = 'D', value_name = "KEY=VALUE")]
    pub define: Vec<String>,
    /// For scripts written for HBase's shell; changes nothing
    #[arg(long, hide = true)]
    pub top_level_defs: bool,
    /// For scripts written for HBase's shell; changes nothing
    #[arg(short = 'r', long, hide = true)]
    pub return_values: bool,
    /// A file of commands
    pub script: Option<String>,
    /// The script's arguments (ARGV)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

/// Why the shell did not start.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    pub(crate) fn file(path: &str, error: &std::io::Error) -> Refused {
        Refused(format!("{path}: {error}"))
    }
}

impl ShellArgs {
    /// What hbase-site.xml and -D set.
    fn settings(&self) -> Result<Vec<(String, String)>, Refused> {
        let refused = |error: martite_config::ConfigError| Refused(error.to_string());
        let mut loader = martite_config::Loader::new();
        let folder = self.conf.clone().or_else(|| std::env::var_os("HBASE_CONF_DIR").map(PathBuf::from));
        if let Some(folder) = folder
            && let Some((name, text)) = site(&folder, self.conf.is_some())?
        {
            loader = loader.file(&name, &text).map_err(refused)?;
        }
        for define in &self.define {
            let (key, value) =
                define.split_once('=').ok_or_else(|| Refused(format!("-D {define}: expected KEY=VALUE")))?;
            loader = loader.set(key, value, "-D");
        }
        let config = loader.load().map_err(refused)?;
        let set = config.effective().into_iter().filter(|(_, _, source, _)| *source != "defaults");
        Ok(set.map(|(key, value, ..)| (key.to_owned(), value.to_owned())).collect())
    }

    pub fn setup(&self) -> Result<Setup, Refused> {
        let pairs = self.settings()?;
        let borrowed = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let mut options = Options::from_site(borrowed).map_err(|error| Refused(error.to_string()))?;
        if !pairs.iter().any(|(key, _)| key == "hbase.client.retries.number") {
            options = options.retries(RETRIES);
        }
        if let Some(quorum) = &self.zk {
            options.registry = quorum.parse::<Registry>().map_err(|error| Refused(error.to_string()))?;
        }
        let is_true = |name: &str| pairs.iter().rev().find(|(key, _)| key == name).is_some_and(|(_, v)| v == "true");
        Ok(Setup {
            options,
            interactive: !self.noninteractive,
            epoch_timestamps: is_true("hbase.shell.timestamp.format.epoch"),
            debug: self.debug,
        })
    }
}

/// hbase-site.xml of a folder: its name and its text; None: it is not there and need not be.
fn site(folder: &Path, must_exist: bool) -> Result<Option<(String, String)>, Refused> {
    let file = folder.join("hbase-site.xml");
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok(Some((file.display().to_string(), text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(None),
        Err(error) => Err(Refused(format!("{}: {error}", file.display()))),
    }
}
