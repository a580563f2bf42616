//! [`Histogram`]: lengths as often as a file says.
//!
//! ```text
//! BlockSize<TAB>100
//! 0<TAB>5            five parts are (0 + 1) · 100 long
//! 1<TAB>3            the last bucket, however, is 1 · 100 long: YCSB's generator counts its last one less
//! ```

use crate::Error;
use martite_env::{Random, SeededRandom};

#[derive(Debug)]
pub struct Histogram {
    block_size: u64,
    buckets: Vec<u64>,
    area: u64,
}

impl Histogram {
    /// From a file's text; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<Histogram, Error> {
        let wrong =
            |line: &str| Error::Setup(format!("{name}: expected two numbers with a tab between them, not {line:?}"));
        let mut lines = text.lines();
        let block_size = lines.next().and_then(|line| line.strip_prefix("BlockSize\t")?.trim().parse().ok());
        let block_size =
            block_size.ok_or_else(|| Error::Setup(format!("{name}: the first line is not the BlockSize")))?;
        let mut buckets: Vec<u64> = Vec::new();
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let parse = || {
                let (place, weight) = line.split_once('\t')?;
                Some((place.trim().parse::<usize>().ok()?, weight.trim().parse::<u64>().ok()?))
            };
            let (place, weight) = parse().ok_or_else(|| wrong(line))?;
            if place > buckets.len() {
                return Err(wrong(line));
            }
            buckets.insert(place, weight);
        }
        let area = buckets.iter().sum();
        if area == 0 {
            return Err(Error::Setup(format!("{name}: nothing in it")));
        }
        Ok(Histogram { block_size, buckets, area })
    }

    pub fn draw(&self, random: &SeededRandom) -> u64 {
        let mut left = random.below(self.area) as i64;
        let last = self.buckets.len() - 1;
        for (nth, weight) in self.buckets[..last].iter().enumerate() {
            left -= *weight as i64;
            if left <= 0 {
                return (nth as u64 + 1) * self.block_size;
            }
        }
        last as u64 * self.block_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_as_often_as_the_file_says() {
        let histogram = Histogram::parse("h", "BlockSize\t10\n0\t500\n1\t300\n2\t200\n").unwrap();
        let random = SeededRandom::new(9);
        let mut seen = [0u32; 4];
        for _ in 0..100_000 {
            seen[(histogram.draw(&random) / 10) as usize] += 1;
        }
        // The last bucket has the length of the one before it.
        assert!(seen[0] == 0 && seen[3] == 0, "{seen:?}");
        assert!((49_000..51_500).contains(&seen[1]) && (48_500..51_000).contains(&seen[2]), "{seen:?}");
    }

    #[test]
    fn wrong_files_are_named() {
        for (text, named) in [
            ("", "BlockSize"),
            ("BlockSize\tx\n", "BlockSize"),
            ("BlockSize\t10\n1 2\n", "1 2"),
            ("BlockSize\t10\n5\t2\n", "5\\t2"),
            ("BlockSize\t10\n", "nothing"),
        ] {
            let told = Histogram::parse("hist.txt", text).unwrap_err().to_string();
            assert!(told.starts_with("hist.txt: ") && told.contains(named), "{told}");
        }
    }
}
