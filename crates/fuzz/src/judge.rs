//! One execution of a target, judged: did anything panic, was too much allocated.

use crate::target::Target;
use crate::{coverage, memory};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Mutex;

/// The first panic of any thread since it was last asked for; servers catch those of their own threads.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// From now on panics are noted, not printed.
pub fn note_panics() {
    set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let text = format!("{panic} (thread {})", thread.name().unwrap_or("without a name"));
        PANIC.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(text);
    }));
}

/// Panics are printed again: for the tests around the targets.
pub fn print_panics() {
    drop(take_hook());
}

fn take_panic() -> Option<String> {
    PANIC.lock().unwrap_or_else(|e| e.into_inner()).take()
}

/// Runs the target on one input; what was wrong, if anything was.
pub fn execute(target: &Target, input: &[u8]) -> Option<String> {
    coverage::reset();
    let before = memory::begin();
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let used = memory::peak().saturating_sub(before);
    if let Some(panic) = take_panic() {
        return Some(panic);
    }
    if result.is_err() {
        return Some("a panic that nobody noted".to_owned());
    }
    let allowed = target.budget.bytes(input.len());
    (used > allowed)
        .then(|| format!("{used} bytes in use for an input of {} bytes, at most {allowed} are allowed", input.len()))
}
