//! What can be wrong with the filters of a request.

/// What is wrong with a filter or comparator of a request. The client must not retry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// No filter or comparator of this Java class is known.
    #[error("unknown filter or comparator class {0}")]
    Unknown(String),
    /// The serialized form cannot be read, lacks a field or has a value that makes no sense.
    #[error("malformed {class}: {reason}")]
    Malformed { class: String, reason: String },
    /// A sound filter met a cell that it cannot judge.
    #[error("{class} cannot judge a cell: {reason}")]
    Evaluation { class: &'static str, reason: String },
}

/// Boxed, so that the answer for a cell stays two words.
pub(crate) type Result<T> = std::result::Result<T, Box<FilterError>>;

pub(crate) fn malformed(class: &str, reason: impl Into<String>) -> Box<FilterError> {
    Box::new(FilterError::Malformed { class: class.to_string(), reason: reason.into() })
}

pub(crate) fn evaluation(class: &'static str, reason: impl Into<String>) -> Box<FilterError> {
    Box::new(FilterError::Evaluation { class, reason: reason.into() })
}
