//! [`Input`]: the lines of files, folders and standard input, one after the other.

use crate::Error;
use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Longest line accepted.
const MOST_LINE: u64 = 256 << 20;
const BUFFER: usize = 256 << 10;

/// All files that paths name, in order.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let failed = |source| Error::File { path: path.display().to_string(), source };
        if is_standard_input(path) || !std::fs::metadata(path).map_err(failed)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // As Hadoop does: what it has written beside the data.
            let hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
            if !hidden && entry.file_type().map_err(failed)?.is_file() {
                inside.push(entry.path());
            }
        }
        inside.sort();
        files.append(&mut inside);
    }
    Ok(files)
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Bytes of all files, as far as they are known.
pub fn size_bytes(files: &[PathBuf]) -> u64 {
    files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum()
}

/// Counts the bytes of a file, packed as they may be.
struct Counted<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// One file's lines.
pub struct Input {
    pub name: String,
    reader: Box<dyn BufRead>,
    /// Of the line that comes next, from 1 on.
    pub line: u64,
    /// Where it begins, in unpacked bytes.
    pub offset: u64,
}

impl Input {
    /// `read` is told how many bytes of the file were read.
    pub fn open(path: &Path, read: &Rc<Cell<u64>>) -> Result<Input, Error> {
        let name = path.display().to_string();
        let raw: Box<dyn Read> = if is_standard_input(path) {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(path).map_err(|source| Error::File { path: name.clone(), source })?)
        };
        let counted = Counted { inner: raw, count: read.clone() };
        let reader: Box<dyn BufRead> = if path.extension().is_some_and(|extension| extension == "gz") {
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(BufReader::with_capacity(BUFFER, counted))))
        } else {
            Box::new(BufReader::with_capacity(BUFFER, counted))
        };
        Ok(Input { name, reader, line: 0, offset: 0 })
    }

    /// The next line without its end, into `line`, and where it begins; none at the end of the file.
    pub fn next(&mut self, line: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        line.clear();
        let failed = |source| Error::File { path: self.name.clone(), source };
        let mut limited = (&mut self.reader).take(MOST_LINE + 1);
        let read = limited.read_until(b'\n', line).map_err(failed)? as u64;
        if read == 0 {
            return Ok(None);
        }
        if read > MOST_LINE {
            return Err(Error::Wrong(format!(
                "{}: line {} is longer than {MOST_LINE} bytes",
                self.name,
                self.line + 1
            )));
        }
        let begin = self.offset;
        self.offset += read;
        self.line += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Some(begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn lines(path: &Path) -> Vec<(u64, String)> {
        let read = Rc::default();
        let (mut input, mut line, mut all) = (Input::open(path, &read).unwrap(), Vec::new(), Vec::new());
        while let Some(offset) = input.next(&mut line).unwrap() {
            all.push((offset, String::from_utf8_lossy(&line).into_owned()));
        }
        assert_eq!(read.get(), std::fs::metadata(path).unwrap().len());
        all
    }

    #[test]
    fn lines_of_plain_and_packed_files_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, packed) = (folder.path().join("a.tsv"), folder.path().join("b.tsv.gz"));
        let text = b"one\ntwo\r\n\nlast";
        std::fs::write(&plain, text).unwrap();
        let mut encoder = GzEncoder::new(File::create(&packed).unwrap(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap();
        let want = [(0, "one"), (4, "two"), (9, ""), (10, "last")].map(|(at, line)| (at, line.to_owned()));
        assert_eq!(lines(&plain), want);
        assert_eq!(lines(&packed), want);
    }

    #[test]
    fn folders_are_their_files_but_those_of_hadoop() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a", "_SUCCESS", ".a.crc"] {
            std::fs::write(folder.path().join(name), "xy").unwrap();
        }
        std::fs::create_dir(folder.path().join("deeper")).unwrap();
        let found = files(&[folder.path().to_owned(), PathBuf::from("-")]).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!((names, size_bytes(&found)), (["a", "b", "-"].map(str::to_owned).to_vec(), 4));
        let told = files(&[folder.path().join("none")]).unwrap_err().to_string();
        assert!(told.contains("none: "), "{told}");
    }
}
