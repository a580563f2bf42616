//! Several writes, one answer: runs a closure once all of them are durable and visible.

use martite_region::{Pending, RegionError};
use parking_lot::Mutex;
use std::sync::Arc;

type Then = Box<dyn FnOnce(Result<(), RegionError>) + Send>;

struct State {
    open: usize,
    error: Option<RegionError>,
    then: Option<Then>,
}

/// Calls `then` when every one of `pending` is done; with the first error, if there was one.
pub fn when_all_done(mut pending: Vec<Pending>, then: impl FnOnce(Result<(), RegionError>) + Send + 'static) {
    match pending.len() {
        0 => return then(Ok(())),
        1 => {
            if let Some(only) = pending.pop() {
                only.on_done(then);
            }
            return;
        }
        _ => {}
    }
    let state = Arc::new(Mutex::new(State { open: pending.len(), error: None, then: Some(Box::new(then)) }));
    for one in pending {
        let state = state.clone();
        one.on_done(move |outcome| {
            let mut guard = state.lock();
            guard.open -= 1;
            if let Err(e) = outcome {
                guard.error.get_or_insert(e);
            }
            if guard.open > 0 {
                return;
            }
            let outcome = guard.error.take().map_or(Ok(()), Err);
            let then = guard.then.take();
            drop(guard);
            if let Some(then) = then {
                then(outcome);
            }
        });
    }
}
