//! Visibility labels: an endpoint of the region of hbase:labels, there if the VisibilityController is enabled.

use super::rsgroups::{endpoint_answer, endpoint_call};
use super::{Admin, by_name};
use crate::Error;
use bytes::Bytes;
use martite_catalog::TableName;
use martite_proto as pb;
use pb::Message;

const SERVICE: &str = "VisibilityLabelsService";

impl Admin {
    /// Calls a method of an endpoint of the region that has a row.
    pub async fn region_endpoint<A: Message + Default>(
        &self,
        table: &TableName,
        row: &[u8],
        service: &str,
        method: &str,
        message: &impl Message,
    ) -> Result<A, Error> {
        let location = self.connection.table(table.clone()).locate(row).await?;
        let call = endpoint_call(service, method, Bytes::copy_from_slice(row), message);
        let request = pb::CoprocessorServiceRequest { region: by_name(&location.info), call };
        let answer: pb::CoprocessorServiceResponse =
            self.connection.server_call(&location.server, "ClientService", "ExecService", &request).await?;
        endpoint_answer(answer)
    }

    async fn label<A: Message + Default>(&self, method: &str, message: &impl Message) -> Result<A, Error> {
        let table = TableName::parse("hbase:labels")?;
        self.region_endpoint(&table, b"", SERVICE, method, message).await
    }

    /// Defines labels.
    pub async fn add_labels(&self, labels: &[String]) -> Result<(), Error> {
        let vis_label = labels
            .iter()
            .map(|label| pb::VisibilityLabel { label: label.clone().into_bytes().into(), ordinal: None })
            .collect();
        let answer: pb::VisibilityLabelsResponse =
            self.label("addLabels", &pb::VisibilityLabelsRequest { vis_label }).await?;
        all_done(&answer)
    }

    /// The labels that match a Java regular expression.
    pub async fn list_labels(&self, regex: &str) -> Result<Vec<String>, Error> {
        let request = pb::ListLabelsRequest { regex: Some(regex.to_owned()) };
        let answer: pb::ListLabelsResponse = self.label("listLabels", &request).await?;
        Ok(answer.label.iter().map(|label| String::from_utf8_lossy(label).into_owned()).collect())
    }

    /// Gives labels to a user.
    pub async fn set_auths(&self, user: &str, labels: &[String]) -> Result<(), Error> {
        all_done(&self.label("setAuths", &auths(user, labels)).await?)
    }

    /// Takes labels from a user.
    pub async fn clear_auths(&self, user: &str, labels: &[String]) -> Result<(), Error> {
        all_done(&self.label("clearAuths", &auths(user, labels)).await?)
    }

    pub async fn auths(&self, user: &str) -> Result<Vec<String>, Error> {
        let request = pb::GetAuthsRequest { user: user.as_bytes().to_vec().into() };
        let answer: pb::GetAuthsResponse = self.label("getAuths", &request).await?;
        Ok(answer.auth.iter().map(|label| String::from_utf8_lossy(label).into_owned()).collect())
    }
}

fn auths(user: &str, labels: &[String]) -> pb::SetAuthsRequest {
    let auth = labels.iter().map(|label| Bytes::copy_from_slice(label.as_bytes())).collect();
    pb::SetAuthsRequest { user: user.as_bytes().to_vec().into(), auth }
}

/// The first exception among the answers.
fn all_done(answer: &pb::VisibilityLabelsResponse) -> Result<(), Error> {
    match answer.result.iter().find_map(|result| result.exception.as_ref()) {
        None => Ok(()),
        Some(pair) => {
            let text = pair.value.as_deref().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
            Err(super::client_exception(&pair.name, text))
        }
    }
}
