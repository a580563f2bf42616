//! [`Admin`]: what can be asked of the master and of region servers beside data. One file a group of methods.
//!
//! Whatever the master does in a procedure (a table made, a region split) is over when the method returns; some
//! methods have a form that only begins it and answers a [`Pending`]. Methods that answer HBase's own messages
//! (`pb::…`) do so where nothing is gained by another form.
//!
//! ```no_run
//! # async fn f(connection: martite_client::Connection) -> Result<(), martite_client::Error> {
//! use martite_catalog::{FamilyDescriptor, TableDescriptor};
//!
//! let admin = connection.admin();
//! let table = TableDescriptor::new("ns:t".parse()?).with_family(FamilyDescriptor::new("f").with("VERSIONS", "3"));
//! admin.create_table(&table, &[b"m"]).await?;
//! for region in admin.regions(table.name()).await? {
//!     println!("{} on {}", region.info.name_string(), region.opened_on()?);
//! }
//! # Ok(())
//! # }
//! ```

pub mod cluster;
mod compactions;
mod hbck;
mod labels;
mod logs;
mod namespaces;
mod procedures;
mod quotas;
mod regions;
mod replication;
mod rsgroups;
mod security;
mod snapshots;
mod switches;
mod tables;

pub use cluster::Status;
pub use compactions::CompactionState;
pub use logs::{LogFilter, LogKind};
pub use martite_quota::table::Owner as QuotaOwner;
pub use procedures::Pending;
pub use quotas::{QuotaFilter, QuotaKind, QuotaSetting};
pub use regions::HeldRegion;
pub use rsgroups::GroupOf;
pub use security::{Capability, Scope};
pub use snapshots::SnapshotType;
pub use switches::{Balanced, SplitOrMerge};

use crate::{Connection, Error, Exception, Options, Registry};
use martite_catalog::ServerName;
use martite_proto as pb;
use pb::Message;
use pb::region_specifier::RegionSpecifierType;
use std::net::SocketAddr;

pub use crate::locations::specifier as by_name;

const MASTER: &str = "MasterService";
const ADMIN: &str = "AdminService";

/// Administers a cluster; cheap to make and to clone.
#[derive(Debug, Clone)]
pub struct Admin {
    connection: Connection,
}

impl Admin {
    pub(crate) fn new(connection: Connection) -> Admin {
        Admin { connection }
    }

    /// For a cluster of these two servers; nothing is tried a second time.
    pub async fn connect(master: SocketAddr, regionserver: SocketAddr) -> Result<Admin, Error> {
        let registry = Registry::rpc(&format!("{master},{regionserver}"));
        Ok(Connection::connect(Options::new(registry).retries(0)).await?.admin())
    }

    /// The connection that it is of.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// A number that makes a repetition of a request harmless, behind its group.
    fn nonce(&self) -> (Option<u64>, Option<u64>) {
        (Some(self.connection.0.nonce_group), self.connection.nonce())
    }

    async fn master<A: Message + Default>(&self, method: &'static str, request: &impl Message) -> Result<A, Error> {
        self.connection.master_call(MASTER, method, request).await
    }

    async fn server<A: Message + Default>(
        &self,
        server: &ServerName,
        method: &'static str,
        request: &impl Message,
    ) -> Result<A, Error> {
        self.connection.server_call(server, ADMIN, method, request).await
    }
}

/// What HBase's client throws itself, or finds in the answer of a call.
fn client_exception(class: &str, text: String) -> Error {
    let (class, server) = (class.to_owned(), None);
    Error::Exception(Box::new(Exception { class, text, do_not_retry: true, overloaded: false, moved_to: None, server }))
}

fn by_encoded_name(name: &str) -> pb::RegionSpecifier {
    let value = name.as_bytes().to_vec().into();
    pb::RegionSpecifier { r#type: RegionSpecifierType::EncodedRegionName as i32, value }
}
