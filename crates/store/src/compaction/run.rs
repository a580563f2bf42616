//! Running a compaction plan to its end.

use super::{CompactionOutcome, CompactionPlan, Piece, Throttle, in_pieces, next_cell, source::CompactionSource, warm};
use crate::{
    CompactionKind, CompactionScan, CompactionScanner, ReadView, Store, StoreError, StoreFile,
    counters::Progress,
    output::{NewFile, NewFileOptions},
};
use martite_cell::CellRef;
use martite_hfile::StoreMeta;
use std::sync::Arc;

/// What is known about the inputs before they are read.
struct Inputs {
    cells: u64,
    max_seq_id: u64,
    max_mvcc: u64,
    has_tags: bool,
    /// Oldest put of all files; 0 when unknown.
    earliest_put_ms: u64,
    /// Sequence ids up to this one can be forgotten; 0: none.
    forget_seq_ids: u64,
}

impl Inputs {
    fn of(store: &Store, plan: &CompactionPlan, smallest_read_point: u64, now_ms: u64) -> Inputs {
        let files = &plan.files;
        let old_before_ms = now_ms.saturating_sub(store.config().keep_seq_id_ms);
        let is_old = |f: &&Arc<StoreFile>| f.modified_ms < old_before_ms;
        let forget = if plan.all_files && !store.options().new_version_behavior {
            files.iter().filter(is_old).map(|f| f.max_mvcc()).max().unwrap_or(0)
        } else {
            0
        };
        let earliest = files.iter().map(|f| f.reader.earliest_put_ms().unwrap_or(0)).min();
        Inputs {
            cells: files.iter().map(|f| f.entries()).sum(),
            max_seq_id: files.iter().map(|f| f.seq_id).max().unwrap_or(0),
            max_mvcc: files.iter().map(|f| f.max_mvcc()).max().unwrap_or(0),
            has_tags: files.iter().any(|f| f.reader.has_tags()),
            earliest_put_ms: earliest.filter(|_| plan.all_files).unwrap_or(0),
            forget_seq_ids: forget.min(smallest_read_point),
        }
    }
}

/// What is kept of the inputs, on its way into the new file.
struct Merge<'a> {
    scanner: CompactionScanner,
    out: NewFile,
    progress: Progress<'a>,
    /// Of the new file, as far as the throttle knows.
    written: u64,
    forget_seq_ids: u64,
}

impl Merge<'_> {
    fn go_on(&mut self, source: &mut CompactionSource<'_>) -> Result<Piece, StoreError> {
        let source = &*source;
        while let Some(mut cell) = next_cell(&mut self.scanner, source).map_err(|e| source.cause(e))? {
            if cell.seq_id <= self.forget_seq_ids {
                cell = CellRef { seq_id: 0, ..cell };
            }
            self.out.append(&cell)?;
            self.progress.set_done(self.out.entries());
            if self.out.position() > self.written {
                source.spend(self.out.position() - self.written)?;
                self.written = self.out.position();
            }
            if source.ends_piece() {
                return Ok(Piece::Ended);
            }
        }
        Ok(Piece::Last)
    }
}

impl Store {
    /// Runs a plan to its end: writes, commits, archives the inputs (once no reader holds them).
    ///
    /// `smallest_read_point`: what any open scanner can see is kept. After an error nothing has changed.
    pub fn run_compaction(
        &self,
        plan: CompactionPlan,
        smallest_read_point: u64,
        now_ms: u64,
        throttle: &dyn Throttle,
    ) -> Result<CompactionOutcome, StoreError> {
        let every_bytes = self.config().throttle_every_bytes.max(1);
        let mut source = CompactionSource::new(&self.context().files, throttle, every_bytes);
        let inputs = Inputs::of(self, &plan, smallest_read_point, now_ms);
        let out = self.merge(&plan, &inputs, smallest_read_point, now_ms, &mut source)?;
        let meta = StoreMeta {
            max_seq_id: Some(inputs.max_seq_id),
            major_compaction: plan.all_files,
            compacted_inputs: self.rewritten_by(&plan),
            ..StoreMeta::default()
        };
        let (file, finished) = out.finish(meta)?;
        let new = Arc::new(file.commit(self, now_ms)?);
        // The file is in place: from here on errors and cancellation only cost warmth.
        if let Err(error) = warm::hand_over(self, &plan.files, &new, throttle) {
            tracing::debug!(%error, "the new file starts cold");
        }
        self.swap(&plan.files, Some(&new), now_ms, || ())?;
        self.counters.count_compaction(plan.major, finished.file_size);
        let outcome = CompactionOutcome {
            inputs: plan.files.iter().map(|f| f.name().to_owned()).collect(),
            output: new.name().to_owned(),
            major: plan.major,
            cells_read: inputs.cells,
            cells_written: finished.entries,
            bytes_read: source.read_bytes.get(),
            bytes_written: finished.file_size,
        };
        drop(plan);
        if let Err(error) = self.archive_compacted(now_ms) {
            // Out of the file list, named by the new file: archived later, or when the store opens.
            tracing::warn!(%error, "compacted store files were not archived");
        }
        Ok(outcome)
    }

    /// Writes what is kept of the inputs.
    fn merge(
        &self,
        plan: &CompactionPlan,
        inputs: &Inputs,
        smallest_read_point: u64,
        now_ms: u64,
        source: &mut CompactionSource<'_>,
    ) -> Result<NewFile, StoreError> {
        let family = self.options();
        let options = NewFileOptions {
            compression: if plan.major { family.compression_major } else { family.compression_minor },
            include_tags: inputs.has_tags,
            include_mvcc: inputs.max_mvcc > 0,
            expected_keys: inputs.cells,
            now_ms,
            // What is hot is handed over.
            keep_bytes: 0,
        };
        let view = ReadView { segments: Default::default(), files: Arc::new(plan.files.clone()) };
        let kind = if plan.all_files { CompactionKind::Major } else { CompactionKind::Minor };
        let scan = CompactionScan { kind, smallest_read_point, now_ms, earliest_put_ms: inputs.earliest_put_ms };
        let mut merge = Merge {
            scanner: CompactionScanner::new(view, family.clone(), scan),
            out: NewFile::create(self, &options)?,
            progress: self.counters.start_compaction(inputs.cells),
            written: 0,
            forget_seq_ids: inputs.forget_seq_ids,
        };
        in_pieces(source.throttle(), || merge.go_on(source))?;
        Ok(merge.out)
    }

    /// Names of the inputs, and of what they had replaced themselves and is not archived yet.
    fn rewritten_by(&self, plan: &CompactionPlan) -> Vec<String> {
        let unarchived = self.unarchived();
        let mut names: Vec<String> = plan.files.iter().map(|f| f.name().to_owned()).collect();
        names.extend(plan.files.iter().flat_map(|f| f.reader.compacted_inputs()).filter(|n| unarchived.contains(n)));
        names.sort();
        names.dedup();
        names
    }
}
