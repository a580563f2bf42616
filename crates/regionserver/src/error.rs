//! What goes wrong while a call is served, and the HBase exception that tells the client.

use martite_cell::CellError;
use martite_filter::FilterError;
use martite_region::RegionError;
use martite_rpc::Exception;
use std::borrow::Cow;

/// An HBase exception in the making: Java class, message, and what the client should do.
#[derive(Debug, Clone)]
pub struct Fault {
    pub class: Cow<'static, str>,
    pub message: String,
    pub do_not_retry: bool,
    pub overloaded: bool,
}

macro_rules! exception_classes {
    ($($name:ident = $class:literal, $dnr:literal;)*) => {
        impl Fault {
            $(pub fn $name(message: impl Into<String>) -> Fault {
                Fault { class: Cow::Borrowed($class), message: message.into(), do_not_retry: $dnr, overloaded: false }
            })*
        }
    };
}

exception_classes! {
    io = "java.io.IOException", false;
    illegal_argument = "org.apache.hadoop.hbase.DoNotRetryIOException", true;
    do_not_retry = "org.apache.hadoop.hbase.DoNotRetryIOException", true;
    not_serving = "org.apache.hadoop.hbase.NotServingRegionException", false;
    region_opening = "org.apache.hadoop.hbase.exceptions.RegionOpeningException", false;
    wrong_region = "org.apache.hadoop.hbase.regionserver.WrongRegionException", false;
    too_busy = "org.apache.hadoop.hbase.RegionTooBusyException", false;
    no_such_family = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException", true;
    failed_sanity_check = "org.apache.hadoop.hbase.exceptions.FailedSanityCheckException", true;
    row_too_big = "org.apache.hadoop.hbase.client.RowTooBigException", true;
    unknown_scanner = "org.apache.hadoop.hbase.UnknownScannerException", true;
    out_of_order_next = "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException", true;
    scanner_reset = "org.apache.hadoop.hbase.exceptions.ScannerResetException", true;
    lease = "org.apache.hadoop.hbase.regionserver.LeaseException", true;
    unknown_protocol = "org.apache.hadoop.hbase.exceptions.UnknownProtocolException", true;
    space_limiting = "org.apache.hadoop.hbase.quotas.SpaceLimitingException", true;
    result_too_large = "org.apache.hadoop.hbase.MultiActionResultTooLarge", false;
    throttled = "org.apache.hadoop.hbase.quotas.RpcThrottlingException", false;
    server_stopped = "org.apache.hadoop.hbase.regionserver.RegionServerStoppedException", false;
    please_hold = "org.apache.hadoop.hbase.PleaseHoldException", false;
    not_running_yet = "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException", false;
    corrupt = "org.apache.hadoop.hbase.io.hfile.CorruptHFileException", true;
}

impl Fault {
    pub fn wrong_row(got: &[u8], want: &[u8]) -> Fault {
        Fault::do_not_retry(format!(
            "The row in {} doesn't match the original one {}",
            got.escape_ascii(),
            want.escape_ascii()
        ))
    }

    /// A method that this server does not have: named, and not to be retried.
    pub fn unsupported(service: &str, method: &str) -> Fault {
        Fault::do_not_retry(format!("java.lang.UnsupportedOperationException: {service}.{method} is not supported"))
    }

    pub fn bad_message(what: &str, error: impl std::fmt::Display) -> Fault {
        Fault::do_not_retry(format!("{what} cannot be read: {error}"))
    }

    /// `class: message`, as it stands in per-action exceptions of a multi.
    pub fn text(&self) -> String {
        format!("{}: {}", self.class, self.message)
    }

    /// The exception of one action of a multi.
    pub fn to_pair(&self) -> martite_proto::NameBytesPair {
        martite_proto::NameBytesPair { name: self.class.to_string(), value: Some(self.text().into_bytes().into()) }
    }

    pub fn into_exception(self) -> Exception {
        Exception {
            class: self.class,
            message: self.message,
            do_not_retry: self.do_not_retry,
            overloaded: self.overloaded,
            moved_to: None,
        }
    }
}

impl From<CellError> for Fault {
    fn from(e: CellError) -> Fault {
        Fault::do_not_retry(e.to_string())
    }
}

impl From<FilterError> for Fault {
    fn from(e: FilterError) -> Fault {
        Fault::do_not_retry(format!("org.apache.hadoop.hbase.exceptions.DeserializationException: {e}"))
    }
}

impl From<RegionError> for Fault {
    fn from(e: RegionError) -> Fault {
        let message = e.to_string();
        match e {
            RegionError::NotServing(_) => Fault::not_serving(message),
            RegionError::WrongRegion(_) => Fault::wrong_region(message),
            RegionError::NoSuchFamily(_) => Fault::no_such_family(message),
            RegionError::TooBusy(_) => Fault::too_busy(message),
            RegionError::FailedSanityCheck(_) => Fault::failed_sanity_check(message),
            RegionError::RowTooBig(_) => Fault::row_too_big(message),
            RegionError::Corrupt(_) => Fault::corrupt(message),
            RegionError::ReadOnly | RegionError::DoNotRetry(_) | RegionError::Filter(_) => Fault::do_not_retry(message),
            _ => Fault::io(message),
        }
    }
}
