//! What a family's descriptor means for its store.

use crate::{RegionConfig, RegionError};
use martite_catalog::FamilyDescriptor;
use martite_store::FamilyOptions;

/// The store's options of a family.
pub fn family_options(
    family: &FamilyDescriptor,
    is_meta: bool,
    config: &RegionConfig,
) -> Result<FamilyOptions, RegionError> {
    let _ = (family, is_meta, config);
    todo!()
}
