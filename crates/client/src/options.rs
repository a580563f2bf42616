//! [`Options`]: how a connection behaves. Names in brackets are HBase's settings, defaults are HBase 2.6's.

use crate::{Error, Registry};
use std::time::Duration;

/// What a connection is told when it is made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    pub registry: Registry,
    /// Who asks. With simple authentication servers believe it.
    pub user: String,
    /// An operation with all its repetitions (`hbase.client.operation.timeout`).
    pub operation_timeout: Duration,
    /// The search for a region in hbase:meta (`hbase.client.meta.operation.timeout`).
    pub meta_operation_timeout: Duration,
    /// One call (`hbase.rpc.timeout`).
    pub rpc_timeout: Duration,
    /// One call that reads (`hbase.rpc.read.timeout`); none: `rpc_timeout`.
    pub read_rpc_timeout: Option<Duration>,
    /// One call that writes (`hbase.rpc.write.timeout`); none: `rpc_timeout`.
    pub write_rpc_timeout: Option<Duration>,
    /// One call of a scanner (`hbase.client.scanner.timeout.period`).
    pub scanner_timeout: Duration,
    /// Making a connection (`hbase.ipc.client.socket.timeout.connect`).
    pub connect_timeout: Duration,
    /// A server to which no connection could be made is not tried again for this long
    /// (`hbase.ipc.client.failed.servers.expiry`).
    pub failed_server_expiry: Duration,
    /// Attempts after the first (`hbase.client.retries.number`).
    pub retries: u32,
    /// Unit of the waits between attempts (`hbase.client.pause`).
    pub pause: Duration,
    /// The same for servers that are overloaded (`hbase.client.pause.server.overloaded`).
    pub pause_overloaded: Duration,
    /// Rows that one call of a scanner asks for (`hbase.client.scanner.caching`).
    pub scanner_caching: u32,
    /// Bytes that one call of a scanner asks for (`hbase.client.scanner.max.result.size`).
    pub scanner_max_result_bytes: u64,
    /// Neighbours that a search for a region reads, too (`hbase.client.locate.prefetch.limit`).
    pub locate_prefetch: u32,
    /// Largest request that a batch is put into (`hbase.client.max.perrequest.heapsize`).
    pub max_request_bytes: usize,
    /// Largest cell that is sent (`hbase.client.keyvalue.maxsize`); 0: any.
    pub max_cell_bytes: usize,
    /// Increments and appends are known by a number, so that a repetition is harmless (`hbase.client.nonces.enabled`).
    pub nonces: bool,
    /// Java class of the codec of cell blocks (`hbase.client.rpc.codec`).
    pub codec: String,
    /// Java class that compresses cell blocks (`hbase.client.rpc.compressor`).
    pub compressor: Option<String>,
}

impl Options {
    pub fn new(registry: Registry) -> Options {
        Options {
            registry,
            user: std::env::var("HADOOP_USER_NAME")
                .or_else(|_| std::env::var("USER"))
                .unwrap_or_else(|_| "root".into()),
            operation_timeout: Duration::from_secs(1200),
            meta_operation_timeout: Duration::from_secs(1200),
            rpc_timeout: Duration::from_secs(60),
            read_rpc_timeout: None,
            write_rpc_timeout: None,
            scanner_timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            failed_server_expiry: Duration::from_secs(2),
            retries: 15,
            pause: Duration::from_millis(100),
            pause_overloaded: Duration::from_millis(100),
            scanner_caching: i32::MAX as u32,
            scanner_max_result_bytes: 2 << 20,
            locate_prefetch: 10,
            max_request_bytes: 4 << 20,
            max_cell_bytes: 10 << 20,
            nonces: true,
            codec: "org.apache.hadoop.hbase.codec.KeyValueCodec".to_owned(),
            compressor: None,
        }
    }

    /// Options as hbase-site.xml sets them; names that a client does not know are passed over.
    ///
    /// Without a registry among them it is the ZooKeeper of `localhost:2181`, as in HBase.
    pub fn from_site<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Options, Error> {
        let mut site = Site::default();
        let mut options = Options::new(Registry::zookeeper("localhost:2181"));
        for (name, value) in pairs {
            site.set(&mut options, name, value.trim())?;
        }
        if !site.overloaded {
            options.pause_overloaded = options.pause;
        }
        options.meta_operation_timeout = site.meta_timeout.unwrap_or(options.operation_timeout);
        options.registry = site.registry();
        Ok(options)
    }

    pub fn user(mut self, user: &str) -> Options {
        user.clone_into(&mut self.user);
        self
    }
    pub fn operation_timeout(mut self, timeout: Duration) -> Options {
        self.operation_timeout = timeout;
        self.meta_operation_timeout = timeout;
        self
    }
    pub fn rpc_timeout(mut self, timeout: Duration) -> Options {
        self.rpc_timeout = timeout;
        self
    }
    pub fn scanner_timeout(mut self, timeout: Duration) -> Options {
        self.scanner_timeout = timeout;
        self
    }
    pub fn retries(mut self, retries: u32) -> Options {
        self.retries = retries;
        self
    }
    pub fn pause(mut self, pause: Duration) -> Options {
        self.pause = pause;
        self.pause_overloaded = pause;
        self
    }

    pub(crate) fn read_timeout(&self) -> Duration {
        self.read_rpc_timeout.unwrap_or(self.rpc_timeout)
    }
    pub(crate) fn write_timeout(&self) -> Duration {
        self.write_rpc_timeout.unwrap_or(self.rpc_timeout)
    }
}

/// Settings that make sense together only.
#[derive(Default)]
struct Site {
    quorum: Option<String>,
    client_port: Option<u16>,
    parent: Option<String>,
    is_rpc: bool,
    bootstrap: Option<String>,
    masters: Option<String>,
    meta_timeout: Option<Duration>,
    overloaded: bool,
}

impl Site {
    fn set(&mut self, options: &mut Options, name: &str, value: &str) -> Result<(), Error> {
        match name {
            "hbase.zookeeper.quorum" | "hbase.client.zookeeper.quorum" => self.quorum = Some(value.to_owned()),
            "hbase.zookeeper.property.clientPort" | "hbase.client.zookeeper.property.clientPort" => {
                self.client_port = Some(parsed(name, value)?);
            }
            "zookeeper.znode.parent" => self.parent = Some(value.to_owned()),
            "hbase.client.registry.impl" => self.is_rpc = !value.contains("ZK"),
            "hbase.client.bootstrap.servers" => self.bootstrap = Some(value.to_owned()),
            "hbase.masters" => self.masters = Some(value.to_owned()),
            "hbase.client.operation.timeout" => options.operation_timeout = millis(name, value)?,
            "hbase.client.meta.operation.timeout" => self.meta_timeout = Some(millis(name, value)?),
            "hbase.rpc.timeout" => options.rpc_timeout = millis(name, value)?,
            "hbase.rpc.read.timeout" => options.read_rpc_timeout = Some(millis(name, value)?),
            "hbase.rpc.write.timeout" => options.write_rpc_timeout = Some(millis(name, value)?),
            "hbase.client.scanner.timeout.period" => options.scanner_timeout = millis(name, value)?,
            "hbase.ipc.client.socket.timeout.connect" => options.connect_timeout = millis(name, value)?,
            "hbase.ipc.client.failed.servers.expiry" => options.failed_server_expiry = millis(name, value)?,
            "hbase.client.retries.number" => options.retries = parsed(name, value)?,
            "hbase.client.pause" => options.pause = millis(name, value)?,
            "hbase.client.pause.server.overloaded" | "hbase.client.pause.cqtbe" => {
                self.overloaded = true;
                options.pause_overloaded = millis(name, value)?;
            }
            "hbase.client.scanner.caching" => options.scanner_caching = parsed(name, value)?,
            "hbase.client.scanner.max.result.size" => options.scanner_max_result_bytes = parsed(name, value)?,
            "hbase.client.locate.prefetch.limit" => options.locate_prefetch = parsed(name, value)?,
            "hbase.client.max.perrequest.heapsize" => options.max_request_bytes = parsed(name, value)?,
            "hbase.client.keyvalue.maxsize" => options.max_cell_bytes = parsed(name, value)?,
            "hbase.client.nonces.enabled" => options.nonces = parsed(name, value)?,
            "hbase.client.rpc.codec" => value.clone_into(&mut options.codec),
            "hbase.client.rpc.compressor" => options.compressor = Some(value.to_owned()).filter(|v| !v.is_empty()),
            _ => {}
        }
        Ok(())
    }

    fn registry(self) -> Registry {
        if self.is_rpc
            && let Some(servers) = self.bootstrap.or(self.masters)
        {
            return Registry::rpc(&servers);
        }
        let port = self.client_port.unwrap_or(2181);
        let quorum = self.quorum.unwrap_or_else(|| "localhost".to_owned());
        let with_port = |host: &str| if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") };
        let quorum: Vec<String> = quorum.split(',').map(|host| with_port(host.trim())).collect();
        let registry = Registry::zookeeper(&quorum.join(","));
        match self.parent {
            Some(parent) => registry.parent(&parent),
            None => registry,
        }
    }
}

fn parsed<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, Error> {
    value.parse().map_err(|_| Error::Invalid(format!("{name}: {value:?} is not a value that it can have")))
}

fn millis(name: &str, value: &str) -> Result<Duration, Error> {
    parsed(name, value).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_file_sets_what_it_names() {
        let options = Options::from_site([
            ("hbase.zookeeper.quorum", "a,b:2182"),
            ("hbase.zookeeper.property.clientPort", "2183"),
            ("zookeeper.znode.parent", "/other"),
            ("hbase.client.retries.number", " 3 "),
            ("hbase.client.pause", "20"),
            ("hbase.client.operation.timeout", "5000"),
            ("hbase.some.other", "x"),
        ])
        .unwrap();
        assert_eq!(options.registry, Registry::zookeeper("a:2183,b:2182/other"));
        assert_eq!((options.retries, options.pause_overloaded), (3, Duration::from_millis(20)));
        assert_eq!(options.meta_operation_timeout, Duration::from_secs(5));
        let rpc = "org.apache.hadoop.hbase.client.RpcConnectionRegistry";
        let options = Options::from_site([("hbase.client.registry.impl", rpc), ("hbase.masters", "m1,m2:16001")]);
        assert_eq!(options.unwrap().registry, Registry::rpc("m1:16000,m2:16001"));
        let wrong = Options::from_site([("hbase.rpc.timeout", "soon")]).unwrap_err().to_string();
        assert_eq!(wrong, "hbase.rpc.timeout: \"soon\" is not a value that it can have");
        assert_eq!(Options::from_site([]).unwrap().registry, Registry::zookeeper("localhost:2181"));
    }
}
