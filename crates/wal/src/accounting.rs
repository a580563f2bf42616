//! Which sequence ids are not flushed yet, by region and family.
//!
//! ```text
//! append 7, 8, 9      unflushed 7
//! start_flush         unflushed -, flushing 7      appends from here on belong to the next flush
//! append 10           unflushed 10, flushing 7     lowest: 7
//! complete_flush      unflushed 10                 lowest: 10
//! abort_flush         unflushed 7                  (instead)
//! ```
//!
//! A file can go when the highest sequence id that it holds of each region is below the region's lowest.

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Accounting {
    regions: RwLock<HashMap<Bytes, Arc<RegionAccount>>>,
}

/// One opening of a region. A region that closes and opens again gets another account.
pub(crate) struct RegionAccount {
    pub region: Bytes,
    families: Mutex<Vec<FamilyAccount>>,
}

struct FamilyAccount {
    family: Bytes,
    unflushed: Option<u64>,
    flushing: Option<u64>,
}

impl FamilyAccount {
    fn lowest(&self) -> Option<u64> {
        min(self.unflushed, self.flushing)
    }
}

fn min(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl RegionAccount {
    pub fn lowest(&self, family: Option<&[u8]>) -> Option<u64> {
        let families = self.families.lock();
        let counted = families.iter().filter(|f| family.is_none_or(|name| f.family == name));
        counted.filter_map(FamilyAccount::lowest).min()
    }

    /// Families with edits up to `seq` that are in memory only.
    pub fn families_up_to(&self, seq: u64) -> Vec<Bytes> {
        let families = self.families.lock();
        families.iter().filter(|f| f.lowest().is_some_and(|low| low <= seq)).map(|f| f.family.clone()).collect()
    }
}

impl Accounting {
    /// Notes an edit before it is written, and returns its region's account.
    pub fn append(&self, region: &Bytes, families: &[Bytes], seq: u64) -> Arc<RegionAccount> {
        let known = self.regions.read().get(region).cloned();
        let account = known.unwrap_or_else(|| {
            let new = || RegionAccount { region: region.clone(), families: Mutex::default() };
            Arc::clone(self.regions.write().entry(region.clone()).or_insert_with(|| Arc::new(new())))
        });
        if !families.is_empty() {
            let mut accounts = account.families.lock();
            for family in families {
                match accounts.iter_mut().find(|f| f.family == *family) {
                    Some(f) => f.unflushed = min(f.unflushed, Some(seq)),
                    None => {
                        accounts.push(FamilyAccount { family: family.clone(), unflushed: Some(seq), flushing: None })
                    }
                }
            }
        }
        account
    }

    fn account(&self, region: &Bytes) -> Option<Arc<RegionAccount>> {
        self.regions.read().get(region).cloned()
    }

    /// Returns the lowest unflushed sequence id of the families that are not being flushed.
    pub fn start_flush(&self, region: &Bytes, families: &[Bytes]) -> Option<u64> {
        let account = self.account(region)?;
        let mut others = None;
        for family in account.families.lock().iter_mut() {
            if families.contains(&family.family) {
                // A flush that is started again without an end holds what both hold.
                family.flushing = min(family.flushing, family.unflushed.take());
            } else {
                others = min(others, family.lowest());
            }
        }
        others
    }

    pub fn complete_flush(&self, region: &Bytes, families: &[Bytes]) {
        self.each(region, families, |family| family.flushing = None);
    }

    pub fn abort_flush(&self, region: &Bytes, families: &[Bytes]) {
        self.each(region, families, |family| family.unflushed = min(family.unflushed, family.flushing.take()));
    }

    fn each(&self, region: &Bytes, families: &[Bytes], mut change: impl FnMut(&mut FamilyAccount)) {
        if let Some(account) = self.account(region) {
            account.families.lock().iter_mut().filter(|f| families.contains(&f.family)).for_each(&mut change);
        }
    }

    /// The region keeps nothing any more; files that name its account see it empty.
    pub fn close_region(&self, region: &Bytes) {
        if let Some(account) = self.regions.write().remove(region) {
            account.families.lock().clear();
        }
    }

    pub fn lowest(&self, region: &Bytes, family: Option<&[u8]>) -> Option<u64> {
        self.account(region)?.lowest(family)
    }
}

/// The highest sequence id of each region in one file.
#[derive(Default)]
pub(crate) struct FileAccount {
    /// By the address of the account, which cannot be another's while it is held here.
    highest: HashMap<usize, (Arc<RegionAccount>, u64)>,
}

impl FileAccount {
    pub fn note(&mut self, region: Arc<RegionAccount>, seq: u64) {
        let entry = self.highest.entry(Arc::as_ptr(&region) as usize).or_insert((region, seq));
        entry.1 = entry.1.max(seq);
    }

    pub fn is_flushed(&self) -> bool {
        self.highest.values().all(|(region, seq)| region.lowest(None).is_none_or(|low| low > *seq))
    }

    /// Regions that keep the file, with the highest sequence id that each has in it.
    pub fn keepers(&self) -> impl Iterator<Item = (&RegionAccount, u64)> {
        let keeps = |(region, seq): &&(Arc<RegionAccount>, u64)| region.lowest(None).is_some_and(|low| low <= *seq);
        self.highest.values().filter(keeps).map(|(region, seq)| (&**region, *seq))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: Bytes = Bytes::from_static(b"f");
    const G: Bytes = Bytes::from_static(b"g");
    const R: Bytes = Bytes::from_static(b"r");

    #[test]
    fn a_flush_takes_what_was_there_when_it_began() {
        let accounting = Accounting::default();
        accounting.append(&R, &[F], 7);
        accounting.append(&R, &[F, G], 8);
        assert_eq!((accounting.lowest(&R, None), accounting.lowest(&R, Some(b"g"))), (Some(7), Some(8)));
        assert_eq!(accounting.start_flush(&R, &[F]), Some(8));
        accounting.append(&R, &[F], 10);
        assert_eq!(accounting.lowest(&R, Some(b"f")), Some(7));
        accounting.complete_flush(&R, &[F]);
        assert_eq!((accounting.lowest(&R, Some(b"f")), accounting.lowest(&R, None)), (Some(10), Some(8)));
        assert_eq!(accounting.start_flush(&R, &[F, G]), None);
        accounting.append(&R, &[G], 12);
        accounting.abort_flush(&R, &[F, G]);
        assert_eq!((accounting.lowest(&R, Some(b"f")), accounting.lowest(&R, Some(b"g"))), (Some(10), Some(8)));
    }

    #[test]
    fn a_file_is_flushed_when_every_region_in_it_is() {
        let accounting = Accounting::default();
        let mut file = FileAccount::default();
        file.note(accounting.append(&R, &[F], 1), 1);
        file.note(accounting.append(&R, &[F], 5), 5);
        // A marker keeps no file.
        file.note(accounting.append(&G, &[], 9), 9);
        assert!(!file.is_flushed());
        assert_eq!(file.keepers().map(|(r, seq)| (r.region.clone(), seq)).collect::<Vec<_>>(), [(R, 5)]);
        accounting.start_flush(&R, &[F]);
        accounting.append(&R, &[F], 6);
        assert!(!file.is_flushed());
        accounting.complete_flush(&R, &[F]);
        assert!(file.is_flushed());
    }

    #[test]
    fn a_region_that_opens_again_does_not_hold_files_of_its_former_life() {
        let accounting = Accounting::default();
        let mut file = FileAccount::default();
        file.note(accounting.append(&R, &[F], 5), 5);
        accounting.close_region(&R);
        accounting.append(&R, &[F], 3);
        assert!(file.is_flushed());
        assert_eq!(accounting.lowest(&R, None), Some(3));
    }
}
