//! [`Slab`]: the files that hold the records, of a fixed size, in turns of a segment.
//!
//! ```text
//! file 0   header | segment 0 | segment 2 | …         header   0  8 bytes   "MARTSLAB"
//! file 1   header | segment 1 | segment 3 | …                  8  u32       version, 1
//!                                                             12  u32       CRC32C of all that follows, up to 48
//!                                                             16  16 bytes  id, drawn when the files were made
//!                                                             32  u32       bytes of a segment
//!                                                             36  u32       number of segments
//!                                                             40  u32, u32  number of this file, of how many
//! ```

use super::saved::Shape;
use super::segments::Place;
use martite_env::{FileSystem, Random, WriteAt, disk_time};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"MARTSLAB";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 48;
/// Segments begin here.
const DATA_AT: u64 = 4096;

pub(crate) struct Slab {
    files: Vec<Arc<dyn WriteAt>>,
    shape: Shape,
}

impl Slab {
    /// Opens the files, made anew unless all of them are there and belong together, and `keep`. A file that holds
    /// something else is left alone: `InvalidData`.
    pub(crate) fn open(
        fs: &dyn FileSystem,
        paths: &[PathBuf],
        (segments, segment_bytes): (u32, u32),
        keep: bool,
        random: &dyn Random,
    ) -> io::Result<Slab> {
        let headers = paths.iter().map(|path| read_header(fs, path)).collect::<io::Result<Vec<_>>>()?;
        let per_file = u64::from(segments).div_ceil(paths.len().max(1) as u64);
        let len = DATA_AT + per_file * u64::from(segment_bytes);
        let files = paths.iter().map(|path| fs.open_in_place(path, len)).collect::<io::Result<Vec<_>>>()?;
        let mut shape = Shape { slab: [0; 16], segment_bytes, segments };
        if let Some(header) = headers.first().filter(|header| keep && header.len() == HEADER_BYTES) {
            shape.slab.copy_from_slice(&header[16..32]);
        }
        let header_of = |number: usize, shape: &Shape| header(shape, number as u32, paths.len() as u32);
        if !headers.iter().enumerate().all(|(number, found)| keep && *found == header_of(number, &shape)) {
            random.fill(&mut shape.slab);
            for (number, file) in files.iter().enumerate() {
                file.write_all_at(&header_of(number, &shape), 0)?;
            }
        }
        Ok(Slab { files, shape })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn read(&self, place: Place, record: &mut [u8]) -> io::Result<()> {
        let (file, offset) = self.at(place);
        disk_time::timed(|| file.read_exact_at(record, offset)).0
    }

    pub(crate) fn write(&self, place: Place, record: &[u8]) -> io::Result<()> {
        let (file, offset) = self.at(place);
        file.write_all_at(record, offset)
    }

    fn at(&self, place: Place) -> (&dyn WriteAt, u64) {
        let (segment, files) = (place.segment as usize, self.files.len());
        let offset = DATA_AT + (segment / files) as u64 * u64::from(self.shape.segment_bytes) + u64::from(place.at);
        (&*self.files[segment % files], offset)
    }
}

/// The first bytes of a file that is there; nothing if it is absent or was never written.
fn read_header(fs: &dyn FileSystem, path: &Path) -> io::Result<Vec<u8>> {
    let file = match fs.open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut header = vec![0; HEADER_BYTES.min(file.len() as usize)];
    file.read_exact_at(&mut header, 0)?;
    if header.iter().all(|byte| *byte == 0) {
        return Ok(Vec::new());
    }
    if !header.starts_with(MAGIC) {
        let why = format!("{} is there and is no cache file: remove it, or name another", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(header)
}

fn header(shape: &Shape, number: u32, files: u32) -> Vec<u8> {
    let mut header = [&MAGIC[..], &VERSION.to_be_bytes(), &[0; 4], &shape.slab].concat();
    for field in [shape.segment_bytes, shape.segments, number, files] {
        header.extend_from_slice(&field.to_be_bytes());
    }
    let sum = crc_fast::crc32_iscsi(&header[16..]);
    header[12..16].copy_from_slice(&sum.to_be_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::{FileSystem, MemFs, SeededRandom};
    use std::io::Write;

    fn paths() -> Vec<PathBuf> {
        vec!["/a".into(), "/b".into()]
    }

    fn open(fs: &MemFs, paths: &[PathBuf], shape: (u32, u32), keep: bool, seed: u64) -> io::Result<Slab> {
        Slab::open(fs, paths, shape, keep, &SeededRandom::new(seed))
    }

    #[test]
    fn segments_take_turns_in_the_files() {
        let fs = MemFs::new();
        let slab = open(&fs, &paths(), (5, 100), false, 1).unwrap();
        for segment in 0..5 {
            slab.write(Place { segment, at: 10 }, &[segment as u8 + 1; 90]).unwrap();
        }
        for segment in 0..5 {
            let mut bytes = [0; 90];
            slab.read(Place { segment, at: 10 }, &mut bytes).unwrap();
            assert_eq!(bytes, [segment as u8 + 1; 90]);
        }
        let (a, b) = (fs.read(&paths()[0]).unwrap(), fs.read(&paths()[1]).unwrap());
        assert_eq!((a.len(), b.len()), (4096 + 300, 4096 + 300));
        assert_eq!([a[4096 + 10], a[4096 + 110], a[4096 + 210], b[4096 + 10], b[4096 + 110]], [1, 3, 5, 2, 4]);
    }

    #[test]
    fn the_same_files_keep_their_id_and_others_get_one() {
        let fs = MemFs::new();
        let id = |paths: &[PathBuf], shape, keep, seed| open(&fs, paths, shape, keep, seed).unwrap().shape().slab;
        let first = id(&paths(), (5, 100), true, 1);
        assert_eq!(id(&paths(), (5, 100), true, 2), first);
        let larger = id(&paths(), (6, 100), true, 3);
        assert_ne!(larger, first);
        let reversed = id(&["/b".into(), "/a".into()], (6, 100), true, 4);
        assert_ne!(reversed, larger);
        assert_ne!(id(&["/b".into(), "/a".into()], (6, 100), false, 5), reversed);
        let before = id(&paths(), (6, 100), true, 6);
        fs.corrupt(&paths()[1], 20, |byte| *byte ^= 1);
        assert_ne!(id(&paths(), (6, 100), true, 7), before);
        fs.remove_file(&paths()[0]).unwrap();
        assert_ne!(id(&paths(), (6, 100), true, 8), before);
    }

    #[test]
    fn other_files_are_left_alone() {
        let fs = MemFs::new();
        fs.create(Path::new("/b")).unwrap().write_all(b"the only copy of something").unwrap();
        let error = open(&fs, &paths(), (5, 100), true, 1).err().unwrap();
        assert_eq!(error.to_string(), "/b is there and is no cache file: remove it, or name another");
        assert_eq!(fs.read(Path::new("/b")).unwrap(), b"the only copy of something");
        assert!(!fs.exists(Path::new("/a")));
        assert!(open(&fs, &["/absent/a".into()], (5, 100), true, 1).is_err());
    }
}
