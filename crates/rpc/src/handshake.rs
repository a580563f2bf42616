//! What comes before the first call: preamble, the detour of a SASL client, connection header.
//!
//! | first 6 bytes | answer | then |
//! |---|---|---|
//! | `HBas` 00 50 | none | connection header |
//! | `HBas` 00 51 or 52 | 0, -88 (go on without SASL) | one frame is ignored, then the connection header |
//! | `Regist` | the cluster id | close |
//! | `Securi` | SecurityNotEnabledException | another preamble |
//! | else | FatalConnectionException `Expected HEADER=…` | close |
//!
//! A header that cannot be served closes the connection without an answer, as HBase's server does.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use martite_cell::Codec;
use martite_compress::StreamCodec;
use martite_proto::{ConnectionHeader, GetConnectionRegistryResponse, Message, VersionInfo};

use crate::connection::{ClientVersion, Connection};
use crate::format::{
    AUTH_DIGEST, AUTH_KERBEROS, AUTH_SIMPLE, CONNECTION_CALL_ID, PREAMBLE_LEN, PREAMBLE_MAGIC, PREAMBLE_REGISTRY,
    PREAMBLE_SECURITY, SWITCH_TO_SIMPLE_AUTH, VERSION,
};
use crate::header::{exception_frame, put_answer_head};
use crate::link::Link;
use crate::{Exception, Handler};

/// What a preamble leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Preamble {
    /// The connection header follows.
    Header,
    /// Say this, ignore one frame; the connection header follows.
    IgnoreToken(Vec<u8>),
    /// Say this; another preamble follows.
    Again(Vec<u8>),
    /// Say this and close.
    Close(Vec<u8>),
}

/// Judges the first bytes of a connection.
pub(crate) fn preamble(bytes: &[u8; PREAMBLE_LEN], link: &Link) -> Preamble {
    if bytes == PREAMBLE_REGISTRY {
        let cluster_id = link.server.handler.cluster_id();
        if !cluster_id.is_empty() {
            return Preamble::Close(registry_answer(cluster_id));
        }
    }
    if bytes == PREAMBLE_SECURITY {
        let class = "org.apache.hadoop.hbase.ipc.SecurityNotEnabledException";
        return Preamble::Again(refusal(link, Exception::new(class, "security is not enabled")));
    }
    let [magic @ .., version, auth] = bytes;
    if magic != PREAMBLE_MAGIC {
        let message = format!("Expected HEADER=HBas but received HEADER={} from {}", printable(magic), link.peer);
        return Preamble::Close(refusal(link, fatal("FatalConnectionException", message)));
    }
    if *version != VERSION {
        return Preamble::Close(refusal(link, fatal("WrongVersionException", mismatch(*version, *auth, link))));
    }
    match *auth {
        AUTH_SIMPLE => Preamble::Header,
        AUTH_KERBEROS | AUTH_DIGEST => {
            Preamble::IgnoreToken([0i32.to_be_bytes(), SWITCH_TO_SIMPLE_AUTH.to_be_bytes()].concat())
        }
        _ => Preamble::Close(refusal(link, fatal("BadAuthException", mismatch(*version, *auth, link)))),
    }
}

fn fatal(class: &str, message: String) -> Exception {
    Exception::fatal(format!("org.apache.hadoop.hbase.ipc.{class}"), message)
}

fn mismatch(version: u8, auth: u8, link: &Link) -> String {
    let auth = auth as i8;
    format!("serverVersion={VERSION}, clientVersion={version}, authMethod={auth}, authName=unknown from {}", link.peer)
}

/// A frame that belongs to no call. Clients look at the beginning of its text, so the class does not precede it.
fn refusal(link: &Link, exception: Exception) -> Vec<u8> {
    link.server.exceptions.count(&exception.class);
    exception_frame(CONNECTION_CALL_ID, &exception, exception.message.clone())
}

fn registry_answer(cluster_id: String) -> Vec<u8> {
    let message = GetConnectionRegistryResponse { cluster_id };
    let mut frame = Vec::new();
    put_answer_head(&mut frame, CONNECTION_CALL_ID, message.encoded_len(), 0);
    frame.extend_from_slice(&message.encode_to_vec());
    frame
}

/// Bytes as HBase prints them: ASCII, else `\xNN`.
fn printable(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, b| {
        match b {
            b'\\' => text.push_str("\\x5C"),
            b' '..=b'~' => text.push(char::from(*b)),
            _ => _ = write!(text, "\\x{b:02X}"),
        }
        text
    })
}

/// Why a connection header cannot be served.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error("malformed connection header: {0}")]
    Malformed(String),
    #[error("no service name in the connection header")]
    EmptyService,
    #[error("unknown service {0:?}")]
    UnknownService(String),
    #[error("unsupported cell codec {0:?}")]
    UnsupportedCodec(String),
    #[error("unsupported compression codec {0:?}")]
    UnsupportedCompressor(String),
}

impl HeaderError {
    /// HBase's class for it, for the counters.
    pub fn class(&self) -> &'static str {
        match self {
            HeaderError::Malformed(_) => "com.google.protobuf.InvalidProtocolBufferException",
            HeaderError::EmptyService => "org.apache.hadoop.hbase.ipc.EmptyServiceNameException",
            HeaderError::UnknownService(_) => "org.apache.hadoop.hbase.ipc.UnknownServiceException",
            HeaderError::UnsupportedCodec(_) => "org.apache.hadoop.hbase.ipc.UnsupportedCellCodecException",
            HeaderError::UnsupportedCompressor(_) => "org.apache.hadoop.hbase.ipc.UnsupportedCompressionCodecException",
        }
    }
}

/// Makes the connection that a header describes.
pub(crate) fn connection(header: Bytes, link: &Arc<Link>, handler: &dyn Handler) -> Result<Connection, HeaderError> {
    let header = ConnectionHeader::decode(header).map_err(|e| HeaderError::Malformed(e.to_string()))?;
    let service = header.service_name.filter(|name| !name.is_empty()).ok_or(HeaderError::EmptyService)?;
    if !handler.serves(&service) {
        return Err(HeaderError::UnknownService(service));
    }
    let codec = match header.cell_block_codec_class.filter(|class| !class.is_empty()) {
        Some(class) => Some(Codec::from_class(&class).ok_or(HeaderError::UnsupportedCodec(class))?),
        None => None,
    };
    // HBase looks at the compressor only when there is a codec.
    let compressor = match header.cell_block_compressor_class.filter(|class| codec.is_some() && !class.is_empty()) {
        Some(class) => Some(StreamCodec::from_class(&class).ok_or(HeaderError::UnsupportedCompressor(class))?),
        None => None,
    };
    let (user, real_user) = header.user_info.map(|u| (u.effective_user, u.real_user)).unwrap_or_default();
    let attributes = header.attribute.into_iter().map(|a| (a.name, owned(a.value.unwrap_or_default()))).collect();
    let version = header.version_info.map(client_version);
    Ok(Connection {
        service,
        user,
        real_user,
        codec,
        compressor,
        version,
        attributes,
        peer: link.peer,
        link: link.clone(),
    })
}

/// A connection lives long: it must not hold on to the read buffer of its header.
fn owned(bytes: Bytes) -> Bytes {
    Bytes::copy_from_slice(&bytes)
}

/// Old clients send only the text of their version.
fn client_version(info: VersionInfo) -> ClientVersion {
    let mut parts = info.version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    let of_text = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    let (major, minor) = info.version_major.zip(info.version_minor).unwrap_or(of_text);
    ClientVersion { major, minor, text: info.version }
}
