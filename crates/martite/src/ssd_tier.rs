//! `hbase.bucketcache.ioengine`: whether data blocks that memory has no room for go to files, and to which.

use crate::{Failure, exit};
use martite_blockcache::tier::{Tier, TierContext, TierOptions};
use martite_config::{Config, keys};
use martite_hfile::Block;
use martite_store::image_of;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The queue before the files has an eighth of the cache, within these bounds.
const SMALLEST_QUEUE: u64 = 1 << 20;
const LARGEST_QUEUE: u64 = 16 << 20;

/// The files of the second tier; none: it is in memory, or there is none.
pub fn files(config: &Config) -> Result<Vec<PathBuf>, Failure> {
    let engine = config.get(keys::BUCKETCACHE_IOENGINE);
    let engine = engine.trim();
    let refuse = |key: &str, value: &str, why: &str| Err(Failure::new(exit::USAGE, format!("{key} = {value}: {why}")));
    let name = keys::BUCKETCACHE_IOENGINE.name();
    let paths: Vec<&str> = match engine.split_once(':') {
        None if engine.is_empty() || engine == "offheap" => return Ok(Vec::new()),
        Some(("file" | "files", paths)) => paths.split(',').map(str::trim).collect(),
        Some(("mmap", path)) => vec![path.trim()],
        _ => return refuse(name, engine, "only offheap, file:, files: and mmap: are supported"),
    };
    if paths.iter().enumerate().any(|(n, path)| path.is_empty() || paths[..n].contains(path)) {
        return refuse(name, engine, "a path is empty or there twice");
    }
    let size_mib = config.get(keys::BUCKETCACHE_SIZE);
    if size_mib < 1.0 {
        let why = format!("{name} = {engine} needs its size in MiB, at least 1");
        return refuse(keys::BUCKETCACHE_SIZE.name(), &size_mib.to_string(), &why);
    }
    Ok(paths.into_iter().map(PathBuf::from).collect())
}

/// The tier, if the configuration has one; `memory_bytes` is what the cache in memory has.
pub fn start(config: &Config, ctx: TierContext, memory_bytes: u64) -> Result<Option<Arc<Tier<Block>>>, Failure> {
    match options(config, memory_bytes)? {
        None => Ok(None),
        Some(options) => {
            let tier = Tier::start(ctx, options, image_of);
            tier.map(Some).map_err(|e| Failure::of(keys::BUCKETCACHE_IOENGINE.name(), e))
        }
    }
}

fn options(config: &Config, memory_bytes: u64) -> Result<Option<TierOptions>, Failure> {
    let paths = files(config)?;
    if paths.is_empty() {
        return Ok(None);
    }
    let size_bytes = (config.get(keys::BUCKETCACHE_SIZE) * f64::from(1 << 20)) as u64;
    let index = config.get(keys::BUCKETCACHE_PERSISTENT_PATH);
    Ok(Some(TierOptions {
        index: (!index.is_empty()).then(|| index.into()),
        queue_bytes: (memory_bytes / 8).clamp(SMALLEST_QUEUE, LARGEST_QUEUE),
        errors_tolerated: Duration::from_millis(config.get(keys::BUCKETCACHE_ERRORS_TOLERATED)),
        ..TierOptions::new(paths, size_bytes)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &[(&str, &str)]) -> Result<Option<TierOptions>, String> {
        options(&Config::of(settings).unwrap(), 1 << 30).map_err(|failure| {
            assert_eq!(failure.code, exit::USAGE);
            failure.message
        })
    }

    fn engine(value: &str) -> Result<Vec<PathBuf>, String> {
        let settings = [("hbase.bucketcache.ioengine", value), ("hbase.bucketcache.size", "64")];
        of(&settings).map(|options| options.map(|o| o.paths).unwrap_or_default())
    }

    #[test]
    fn engines_are_what_hbase_calls_them() {
        let paths = |paths: &[&str]| Ok(paths.iter().map(PathBuf::from).collect());
        assert_eq!(engine("offheap"), paths(&[]));
        assert_eq!(engine("file:/ssd/cache"), paths(&["/ssd/cache"]));
        assert_eq!(engine("files:/a/cache, /b/cache"), paths(&["/a/cache", "/b/cache"]));
        assert_eq!(engine("mmap:/ssd/cache"), paths(&["/ssd/cache"]));
        for unknown in ["heap", "pmem:/dev/dax", "offheap:/x", "file", "FILE:/x"] {
            assert_eq!(
                engine(unknown).unwrap_err(),
                format!("hbase.bucketcache.ioengine = {unknown}: only offheap, file:, files: and mmap: are supported")
            );
        }
        for paths in ["file:", "files:/a,,/b", "files:/a,/a"] {
            let why = engine(paths).unwrap_err();
            assert_eq!(why, format!("hbase.bucketcache.ioengine = {paths}: a path is empty or there twice"));
        }
    }

    #[test]
    fn files_need_a_size() {
        let file = ("hbase.bucketcache.ioengine", "file:/ssd/cache");
        let why = "hbase.bucketcache.ioengine = file:/ssd/cache needs its size in MiB, at least 1";
        assert_eq!(of(&[file]).unwrap_err(), format!("hbase.bucketcache.size = 0: {why}"));
        let share = of(&[file, ("hbase.bucketcache.size", "0.4")]);
        assert_eq!(share.unwrap_err(), format!("hbase.bucketcache.size = 0.4: {why}"));
        let index = ("hbase.bucketcache.persistent.path", "/ssd/index");
        let options = of(&[file, index, ("hbase.bucketcache.size", "64.5")]).unwrap().unwrap();
        assert_eq!((options.capacity_bytes, options.queue_bytes), (129 << 19, 16 << 20));
        assert_eq!((options.index, options.errors_tolerated), (Some("/ssd/index".into()), Duration::from_secs(60)));
    }
}
