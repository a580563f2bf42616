//! [`Failure`]: why a command did not do what it was asked, and the words that HBase's shell has for it.

use crate::language::{Flow, Raise, Value};
use martite_catalog::CatalogError;
use martite_client::Error;

/// A command's outcome.
pub type Run<T = Value> = Result<T, Failure>;

#[derive(Debug)]
pub enum Failure {
    /// Found by the shell itself.
    Raise(Raise),
    /// A server's exception, or none that answers.
    Client(Box<Error>),
    /// `exit` within what the command evaluated.
    Exit(u8),
}

impl Failure {
    pub fn argument(message: impl Into<String>) -> Failure {
        Failure::Raise(Raise::argument(message))
    }
    pub fn runtime(message: impl Into<String>) -> Failure {
        Failure::Raise(Raise::runtime(message))
    }

    /// Whether a server, or the client, threw this class; without its package.
    pub fn is(&self, class: &str) -> bool {
        matches!(self, Failure::Client(error) if error.is(class))
    }

    /// The message of the exception, without class and stack.
    pub fn message(&self) -> String {
        match self {
            Failure::Raise(raise) => raise.message.clone(),
            Failure::Client(error) => match error.exception() {
                Some(exception) => exception.message().to_owned(),
                None => error.to_string(),
            },
            Failure::Exit(code) => format!("exit {code}"),
        }
    }

    /// As Java prints an exception: class and message.
    pub fn java_text(&self) -> String {
        match self {
            Failure::Client(error) => match (error.class(), self.message()) {
                (class, message) if message.is_empty() => class.to_owned(),
                (class, message) => format!("{class}: {message}"),
            },
            _ => self.message(),
        }
    }
}

impl From<Raise> for Failure {
    fn from(raise: Raise) -> Failure {
        Failure::Raise(raise)
    }
}
impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Client(Box::new(error))
    }
}
impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Failure {
        Failure::Raise(Raise::new("Java::JavaLang::IllegalArgumentException", error.to_string()))
    }
}
impl From<Flow> for Failure {
    fn from(flow: Flow) -> Failure {
        match flow {
            Flow::Raise(raise) => Failure::Raise(raise),
            Flow::Exit(code) => Failure::Exit(code),
            Flow::Break(_) | Flow::Next(_) | Flow::Return(_) => Failure::runtime("a jump out of a command"),
        }
    }
}

/// A failure in the words of HBase's shell; `first`: the command's first argument.
pub fn translate(failure: &Failure, first: Option<&str>) -> Raise {
    let Failure::Client(error) = failure else {
        return match failure {
            Failure::Raise(raise) => raise.clone(),
            _ => Raise::runtime(failure.message()),
        };
    };
    let message = failure.message();
    let line = message.lines().next().unwrap_or_default().to_owned();
    // A message of one word is the name; else the command's first argument is what was meant.
    let named = || match message.split_whitespace().collect::<Vec<_>>().as_slice() {
        [word] => (*word).to_owned(),
        _ => first.unwrap_or_default().to_owned(),
    };
    let said = match error.class().rsplit('.').next().unwrap_or_default() {
        "TableNotFoundException" => format!("Unknown table {}!", table_of(error).unwrap_or_else(named)),
        "TableNotEnabledException" => format!("Table {} is disabled!", first.unwrap_or_default()),
        "TableNotDisabledException" => format!("Table {message} should be disabled!"),
        "TableExistsException" => format!("Table already exists: {}!", named()),
        "NamespaceNotFoundException" => format!("Unknown namespace {line}!"),
        "SnapshotDoesNotExistException" => format!("Unknown snapshot {}!", first.unwrap_or_default()),
        // Of a server's exception Java's message begins with the class.
        "UnknownRegionException" if error.exception().is_some_and(|e| e.server.is_some()) => failure.java_text(),
        "UnknownRegionException" => message,
        "MergeRegionException" | "SpaceLimitingException" => line,
        "AccessDeniedException" => format!("{}: {line}", error.class()),
        "RpcThrottlingException" => capitalised(&line),
        _ if message.contains("UnsupportedOperationException: quota support disabled")
            || (message.contains("quota support disabled") && error.is("UnsupportedOperationException")) =>
        {
            "Quota Support disabled. Please enable in configuration.".to_owned()
        }
        // What the client itself found out is said without a class.
        _ if error.exception().is_none() => return Raise::new(&ruby_class(error.class()), message),
        _ => return Raise::new(&ruby_class(error.class()), failure.java_text()),
    };
    Raise::runtime(said)
}

fn table_of(error: &Error) -> Option<String> {
    if let Error::TableNotFound(name) = error { Some(name.to_string()) } else { None }
}

/// Ruby's `capitalize`: the first letter large, all others small.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str().to_lowercase())
}

/// JRuby's name of a Java class: `Java::OrgApacheHadoopHbase::TableExistsException`.
fn ruby_class(class: &str) -> String {
    match class.rsplit_once('.') {
        Some((package, name)) => {
            let package: String = package.split('.').map(capitalised).collect();
            format!("Java::{package}::{name}")
        }
        None => class.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_client::Exception;

    fn thrown(class: &str, message: &str) -> Raise {
        let class = format!("org.apache.hadoop.hbase.{class}");
        let exception = Exception {
            text: format!("{class}: {message}\n\tat Server.call"),
            class,
            do_not_retry: true,
            overloaded: false,
            moved_to: None,
            server: None,
        };
        translate(&Failure::Client(Box::new(exception.into())), Some("first"))
    }

    #[test]
    fn the_words_of_hbases_shell() {
        let text = |class: &str, message: &str| thrown(class, message).message;
        assert_eq!(text("TableNotFoundException", "t"), "Unknown table t!");
        assert_eq!(text("TableNotFoundException", "no table t"), "Unknown table first!");
        assert_eq!(text("TableNotEnabledException", "t"), "Table first is disabled!");
        assert_eq!(text("TableNotDisabledException", "t"), "Table t should be disabled!");
        assert_eq!(text("TableExistsException", "t"), "Table already exists: t!");
        assert_eq!(text("NamespaceNotFoundException", "ns"), "Unknown namespace ns!");
        assert_eq!(text("snapshot.SnapshotDoesNotExistException", "x y"), "Unknown snapshot first!");
        assert_eq!(text("quotas.RpcThrottlingException", "number of READ exceeded"), "Number of read exceeded");
        let other = thrown("NamespaceExistException", "ns");
        assert_eq!(other.class, "Java::OrgApacheHadoopHbase::NamespaceExistException");
        assert_eq!(other.message, "org.apache.hadoop.hbase.NamespaceExistException: ns");
    }
}
