//! `CompactRegion`: asks for a compaction; answers before it runs.

use crate::RegionServer;
use crate::background::Job;
use crate::error::Fault;
use martite_proto as pb;

impl RegionServer {
    pub(crate) fn compact_region(
        &self,
        user: &str,
        q: &pb::CompactRegionRequest,
    ) -> Result<pb::CompactRegionResponse, Fault> {
        let region = self.region(&q.region)?;
        // Who may do everything may make room, too.
        if !self.options.quotas.is_superuser(user) {
            self.space.check_compaction(&region)?;
        }
        if let Some(family) = &q.family
            && region.store(family).is_none()
        {
            return Err(Fault::no_such_family(format!(
                "Column family {} does not exist in region {}",
                martite_catalog::to_string_binary(family),
                region.info().name_string()
            )));
        }
        self.background.want_compaction(Job {
            region: region.info().encoded_name().to_owned(),
            family: q.family.as_ref().map(|f| f.to_vec()),
            major: q.major.unwrap_or(false),
        });
        Ok(pb::CompactRegionResponse {})
    }
}
