//! Groups of region servers: an endpoint of the master in HBase 2.x, there if it is enabled.

use super::Admin;
use super::cluster::protos;
use crate::Error;
use bytes::Bytes;
use martite_catalog::{ServerName, TableName};
use martite_proto as pb;
use pb::Message;

const SERVICE: &str = "RSGroupAdminService";

/// Whose group is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupOf {
    Name(String),
    Table(TableName),
    /// host and port; a group does not know start codes.
    Server(ServerName),
}

impl Admin {
    /// Calls a method of an endpoint that the master has.
    pub async fn master_endpoint<A: Message + Default>(
        &self,
        service: &str,
        method: &str,
        message: &impl Message,
    ) -> Result<A, Error> {
        let request = pb::CoprocessorServiceRequest {
            // The master does not look at it.
            region: super::by_encoded_name(""),
            call: endpoint_call(service, method, Bytes::new(), message),
        };
        let answer: pb::CoprocessorServiceResponse = self.master("ExecMasterService", &request).await?;
        endpoint_answer(answer)
    }

    /// Calls a method of an endpoint that a region server has.
    pub async fn server_endpoint<A: Message + Default>(
        &self,
        server: &ServerName,
        service: &str,
        method: &str,
        message: &impl Message,
    ) -> Result<A, Error> {
        let request = pb::CoprocessorServiceRequest {
            // The server does not look at it.
            region: super::by_encoded_name(""),
            call: endpoint_call(service, method, Bytes::new(), message),
        };
        let connection = self.connection();
        let answer: pb::CoprocessorServiceResponse =
            connection.server_call(server, "ClientService", "ExecRegionServerService", &request).await?;
        endpoint_answer(answer)
    }

    async fn group<A: Message + Default>(&self, method: &str, message: &impl Message) -> Result<A, Error> {
        self.master_endpoint(SERVICE, method, message).await
    }

    pub async fn rsgroups(&self) -> Result<Vec<pb::RsGroupInfo>, Error> {
        let answer: pb::ListRsGroupInfosResponse =
            self.group("ListRSGroupInfos", &pb::ListRsGroupInfosRequest {}).await?;
        Ok(answer.r_s_group_info)
    }

    /// None: there is no such group.
    pub async fn rsgroup(&self, of: &GroupOf) -> Result<Option<pb::RsGroupInfo>, Error> {
        Ok(match of {
            GroupOf::Name(name) => {
                let request = pb::GetRsGroupInfoRequest { r_s_group_name: name.clone() };
                let answer: pb::GetRsGroupInfoResponse = self.group("GetRSGroupInfo", &request).await?;
                answer.r_s_group_info
            }
            GroupOf::Table(table) => {
                let request = pb::GetRsGroupInfoOfTableRequest { table_name: table.to_proto() };
                let answer: pb::GetRsGroupInfoOfTableResponse = self.group("GetRSGroupInfoOfTable", &request).await?;
                answer.r_s_group_info
            }
            GroupOf::Server(server) => {
                let request = pb::GetRsGroupInfoOfServerRequest { server: server.to_proto() };
                let answer: pb::GetRsGroupInfoOfServerResponse = self.group("GetRSGroupInfoOfServer", &request).await?;
                answer.r_s_group_info
            }
        })
    }

    pub async fn add_rsgroup(&self, name: &str) -> Result<(), Error> {
        let request = pb::AddRsGroupRequest { r_s_group_name: name.to_owned() };
        let _: pb::AddRsGroupResponse = self.group("AddRSGroup", &request).await?;
        Ok(())
    }

    pub async fn remove_rsgroup(&self, name: &str) -> Result<(), Error> {
        let request = pb::RemoveRsGroupRequest { r_s_group_name: name.to_owned() };
        let _: pb::RemoveRsGroupResponse = self.group("RemoveRSGroup", &request).await?;
        Ok(())
    }

    pub async fn rename_rsgroup(&self, old: &str, new: &str) -> Result<(), Error> {
        let (old_rsgroup_name, new_rsgroup_name) = (old.to_owned(), new.to_owned());
        let request = pb::RenameRsGroupRequest { old_rsgroup_name, new_rsgroup_name };
        let _: pb::RenameRsGroupResponse = self.group("RenameRSGroup", &request).await?;
        Ok(())
    }

    /// Whether the balancer ran over the group's servers.
    pub async fn balance_rsgroup(
        &self,
        name: &str,
        dry_run: bool,
        ignore_transitions: bool,
    ) -> Result<super::Balanced, Error> {
        let request = pb::BalanceRsGroupRequest {
            r_s_group_name: name.to_owned(),
            ignore_rit: Some(ignore_transitions),
            dry_run: Some(dry_run),
        };
        let answer: pb::BalanceRsGroupResponse = self.group("BalanceRSGroup", &request).await?;
        let (moves_calculated, moves_executed) = (answer.moves_calculated(), answer.moves_executed());
        Ok(super::Balanced { ran: answer.balance_ran, moves_calculated, moves_executed })
    }

    pub async fn move_servers_to_rsgroup(&self, servers: &[ServerName], group: &str) -> Result<(), Error> {
        let request = pb::MoveServersRequest { target_group: group.to_owned(), servers: protos(servers) };
        let _: pb::MoveServersResponse = self.group("MoveServers", &request).await?;
        Ok(())
    }

    pub async fn move_tables_to_rsgroup(&self, tables: &[TableName], group: &str) -> Result<(), Error> {
        let table_name = tables.iter().map(TableName::to_proto).collect();
        let request = pb::MoveTablesRequest { target_group: group.to_owned(), table_name };
        let _: pb::MoveTablesResponse = self.group("MoveTables", &request).await?;
        Ok(())
    }

    pub async fn move_servers_and_tables_to_rsgroup(
        &self,
        servers: &[ServerName],
        tables: &[TableName],
        group: &str,
    ) -> Result<(), Error> {
        let table_name = tables.iter().map(TableName::to_proto).collect();
        let (target_group, servers) = (group.to_owned(), protos(servers));
        let request = pb::MoveServersAndTablesRequest { target_group, servers, table_name };
        let _: pb::MoveServersAndTablesResponse = self.group("MoveServersAndTables", &request).await?;
        Ok(())
    }

    /// Forgets decommissioned servers.
    pub async fn remove_servers_from_rsgroup(&self, servers: &[ServerName]) -> Result<(), Error> {
        let request = pb::RemoveServersRequest { servers: protos(servers) };
        let _: pb::RemoveServersResponse = self.group("RemoveServers", &request).await?;
        Ok(())
    }

    /// Replaces a group's settings.
    pub async fn update_rsgroup_config(&self, group: &str, settings: &[(String, String)]) -> Result<(), Error> {
        let pair = |(name, value): &(String, String)| pb::NameStringPair { name: name.clone(), value: value.clone() };
        let configuration = settings.iter().map(pair).collect();
        let request = pb::UpdateRsGroupConfigRequest { group_name: group.to_owned(), configuration };
        let _: pb::UpdateRsGroupConfigResponse = self.group("UpdateRSGroupConfig", &request).await?;
        Ok(())
    }
}

pub(super) fn endpoint_call(
    service: &str,
    method: &str,
    row: Bytes,
    message: &impl Message,
) -> pb::CoprocessorServiceCall {
    pb::CoprocessorServiceCall {
        row,
        service_name: service.to_owned(),
        method_name: method.to_owned(),
        request: message.encode_to_vec().into(),
    }
}

pub(super) fn endpoint_answer<A: Message + Default>(answer: pb::CoprocessorServiceResponse) -> Result<A, Error> {
    let value = answer.value.value.unwrap_or_default();
    A::decode(value).map_err(|error| Error::Malformed(format!("{}: {error}", answer.value.name)))
}
