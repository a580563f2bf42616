//! The info ports: pages for people, `/jmx` and `/prometheus` for programs, over figures that somebody else gathers.
//!
//! ```text
//!            ┌ records()  Record: Server, IPC, Tables …   ─▶ /jmx         {"beans":[…]}
//!            │                                            └▶ /prometheus  name{label="…"} value
//! Source ──▶ ┼ settings() Setting                         ─▶ /conf        XML, JSON, a page
//!            ├ view()     View: facts, tables, plots      ─▶ its pages    HTML
//!            └ sample()   every few seconds, for the plots
//! ```
//! What is absent: the server's own types, and any figure that is not measured.
#![forbid(unsafe_code)]

mod conf;
mod history;
mod html;
mod jmx;
mod prometheus;
mod query;
mod record;
mod server;
mod tasks;
pub mod view;

pub use conf::Setting;
pub use history::{History, STEP};
pub use query::{Asked, encode};
pub use record::{Figure, Kind, Record};
pub use server::{InfoServer, Page};
pub use tasks::Task;

use view::{Link, View};

/// Gathers what is shown, each time that somebody asks.
pub trait Source: Send + Sync + 'static {
    fn records(&self) -> Vec<Record>;

    fn settings(&self) -> Vec<Setting>;

    /// Its pages, the first of which is where who asks for `/` is sent.
    fn tabs(&self) -> Vec<Link>;

    /// The page at a path; None: there is none.
    fn view(&self, path: &str, asked: &Asked) -> Option<Result<View, Refused>>;

    /// What its programs do, for `/…-status?format=json`.
    fn tasks(&self) -> Vec<Task>;

    /// Looks at what its plots show; asked for every [`STEP`].
    fn sample(&self);
}

/// Why there is no page.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// What was asked for makes no sense.
    Wrong(String),
    /// Of that name there is nothing.
    Absent(String),
    /// The server could not gather what was asked for.
    Failed(String),
}
