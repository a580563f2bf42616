//! What goes on in the background, as operators are told: `status 'tasks'`, `processlist`.

use crate::RegionServer;
use crate::background::Job;
use martite_proto as pb;
use martite_region::Region;
use pb::server_task::State;
use std::sync::Arc;
use std::time::Instant;

impl RegionServer {
    /// Flushes, compactions and reads into the cache that are under way.
    pub fn tasks(&self) -> Vec<pb::ServerTask> {
        let (now, now_ms) = (Instant::now(), self.ctx.clock.now_ms());
        let [flushes, compactions, prefetches] = self.background.under_way();
        let started_ms = |since: Instant| {
            now_ms.saturating_sub(now.saturating_duration_since(since).as_millis().min(u128::from(u64::MAX)) as u64)
        };
        let all = [(flushes, flush as Tell), (compactions, compaction), (prefetches, prefetch)];
        let told = all.into_iter().flat_map(|(jobs, tell)| jobs.into_iter().map(move |job| (job, tell)));
        told.filter_map(|((job, since), tell)| {
            let (description, status) = tell(&job, &self.online.by_encoded(&job.region)?);
            let start_time = Some(started_ms(since));
            Some(pb::ServerTask {
                description,
                status,
                state: State::Running as i32,
                start_time,
                completion_time: None,
            })
        })
        .collect()
    }
}

/// A job's description and how far it is.
type Tell = fn(&Job, &Arc<Region>) -> (String, String);

fn flush(_: &Job, region: &Arc<Region>) -> (String, String) {
    (format!("Flushing {}", region.info().name_string()), "Writing what memstores hold".to_owned())
}

fn compaction(job: &Job, region: &Arc<Region>) -> (String, String) {
    let families: Vec<&str> = match &job.family {
        Some(family) => vec![std::str::from_utf8(family).unwrap_or("?")],
        None => region.stores().iter().map(|(_, store)| store.family_name()).collect(),
    };
    let kind = if job.major { "Major compaction" } else { "Compaction" };
    let load = region.load();
    let done = load.compacted_cells as f64 * 100.0 / load.compacting_cells.max(1) as f64;
    let status = format!("{kind}: {done:.0} % of {} cells", load.compacting_cells);
    (format!("Compacting {} in {}", families.join(", "), region.info().name_string()), status)
}

fn prefetch(_: &Job, region: &Arc<Region>) -> (String, String) {
    (format!("Prefetching {}", region.info().name_string()), "Reading store files into the cache".to_owned())
}
