//! The command line.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Martite: an Apache HBase-compatible wide-column store in one binary.
#[derive(Debug, Parser)]
#[command(name = "martite", version)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a standalone server: ZooKeeper endpoint, master and region server in one process
    ///
    /// The data folder is an HBase root directory. When clients can connect, one line goes to standard output:
    /// `ready zookeeper=HOST:PORT master=HOST:PORT regionserver=HOST:PORT`, and where the info ports are. SIGTERM or `martite stop` flushes and ends
    /// the server. Exit codes: 0 stopped, 1 failed, 2 wrong arguments or configuration, 3 the folder is in use,
    /// 4 gave up (the log could not be written).
    Start(Start),
    /// Stop the server that uses a data folder, and wait for it
    Stop(Stop),
    /// HBase's shell: a prompt, or scripts
    Shell(martite_shell::ShellArgs),
    /// Measure servers: this one, Apache HBase, any that runs
    #[command(subcommand)]
    Bench(Box<martite_bench::Bench>),
    /// Load a table and run YCSB's core workloads on it, with YCSB's property files, options and output
    #[command(disable_help_subcommand = true)]
    Ycsb(martite_bench::Ycsb),
    /// HBase's PerformanceEvaluation: its commands, options and summary lines
    Pe(martite_bench::Pe),
    /// Put files of separated columns into a table, with the options of HBase's ImportTsv
    ImportTsv(martite_import::ImportTsv),
}

#[derive(Debug, ClapArgs)]
pub struct Start {
    /// Folder with hbase-site.xml
    #[arg(long, value_name = "DIR")]
    pub conf: Option<PathBuf>,
    /// Data folder, an HBase root directory [default: hbase.rootdir, or ./data]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// ZooKeeper's port (hbase.zookeeper.property.clientPort); 0 chooses one
    #[arg(long, value_name = "PORT")]
    pub zookeeper_port: Option<u16>,
    /// The master's port (hbase.master.port); 0 chooses one
    #[arg(long, value_name = "PORT")]
    pub master_port: Option<u16>,
    /// The region server's port (hbase.regionserver.port); 0 chooses one
    #[arg(long, value_name = "PORT")]
    pub regionserver_port: Option<u16>,
    /// The master's HTTP port (hbase.master.info.port); 0 chooses one, none if --master-port is given alone
    #[arg(long, value_name = "PORT")]
    pub master_info_port: Option<u16>,
    /// The region server's HTTP port (hbase.regionserver.info.port); 0 chooses one, none if --regionserver-port is given alone
    #[arg(long, value_name = "PORT")]
    pub regionserver_info_port: Option<u16>,
    /// The name that clients are told (hbase.regionserver.hostname)
    #[arg(long, value_name = "NAME")]
    pub hostname: Option<String>,
    /// Memory for caches and memstores together, such as 4g (martite.memory) [default: half of the machine's]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Any other setting of hbase-site.xml
    #[arg(short = 'D', value_name = "KEY=VALUE")]
    pub define: Vec<String>,
    /// What is logged: error, warn, info, debug, or a filter such as `info,martite_region=debug`
    #[arg(long, value_name = "FILTER", default_value = "info")]
    pub log: String,
}

#[derive(Debug, ClapArgs)]
pub struct Stop {
    /// Data folder of the server
    #[arg(long, value_name = "DIR", default_value = "./data")]
    pub data: PathBuf,
}
