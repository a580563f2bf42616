//! [`Named`]: one of a kind for each name, looked up once and then held.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Those that somebody holds, and for a while those that nobody holds any more.
#[derive(Debug, Default)]
pub struct Named<T>(Mutex<BTreeMap<String, Arc<T>>>);

impl<T: Default> Named<T> {
    /// The one of this name. Others that nobody holds are forgotten.
    pub fn get(&self, name: &str) -> Arc<T> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.retain(|known, one| known == name || Arc::strong_count(one) > 1);
        map.entry(name.to_owned()).or_default().clone()
    }

    /// All, by name.
    pub fn all(&self) -> Vec<(String, Arc<T>)> {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.iter().map(|(name, one)| (name.clone(), one.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_name_is_one_and_is_forgotten_with_its_last_holder() {
        let named = Named::<AtomicU64>::default();
        let (a, b) = (named.get("a"), named.get("b"));
        a.store(5, Ordering::Relaxed);
        drop(a);
        assert_eq!(named.get("a").load(Ordering::Relaxed), 5);
        drop(named.get("b"));
        let names: Vec<String> = named.all().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["b"]);
        drop(b);
    }
}
