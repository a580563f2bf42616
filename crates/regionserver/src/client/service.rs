//! `ClientService.ExecService` and `ExecRegionServerService`: the coprocessor endpoints that are built in.

use super::aggregate::{Aggregation, is_aggregate};
use super::mutate::decode_condition;
use crate::cells::CellCursor;
use crate::error::Fault;
use crate::throttle::Toll;
use crate::{RegionServer, mutation};
use bytes::{Bytes, BytesMut};
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_region::{Region, WriteRequest};
use martite_rpc::{Call, Class};
use pb::Message;
use std::sync::Arc;

pub(super) fn decode(param: &Bytes) -> Result<pb::CoprocessorServiceRequest, Fault> {
    pb::CoprocessorServiceRequest::decode(param.clone()).map_err(|e| Fault::bad_message("CoprocessorServiceRequest", e))
}

impl RegionServer {
    /// What an endpoint does is not charged, as in HBase, unless it reads as a scan does.
    pub(crate) fn exec_service(self: &Arc<Self>, call: Call, toll: Toll) {
        let request = match decode(&call.param) {
            Ok(request) => request,
            Err(fault) => return call.responder.fail(fault.into_exception()),
        };
        if is_aggregate(&request.call) {
            return self.aggregate(call, toll, request);
        }
        self.stats.exec_service.hit();
        let server = self.clone();
        self.pool.spawn_call(Class::Write, call, move |call| match server.run_exec_service(request) {
            Ok(response) => call.responder.ok(&response, Vec::new()),
            Err(fault) => call.responder.fail(fault.into_exception()),
        });
    }

    fn run_exec_service(
        &self,
        request: pb::CoprocessorServiceRequest,
    ) -> Result<pb::CoprocessorServiceResponse, Fault> {
        let region = self.region(&request.region)?;
        let value = self.run_region_service(&region, &request.call, &self.ctx.stores.files.blocking())?;
        Ok(pb::CoprocessorServiceResponse { region: request.region, value })
    }

    /// Runs one endpoint call. Blocking.
    pub(crate) fn run_region_service(
        &self,
        region: &Arc<Region>,
        call: &pb::CoprocessorServiceCall,
        src: &dyn BlockSource,
    ) -> Result<pb::NameBytesPair, Fault> {
        if is_aggregate(call) {
            return Aggregation::begin(region, call)?.run(src);
        }
        match (call.service_name.rsplit('.').next(), call.method_name.as_str()) {
            (Some("MultiRowMutationService"), "MutateRows") => mutate_rows(region, &call.request, src),
            _ => Err(Fault::unknown_protocol(format!(
                "No registered coprocessor service found for {} in region {}",
                call.service_name,
                region.info().name_string()
            ))),
        }
    }
}

impl RegionServer {
    /// Endpoints of the server itself.
    pub(crate) fn exec_region_server_service(self: &Arc<Self>, call: Call, _: Toll) {
        self.stats.exec_service.hit();
        match self.run_server_service(&call.param) {
            Ok(response) => call.responder.ok(&response, Vec::new()),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }

    fn run_server_service(&self, param: &Bytes) -> Result<pb::CoprocessorServiceResponse, Fault> {
        let pb::CoprocessorServiceRequest { region, call } = decode(param)?;
        match (call.service_name.rsplit('.').next(), call.method_name.as_str()) {
            (Some("ThrottleUsageService"), "GetThrottleUsage") => {
                let bad = |e| Fault::bad_message("GetThrottleUsageRequest", e);
                let request = pb::GetThrottleUsageRequest::decode(call.request).map_err(bad)?;
                let response = self.throttles.usage_of(request.user.as_deref(), request.table.as_deref());
                let (name, value) =
                    ("hbase.pb.GetThrottleUsageResponse".to_owned(), Some(response.encode_to_vec().into()));
                Ok(pb::CoprocessorServiceResponse { region, value: pb::NameBytesPair { name, value } })
            }
            _ => Err(Fault::unknown_protocol(format!(
                "No registered coprocessor service found for {}",
                call.service_name
            ))),
        }
    }
}

/// MultiRowMutationService.MutateRows: several rows of one region, all or nothing.
fn mutate_rows(region: &Arc<Region>, request: &Bytes, src: &dyn BlockSource) -> Result<pb::NameBytesPair, Fault> {
    let request =
        pb::MutateRowsRequest::decode(request.clone()).map_err(|e| Fault::bad_message("MutateRowsRequest", e))?;
    let mut none = CellCursor::new(BytesMut::new(), None)?;
    let mutations =
        request.mutation_request.iter().map(|m| mutation::decode(m, &mut none)).collect::<Result<Vec<_>, _>>()?;
    let conditions = request.condition.iter().map(decode_condition).collect::<Result<Vec<_>, _>>()?;
    let mut write = WriteRequest::conditional(mutations, conditions, request.nonce_group.unwrap_or(0));
    let written = loop {
        match region.write(&mut write, src)? {
            Step::Ready(written) => break written,
            Step::Need(_) => {}
        }
    };
    written.pending.wait()?;
    let response = pb::MutateRowsResponse { processed: Some(written.processed) };
    Ok(pb::NameBytesPair {
        name: "org.apache.hadoop.hbase.protobuf.generated.MultiRowMutationProtos$MutateRowsResponse".to_owned(),
        value: Some(response.encode_to_vec().into()),
    })
}
