//! [`Exception`]: what a server threw, and how a client reacts to it.
//!
//! The classes and reactions are those of HBase 2.6's client (`ClientExceptionsUtil`, `AsyncRpcRetryingCaller`).

use martite_catalog::ServerName;
use martite_proto as pb;
use std::time::Duration;

/// A server's exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// Full name of the Java class.
    pub class: String,
    /// As Java prints it: class, message, frames of the stack.
    pub text: String,
    pub do_not_retry: bool,
    pub overloaded: bool,
    /// Where a region is now, as the header of a RegionMovedException has it.
    pub moved_to: Option<(String, u16)>,
    /// Address of the server that threw it.
    pub server: Option<String>,
}

impl Exception {
    /// The class without its package.
    pub fn simple_class(&self) -> &str {
        self.class.rsplit('.').next().unwrap_or_default()
    }

    /// The message alone: no class before it, no stack after it. A message of several lines is whole.
    pub fn message(&self) -> &str {
        let text = self.text.strip_prefix(self.class.as_str()).unwrap_or(&self.text);
        let text = text.strip_prefix(':').unwrap_or(text);
        let end = [text.find("\n\tat "), text.find("\nCaused by: ")].into_iter().flatten().min();
        text[..end.unwrap_or(text.len())].trim()
    }

    /// One of a multi's answer: its name is the class, its value the text.
    pub(crate) fn from_pair(pair: &pb::NameBytesPair, server: &str) -> Exception {
        let text = pair.value.as_deref().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
        let class = pair.name.clone();
        let do_not_retry = DO_NOT_RETRY.contains(&class.rsplit('.').next().unwrap_or_default());
        Exception { class, text, do_not_retry, overloaded: false, moved_to: None, server: Some(server.to_owned()) }
    }

    /// The wait that a server under a quota asks for: `… - wait 1sec, 250ms`.
    pub(crate) fn throttled_for(&self) -> Option<Duration> {
        let (_, wait) = self.message().rsplit_once(" - wait ")?;
        let mut total_ms = 0u64;
        for part in wait.split(", ") {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let count: u64 = part[..digits].parse().ok()?;
            let unit_ms = match part[digits..].trim() {
                "hr" | "hrs" => 3_600_000,
                "min" | "mins" => 60_000,
                "sec" => 1_000,
                "ms" => 1,
                _ => return None,
            };
            total_ms = total_ms.saturating_add(count.saturating_mul(unit_ms));
        }
        Some(Duration::from_millis(total_ms))
    }

    /// Where a region that moved is, and since which sequence number.
    pub(crate) fn region_moved_to(&self) -> Option<(ServerName, i64)> {
        let field = |name: &str| {
            let (_, rest) = self.text.split_once(name)?;
            rest.split([' ', '.']).next().map(str::to_owned)
        };
        let (_, host) = self.text.split_once("hostname=")?;
        let host = host.split(' ').next()?;
        let port = field("port=")?.parse().ok()?;
        let start_code = field("startCode=")?.parse().ok()?;
        let seq = field("locationSeqNum=")?.parse().ok()?;
        Some((ServerName::new(host, port, start_code), seq))
    }
}

impl std::fmt::Display for Exception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.class, self.message())
    }
}

impl std::error::Error for Exception {}

/// Classes that, in the answer of a multi, forbid repetition: there no flag says so.
const DO_NOT_RETRY: &[&str] = &[
    "AccessDeniedException",
    "DoNotRetryIOException",
    "DoNotRetryRegionException",
    "FailedSanityCheckException",
    "IncompatibleFilterException",
    "InvalidLabelException",
    "InvalidMutationException",
    "NoSuchColumnFamilyException",
    "OperationConflictException",
    "QuotaExceededException",
    "ReadOnlyRegionException",
    "RequestTooBigException",
    "RowTooBigException",
    "ScannerResetException",
    "SpaceLimitingException",
    "UnknownProtocolException",
    "UnknownScannerException",
    "UnsupportedOperationException",
];

/// What a client does about an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// It passes the error on.
    Fail,
    /// Waits and tries again; the place of the region is kept.
    Retry,
    /// Looks the region up, waits, tries again.
    Relocate,
    /// Goes to where the region is now.
    Moved(ServerName, i64),
    /// As `Retry`, with the longer pause of overloaded servers.
    Overloaded,
    /// Waits as long as the server says.
    Wait(Duration),
    /// Tries again at once, and does not count the attempt.
    Immediately,
    /// A scanner is lost: it is opened again where it was.
    Reopen,
}

impl Reaction {
    /// To a server's exception.
    pub(crate) fn to(exception: &Exception) -> Reaction {
        match exception.simple_class() {
            "UnknownScannerException"
            | "OutOfOrderScannerNextException"
            | "ScannerResetException"
            | "LeaseException" => Reaction::Reopen,
            _ if exception.do_not_retry => Reaction::Fail,
            "RegionMovedException" => match exception.region_moved_to() {
                Some((server, seq)) => Reaction::Moved(server, seq),
                None => Reaction::Relocate,
            },
            "RpcThrottlingException" | "ThrottlingException" => match exception.throttled_for() {
                Some(wait) => Reaction::Wait(wait),
                None => Reaction::Retry,
            },
            "RetryImmediatelyException" | "MultiActionResultTooLarge" => Reaction::Immediately,
            "CallQueueTooBigException" | "CallDroppedException" => Reaction::Overloaded,
            _ if exception.overloaded => Reaction::Overloaded,
            "RegionOpeningException" | "RegionTooBusyException" => Reaction::Retry,
            _ => Reaction::Relocate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thrown(class: &str, message: &str) -> Exception {
        let class = format!("org.apache.hadoop.hbase.{class}");
        let text = format!("{class}: {message}\n\tat org.apache.X.y(X.java:1)\nCaused by: java.io.IOException\n");
        Exception { class, text, do_not_retry: false, overloaded: false, moved_to: None, server: None }
    }

    #[test]
    fn messages_are_what_java_prints_without_class_and_stack() {
        assert_eq!(thrown("A", "one\ntwo").message(), "one\ntwo");
        assert_eq!(thrown("A", "x").to_string(), "org.apache.hadoop.hbase.A: x");
        let bare = Exception { text: "org.apache.hadoop.hbase.A".to_owned(), ..thrown("A", "") };
        assert_eq!((bare.message(), bare.simple_class()), ("", "A"));
    }

    #[test]
    fn waits_and_places_are_read() {
        let wait = |text| thrown("quotas.RpcThrottlingException", text).throttled_for();
        assert_eq!(wait("number of requests exceeded - wait 1sec, 250ms"), Some(Duration::from_millis(1250)));
        assert_eq!(wait("x - wait 2hrs, 1min, 0sec, 5ms"), Some(Duration::from_millis(7_260_005)));
        assert_eq!(wait("x - wait a while"), None);
        assert_eq!(wait("x"), None);
        let moved = |text| thrown("exceptions.RegionMovedException", text).region_moved_to();
        let place = Some((ServerName::new("h.example", 16020, 17), 42));
        assert_eq!(
            moved("Region moved to: hostname=h.example port=16020 startCode=17. As of locationSeqNum=42."),
            place
        );
        assert_eq!(moved("Region moved to: hostname=h port=x startCode=17."), None);
    }

    #[test]
    fn reactions_are_those_of_hbase() {
        let to = |class| Reaction::to(&thrown(class, "x"));
        assert_eq!(to("NotServingRegionException"), Reaction::Relocate);
        assert_eq!(to("regionserver.RegionServerStoppedException"), Reaction::Relocate);
        assert_eq!(to("exceptions.RegionOpeningException"), Reaction::Retry);
        assert_eq!(to("CallQueueTooBigException"), Reaction::Overloaded);
        assert_eq!(to("MultiActionResultTooLarge"), Reaction::Immediately);
        assert_eq!(to("regionserver.LeaseException"), Reaction::Reopen);
        let final_one = Exception { do_not_retry: true, ..thrown("NotServingRegionException", "x") };
        assert_eq!(Reaction::to(&final_one), Reaction::Fail);
        let loaded = Exception { overloaded: true, ..thrown("HBaseServerException", "x") };
        assert_eq!(Reaction::to(&loaded), Reaction::Overloaded);
        let pair = |name: &str| pb::NameBytesPair { name: format!("a.b.{name}"), value: None };
        assert!(Exception::from_pair(&pair("DoNotRetryIOException"), "s").do_not_retry);
        assert!(!Exception::from_pair(&pair("RegionTooBusyException"), "s").do_not_retry);
    }
}
