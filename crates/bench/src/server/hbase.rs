//! Apache HBase 2.6.4 as a child process, by the script `bench/hbase.sh`, which is part of this program.

use super::martite::last_lines;
use super::{Server, Settings, free_ports};
use crate::Error;
use crate::cores;
use crate::process::Process;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("../../../../bench/hbase.sh");
/// Of HBase, as the POM has it.
const VERSION: &str = "2.6.4";
/// What Maven is to fetch; the script looks for it beside itself.
const POM: &str = include_str!("../../../../bench/pom.xml");
/// How often is looked whether the script is done.
const POLL: Duration = Duration::from_millis(100);

/// Ends the script and the server, whose process id is in a file: its data are thrown away, so it need not flush.
struct Kill {
    script: Child,
    pid_file: PathBuf,
}

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
        if let Some(pid) = read_pid(&self.pid_file).and_then(|pid| Pid::from_raw(pid as i32)) {
            let _ = kill_process(pid, Signal::KILL);
            // The next server wants its memory.
            for _ in 0..100 {
                if test_kill_process(pid).is_err() {
                    break;
                }
                std::thread::sleep(POLL);
            }
        }
    }
}

fn read_pid(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

pub async fn start(data: &Path, settings: Settings) -> Result<Server, Error> {
    let Settings { cache_mib, quotas, hsync, cores: on } = settings;
    let script = data.join("hbase.sh");
    for (path, text) in [(&script, SCRIPT), (&data.join("pom.xml"), POM)] {
        std::fs::write(path, text).map_err(Error::file(path))?;
    }
    resolve(&script, data).await?;
    let home = data.join("hbase");
    let [zookeeper, master, regionserver] = free_ports()?;
    let log = data.join("start.log");
    let log_file = File::create(&log).map_err(Error::file(&log))?;
    let began = Instant::now();
    let mut command = Command::new("bash");
    command
        .arg(&script)
        .arg("start")
        .arg(&home)
        .env("BUCKET", cache_mib.to_string())
        .env("QUOTAS", quotas.unwrap_or(false).to_string())
        .env("HSYNC", hsync.unwrap_or(false).to_string())
        .env("DIRECT", format!("{}m", cache_mib + 2048))
        .env("ZK_PORT", zookeeper.to_string())
        .env("MASTER_PORT", master.to_string())
        .env("RS_PORT", regionserver.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log_file);
    let child = cores::start(on, || command.spawn())?;
    let mut end = Kill { script: child, pid_file: home.join("pid") };
    while end.script.try_wait()?.is_none() {
        tokio::time::sleep(POLL).await;
    }
    let pid = read_pid(&end.pid_file).filter(|_| end.script.wait().is_ok_and(|status| status.success()));
    let process = Process { pid: pid.ok_or_else(|| Error::Setup(format!("HBase: {}", last_lines(&log))))? };
    Ok(Server {
        title: format!("Apache HBase {VERSION}"),
        registry: format!("localhost:{master}"),
        process: Some(process),
        started_in: Some(began.elapsed()),
        _end: Some(Box::new(end)),
    })
}

/// Lets Maven fetch what is missing, so that it does not count as starting.
async fn resolve(script: &Path, data: &Path) -> Result<(), Error> {
    let log = data.join("maven.log");
    let log_file = File::create(&log).map_err(Error::file(&log))?;
    let mut child = Command::new("bash")
        .arg(script)
        .arg("classpath")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log_file)
        .spawn()?;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None => tokio::time::sleep(POLL).await,
        }
    };
    if status.success() { Ok(()) } else { Err(Error::Setup(format!("HBase's class path: {}", last_lines(&log)))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_and_the_pom_are_what_is_told() {
        assert!(POM.contains(&format!("<hbase.version>{VERSION}</hbase.version>")));
        for variable in ["BUCKET", "DIRECT", "QUOTAS", "HSYNC", "ZK_PORT", "MASTER_PORT", "RS_PORT"] {
            assert!(SCRIPT.contains(&format!("${{{variable}:-")), "{variable}");
        }
        assert!(SCRIPT.contains("-XX:+UseG1GC"));
    }

    #[test]
    fn a_process_id_is_a_number_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        assert_eq!(read_pid(&file), None);
        std::fs::write(&file, "123\n").unwrap();
        assert_eq!(read_pid(&file), Some(123));
        std::fs::write(&file, "").unwrap();
        assert_eq!(read_pid(&file), None);
    }
}
