//! `GetStoreFile`: the names of a region's files.

use crate::RegionServer;
use crate::error::Fault;
use martite_proto as pb;

impl RegionServer {
    pub(crate) fn get_store_file(&self, q: &pb::GetStoreFileRequest) -> Result<pb::GetStoreFileResponse, Fault> {
        let region = self.region(&q.region)?;
        let wanted = |family: &bytes::Bytes| q.family.is_empty() || q.family.contains(family);
        let store_file = region
            .stores()
            .iter()
            .filter(|(family, _)| wanted(family))
            .flat_map(|(_, store)| store.files().iter().map(|f| f.path.display().to_string()).collect::<Vec<_>>())
            .collect();
        Ok(pb::GetStoreFileResponse { store_file })
    }
}
