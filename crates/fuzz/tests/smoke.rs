//! Every target bears its seeds, the inputs that once failed, and some thousand changes of them; canaries do not.
//!
//! One test, because memory is counted for the whole process.

use martite_fuzz::engine::{self, Options};
use martite_fuzz::{Target, execute, memory, note_panics, print_panics, targets};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;

#[test]
fn targets_bear_damage_and_canaries_do_not() {
    assert!(memory::is_counting());
    canaries();
    regressions();
    for target in targets::ALL {
        let began = Instant::now();
        if let Some(what) = failure(*target, Options { executions: target.smoke, ..Options::default() }) {
            panic!("{}: {what}", target.name);
        }
        println!("{}: {} executions in {:?}", target.name, target.smoke, began.elapsed());
    }
}

fn failure(target: Target, options: Options) -> Option<String> {
    let result = engine::run(target, &options, &mut |_| {});
    print_panics();
    let result = result.unwrap_or_else(|e| panic!("{}: {e}", target.name));
    result.err().map(|failure| format!("{} with input {}", failure.what, failure.input.escape_ascii()))
}

/// A runner that finds nothing wrong with these would find nothing at all.
fn canaries() {
    let expected = [
        ("canary-panic", "out of range for slice"),
        ("canary-memory", "bytes in use for an input of"),
        ("canary-hang", "runs for more than 300ms with input M\\x00\\x00\\x00\\x00"),
        ("canary-sound", ""),
    ];
    for (canary, (name, what)) in targets::CANARIES.iter().zip(expected) {
        assert_eq!(canary.name, name);
        let hang = if name == "canary-hang" { Duration::from_millis(300) } else { Duration::from_secs(10) };
        let found = failure(*canary, Options { executions: canary.smoke, hang, ..Options::default() });
        match found {
            None => assert!(what.is_empty(), "{name} was not caught"),
            Some(found) => assert!(!what.is_empty() && found.contains(what), "{name}: {found}"),
        }
    }
    targets::RELEASE.store(true, Ordering::Relaxed);
}

fn regressions() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for target in targets::ALL {
        let Ok(files) = std::fs::read_dir(dir.join(target.name)) else { continue };
        for file in files {
            let path = file.unwrap_or_else(|e| panic!("{e}")).path();
            let input = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            note_panics();
            let wrong = execute(target, &input);
            print_panics();
            assert_eq!(wrong, None, "{}", path.display());
        }
    }
}
