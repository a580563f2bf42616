//! [`Counters`]: what the server's info port tells of its block cache.
//!
//! ```text
//! look-up of a data block ── in memory ──▶ a hit
//!                         └─ else of the cache files: a hit of theirs, or a miss, and the store file is read
//! ```
//! A look-up that misses on a network thread is made again on the pool. So what memory had not is counted by the files, which are asked once.

use crate::Error;
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const BEAN: &str = "Hadoop:service=HBase,name=RegionServer,sub=Server";

/// Where data blocks were found: counts since the server's start, or of a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    pub memory: u64,
    pub cache_files: u64,
    pub store_files: u64,
}

impl Counters {
    pub async fn read(address: &str, tier: bool) -> Result<Counters, Error> {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET /jmx?qry={BEAN} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Counters::parse(&answer, tier)
            .ok_or_else(|| Error::Setup(format!("http://{address}/jmx does not tell of the block cache")))
    }

    fn parse(answer: &str, tier: bool) -> Option<Counters> {
        let (_, body) = answer.split_once("\r\n\r\n")?;
        let json = body.get(body.find('{')?..=body.rfind('}')?)?;
        let json: serde_json::Value = serde_json::from_str(json).ok()?;
        let count = |name: &str| json["beans"][0][name].as_u64();
        let memory = count("blockCacheDataHitCount")?;
        if !tier {
            return Some(Counters { memory, cache_files: 0, store_files: count("blockCacheDataMissCount")? });
        }
        Some(Counters { memory, cache_files: count("l2CacheHitCount")?, store_files: count("l2CacheMissCount")? })
    }

    pub fn since(self, before: Counters) -> Counters {
        Counters {
            memory: self.memory.saturating_sub(before.memory),
            cache_files: self.cache_files.saturating_sub(before.cache_files),
            store_files: self.store_files.saturating_sub(before.store_files),
        }
    }

    pub fn all(self) -> u64 {
        self.memory + self.cache_files + self.store_files
    }

    /// Of all look-ups, in percent: memory, cache files, store files.
    pub fn percent(self) -> [f64; 3] {
        let all = self.all().max(1) as f64;
        [self.memory, self.cache_files, self.store_files].map(|count| count as f64 * 100.0 / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_memory_had_not_is_counted_once() {
        let body = "{\"beans\": [{\"blockCacheDataHitCount\": 70, \"blockCacheDataMissCount\": 60, \
                    \"l2CacheHitCount\": 20, \"l2CacheMissCount\": 10}]}";
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\n{body}\r\n");
        let counters = Counters::parse(&answer, true).unwrap();
        assert_eq!(counters, Counters { memory: 70, cache_files: 20, store_files: 10 });
        assert_eq!(counters.percent(), [70.0, 20.0, 10.0]);
        assert_eq!(Counters::parse(&answer, false).unwrap().store_files, 60);
        let later = Counters { memory: 75, ..counters };
        assert_eq!(later.since(counters), Counters { memory: 5, ..Counters::default() });
        assert_eq!(Counters::default().percent(), [0.0; 3]);
        for wrong in ["", "HTTP/1.1 404 Not Found\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n{\"beans\": []}"] {
            assert!(Counters::parse(wrong, true).is_none(), "{wrong}");
        }
    }
}
