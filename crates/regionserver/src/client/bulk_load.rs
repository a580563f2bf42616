//! `ClientService.PrepareBulkLoad`, `BulkLoadHFile` and `CleanupBulkLoad`: HFiles that a tool wrote become files of a region.

use crate::RegionServer;
use crate::error::Fault;
use crate::throttle::Toll;
use bytes::Bytes;
use martite_catalog::{Layout, TableName};
use martite_proto as pb;
use martite_rpc::{Call, Class};
use pb::Message;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

impl RegionServer {
    /// Bulk loads are not charged, as in HBase.
    pub(crate) fn bulk_load_hfile(self: &Arc<Self>, call: Call, _: Toll) {
        self.answer_bulk_load(call, |server, call| {
            let request = pb::BulkLoadHFileRequest::decode(call.param.clone());
            server.run_bulk_load(&request.map_err(|e| Fault::bad_message("BulkLoadHFileRequest", e))?)
        });
    }

    pub(crate) fn prepare_bulk_load(self: &Arc<Self>, call: Call, _: Toll) {
        self.answer_bulk_load(call, |server, call| {
            let request = pb::PrepareBulkLoadRequest::decode(call.param.clone());
            let request = request.map_err(|e| Fault::bad_message("PrepareBulkLoadRequest", e))?;
            let table =
                TableName::from_proto(&request.table_name).map_err(|e| Fault::illegal_argument(e.to_string()))?;
            let user = crate::throttle::short_name(&call.conn.user);
            let bulk_token = server.make_staging_dir(user, &table)?;
            Ok(pb::PrepareBulkLoadResponse { bulk_token })
        });
    }

    pub(crate) fn cleanup_bulk_load(self: &Arc<Self>, call: Call, _: Toll) {
        self.answer_bulk_load(call, |server, call| {
            let request = pb::CleanupBulkLoadRequest::decode(call.param.clone());
            let request = request.map_err(|e| Fault::bad_message("CleanupBulkLoadRequest", e))?;
            server.remove_staging_dir(&request.bulk_token)?;
            Ok(pb::CleanupBulkLoadResponse {})
        });
    }

    fn answer_bulk_load<R: Message + 'static>(
        self: &Arc<Self>,
        call: Call,
        answer: impl FnOnce(&RegionServer, &Call) -> Result<R, Fault> + Send + 'static,
    ) {
        let server = self.clone();
        self.pool.spawn_call(Class::Write, call, move |call| match answer(&server, &call) {
            Ok(response) => call.responder.ok(&response, Vec::new()),
            Err(fault) => call.responder.fail(fault.into_exception()),
        });
    }

    fn run_bulk_load(&self, request: &pb::BulkLoadHFileRequest) -> Result<pb::BulkLoadHFileResponse, Fault> {
        let region = self.writable(&request.region)?;
        let mut files: Vec<(Bytes, PathBuf)> = Vec::with_capacity(request.family_path.len());
        for pb::bulk_load_h_file_request::FamilyPath { family, path } in &request.family_path {
            files.push((family.clone(), local_path(path)?));
        }
        let is_ours = |path: &Path| path.starts_with(&self.ctx.root) && !path.starts_with(self.staging_dir());
        if let Some((_, path)) = files.iter().find(|(_, path)| !request.copy_file() && is_ours(path)) {
            let text = "is a file of the server itself: it can be copied, not moved";
            return Err(Fault::do_not_retry(format!("{}: {text}", path.display())));
        }
        let paths = || request.family_path.iter().map(|file| file.path.clone()).collect::<Vec<_>>().join(", ");
        let size = |path: &PathBuf| {
            let failed = |e: std::io::Error| Fault::io(format!("{}: {e}", path.display()));
            self.ctx.fs.len(path).map_err(failed)
        };
        let bytes = files.iter().map(|(_, path)| size(path)).sum::<Result<u64, Fault>>()?;
        self.space.check_bulk_load(&region, bytes, paths)?;
        let loaded = region.bulk_load(&files, request.copy_file())?.is_some();
        Ok(pb::BulkLoadHFileResponse { loaded })
    }

    /// A directory for a tool's use while it loads. It is not needed here: files go straight to their regions.
    fn make_staging_dir(&self, user: &str, table: &TableName) -> Result<String, Fault> {
        let random = self.ctx.stores.random.u64();
        let user: String = user.chars().map(|c| if c.is_alphanumeric() || c == '.' { c } else { '_' }).collect();
        let name = format!("{user}__{}__{random:016x}", table.as_str().replace(':', "_"));
        let dir = self.staging_dir().join(name);
        self.ctx.fs.create_dir_all(&dir).map_err(|e| Fault::io(format!("{}: {e}", dir.display())))?;
        Ok(dir.display().to_string())
    }

    fn remove_staging_dir(&self, token: &str) -> Result<(), Fault> {
        let dir = local_path(token)?;
        if dir.parent() != Some(&*self.staging_dir()) {
            return Err(Fault::do_not_retry(format!("{token} is not a directory of a bulk load")));
        }
        match self.ctx.fs.remove_dir_all(&dir) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(format!("{}: {e}", dir.display()))),
            _ => Ok(()),
        }
    }

    fn staging_dir(&self) -> PathBuf {
        Layout::new(&self.ctx.root).staging_dir()
    }
}

/// A file of this machine, as Hadoop's `Path` prints it.
fn local_path(uri: &str) -> Result<PathBuf, Fault> {
    let path = uri.strip_prefix("file:").map_or(uri, |rest| rest.strip_prefix("//").unwrap_or(rest));
    let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.starts_with('/') || !Path::new(path).components().all(is_plain) {
        return Err(Fault::do_not_retry(format!("{uri}: only files of the server's own machine can be loaded")));
    }
    Ok(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_of_this_machine() {
        for uri in ["/a/b", "file:/a/b", "file:///a/b"] {
            assert_eq!(local_path(uri).unwrap(), Path::new("/a/b"), "{uri}");
        }
        for uri in ["hdfs://h:8020/a", "a/b", "file:a", "/a/../b", "file://h/a/..", ""] {
            let text = local_path(uri).unwrap_err().text();
            assert!(text.contains("only files of the server's own machine"), "{text}");
        }
    }
}
