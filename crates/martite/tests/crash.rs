//! Kills the real server at random moments under load and looks whether anything acknowledged is gone.
//!
//! `MARTITE_CRASH_ROUNDS` (50), `MARTITE_CRASH_SEED` and `MARTITE_CRASH_BINARY` choose; a failure prints the seed and
//! keeps the folder.

use martite_testkit::crash::CrashTest;
use std::path::Path;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    let rounds = number("MARTITE_CRASH_ROUNDS", 50);
    let seed = number("MARTITE_CRASH_SEED", u64::from(std::process::id()));
    let folder = tempfile::tempdir().unwrap();
    let binary = std::env::var_os("MARTITE_CRASH_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_martite").into());
    let test = CrashTest::new(Path::new(&binary), &folder.path().join("data"), seed).unwrap();
    let progress = |round| {
        if round % 100 == 0 {
            println!("{round} rounds");
        }
    };
    match test.run(rounds, progress) {
        Ok(report) => {
            println!("{report:?}");
            assert_eq!(report.rounds, rounds);
            let rare = report.flushes.min(report.compactions).min(report.tables);
            assert!(report.puts > rounds && report.increments > rounds && rare > 0, "hardly anything: {report:?}");
        }
        Err(e) => panic!("seed {seed}, folder {}: {e}", folder.keep().display()),
    }
}
