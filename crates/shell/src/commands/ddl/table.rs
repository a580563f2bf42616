//! What several commands ask of a table: whether it exists, its quotas.

use crate::failure::{Failure, Run};
use crate::session::Session;
use martite_catalog::TableName;
use martite_client::admin::{QuotaFilter, QuotaSetting};

pub fn exists(session: &mut Session, text: &str) -> Run<bool> {
    let name = TableName::parse(text)?;
    let admin = session.admin()?;
    session.wait(async { admin.table_exists(&name).await })
}

/// The name of a table that is there.
pub fn existing(session: &mut Session, text: &str) -> Run<TableName> {
    if !exists(session, text)? {
        return Err(Failure::argument(format!("Table {text} does not exist.")));
    }
    Ok(TableName::parse(text)?)
}

/// Quotas that are set; None: this cluster has no quotas.
pub fn quotas_of(session: &mut Session, filter: &QuotaFilter) -> Run<Option<Vec<QuotaSetting>>> {
    let admin = session.admin()?;
    let quotas = TableName::quota_table();
    if !session.wait(async { admin.table_exists(&quotas).await })? {
        return Ok(None);
    }
    session.wait(async { admin.quotas(filter, None).await }).map(Some)
}

pub fn print_quotas(session: &mut Session, quotas: &[QuotaSetting]) {
    for quota in quotas {
        session.print.row(&[quota.to_string()]);
    }
    session.print.footer(Some(quotas.len() as u64));
}
