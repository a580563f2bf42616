//! The language of the shell: the part of Ruby that people type at HBase's prompt and write into its scripts.
//!
//! ```text
//! text ── lexer ──▶ tokens ── parser ──▶ nodes ── evaluate ──▶ a value; commands are called by name
//! ```
//! There: strings with escapes and `#{…}`, symbols, numbers, arrays, hashes, ranges, patterns, variables, operators, blocks, `if`,
//! `case`, `while`, `for`, `begin … rescue`, `def`, and the methods of these values that scripts use.
//! Not there: classes, modules, procs as values, here-documents, Java but for filters, comparators and `Bytes`.

pub mod constants;
pub mod evaluate;
mod format;
pub mod inspect;
pub mod java;
pub mod kernel;
pub mod lexer;
mod methods;
mod node;
mod operators;
mod pack;
pub mod parser;
mod token;
pub mod value;

pub use evaluate::{Host, Interpreter};
pub use node::Node;
pub use token::At;
pub use value::{Flow, Raise, Value};

/// Why a text is no program.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Syntax {
    #[error("{at}: {why}")]
    Wrong { at: At, why: String },
    /// More lines may complete it; `open` is the quote or bracket that is not closed, or `*`.
    #[error("the input ends before `{open}` is closed")]
    Unfinished { open: char },
}

impl Syntax {
    fn at(at: At, why: impl Into<String>) -> Syntax {
        Syntax::Wrong { at, why: why.into() }
    }
}
