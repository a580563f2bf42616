//! [`Exception`]: an error as a Java client must see it.

use std::borrow::Cow;

/// An exception by its Java class name. Clients rebuild it by name, so only classes of HBase or the JDK may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// Fully qualified Java class name.
    pub class: Cow<'static, str>,
    pub message: String,
    /// True for `DoNotRetryIOException` and its subclasses.
    pub do_not_retry: bool,
    /// True for the `HBaseServerException` family when the server asks for the long back-off.
    pub overloaded: bool,
    /// Host and port of a `RegionMovedException`.
    pub moved_to: Option<(String, u16)>,
}

impl Exception {
    /// An exception that the client retries.
    pub fn new(class: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Exception {
        let (class, message) = (class.into(), message.into());
        Exception { class, message, do_not_retry: false, overloaded: false, moved_to: None }
    }

    /// An exception that the client gives up on.
    pub fn fatal(class: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Exception {
        Exception { do_not_retry: true, ..Exception::new(class, message) }
    }

    /// `java.io.IOException`: something went wrong here, try again.
    pub fn io(message: impl Into<String>) -> Exception {
        Exception::new("java.io.IOException", message)
    }

    /// `DoNotRetryIOException`.
    pub fn do_not_retry(message: impl Into<String>) -> Exception {
        Exception::fatal("org.apache.hadoop.hbase.DoNotRetryIOException", message)
    }

    /// `CallQueueTooBigException`: the client backs off for its overloaded pause.
    pub fn call_queue_too_big(message: impl Into<String>) -> Exception {
        Exception { overloaded: true, ..Exception::new("org.apache.hadoop.hbase.CallQueueTooBigException", message) }
    }

    /// A method that this server does not have.
    pub fn unknown_method(method: &str) -> Exception {
        Exception::do_not_retry(format!("java.lang.UnsupportedOperationException: {method}"))
    }

    /// The Java-style text: what `stack_trace` carries, and the value of the NameBytesPair in a multi result.
    ///
    /// `class: message`, then one `\tat` line so that Java prints it as a stack trace.
    pub fn stack_trace(&self) -> String {
        format!("{}: {}\n\tat martite.Server.call(Unknown Source)\n", self.class, self.message)
    }
}
