//! [`Dictionary`]: tags of a block, each written once.
//!
//! ```text
//! new tag      | FF | cint length | type and value |
//! known tag    | u16 place |            (at most 127 places, so the first byte is never FF)
//! ```
//! A new tag takes the next free place, or that of the tag not used for longest. Reader and writer keep the same books.

use crate::{
    error::Parsed,
    input::{Input, put_cint},
};
use std::collections::HashMap;

const PLACES: usize = 127;
const NEW: u8 = 0xff;

#[derive(Debug, Default)]
pub(super) struct Dictionary {
    entries: Vec<Vec<u8>>,
    /// Places, least recently used first.
    recent: Vec<u8>,
    /// Writers look tags up.
    places: HashMap<Vec<u8>, u8>,
}

impl Dictionary {
    pub(super) fn encode(&mut self, section: &[u8], out: &mut Vec<u8>) -> Parsed<()> {
        let mut input = Input::new(section);
        while !input.is_empty() {
            let len = input.u16()? as usize;
            let tag = input.take(len)?;
            match self.places.get(tag) {
                Some(place) => {
                    let place = *place;
                    out.extend_from_slice(&(place as u16).to_be_bytes());
                    self.touch(place);
                }
                None => {
                    out.push(NEW);
                    put_cint(out, len as u32);
                    out.extend_from_slice(tag);
                    if let Some(place) = self.add(tag) {
                        self.places.insert(tag.to_vec(), place);
                    }
                }
            }
        }
        Ok(())
    }

    /// Appends a section of `len` bytes to `out`.
    pub(super) fn decode(&mut self, input: &mut Input<'_>, out: &mut Vec<u8>, len: usize) -> Parsed<()> {
        let start = out.len();
        while out.len() - start < len {
            let status = input.u8()?;
            if status == NEW {
                let len = input.cint()?;
                let short = u16::try_from(len).map_err(|_| format!("tag of {len} bytes"))?;
                let tag = input.take(len as usize)?;
                out.extend_from_slice(&short.to_be_bytes());
                out.extend_from_slice(tag);
                self.add(tag);
            } else {
                let place = u16::from_be_bytes([status, input.u8()?]);
                let tag = self.entries.get(place as usize).ok_or_else(|| format!("no tag at place {place}"))?;
                out.extend_from_slice(&(tag.len() as u16).to_be_bytes());
                out.extend_from_slice(tag);
                self.touch(place as u8);
            }
        }
        match out.len() - start {
            got if got == len => Ok(()),
            got => Err(format!("{got} bytes of tags instead of {len}")),
        }
    }

    fn touch(&mut self, place: u8) {
        if let Some(at) = self.recent.iter().rposition(|p| *p == place) {
            self.recent.remove(at);
            self.recent.push(place);
        }
    }

    /// Keeps a tag; an empty one has no place.
    fn add(&mut self, tag: &[u8]) -> Option<u8> {
        if tag.is_empty() {
            return None;
        }
        let place = if self.entries.len() < PLACES {
            self.entries.push(tag.to_vec());
            (self.entries.len() - 1) as u8
        } else {
            let place = self.recent.remove(0);
            let old = std::mem::replace(&mut self.entries[place as usize], tag.to_vec());
            self.places.remove(&old);
            place
        };
        self.recent.push(place);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_tags_than_places() {
        let mut section = Vec::new();
        for round in 0..3u32 {
            for i in 0..200u32 {
                let tag = if i % 3 == 0 { i.wrapping_mul(2_654_435_761) % 150 } else { i + round };
                martite_cell::tags::append(&mut section, 1, &tag.to_be_bytes());
            }
        }
        let mut packed = Vec::new();
        Dictionary::default().encode(&section, &mut packed).unwrap();
        let mut back = Vec::new();
        Dictionary::default().decode(&mut Input::new(&packed), &mut back, section.len()).unwrap();
        assert_eq!(back, section);
        assert!(packed.len() < section.len());
    }

    #[test]
    fn bytes_of_a_new_and_a_known_tag() {
        let mut packed = Vec::new();
        Dictionary::default().encode(b"\0\x02\x01a\0\x02\x01b\0\x02\x01a", &mut packed).unwrap();
        assert_eq!(packed, b"\xff\x02\x01a\xff\x02\x01b\0\0");
    }
}
