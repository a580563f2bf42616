//! Kills the real server at random moments under load and looks whether anything acknowledged is gone.
//!
//! `MARTITE_CRASH_ROUNDS` (50) and `MARTITE_CRASH_SEED` choose; a failure prints the seed and keeps the folder.

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
    let test = CrashTest::new(Path::new(env!("CARGO_BIN_EXE_martite")), &folder.path().join("data"), seed).unwrap();
    match test.run(rounds, |_| {}) {
        Ok(report) => {
            println!("{report:?}");
            assert_eq!(report.rounds, rounds);
            assert!(report.acknowledged_puts > rounds, "hardly anything was written: {report:?}");
        }
        Err(e) => panic!("seed {seed}, folder {}: {e}", folder.keep().display()),
    }
}
