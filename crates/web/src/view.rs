//! [`View`]: a page as plain data: facts, tables and plots, in sections.
//!
//! ```text
//! View ─┬─ title, tabs (the other pages)
//!       └─ Section ─┬─ title, note
//!                   └─ Body: Facts   name: cell, name: cell …
//!                            Table   columns, rows of cells
//!                            Plots   what the last minutes were like
//! ```
//! What it looks like is the business of [`html`](crate::html).

use martite_plot::Timeline;

#[derive(Debug, Clone, PartialEq)]
pub struct View {
    pub title: String,
    /// What the page is about, in small print.
    pub subtitle: String,
    pub tabs: Vec<Link>,
    pub sections: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// A path, with its query.
    pub to: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    pub title: String,
    /// Below the title; empty: nothing.
    pub note: String,
    pub body: Body,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Facts(Vec<(&'static str, Cell)>),
    Table(Table),
    Plots(Vec<Timeline>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub columns: Vec<&'static str>,
    /// Each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Said where there is no row.
    pub empty: &'static str,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Busy,
    Bad,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Not known, or not to be told.
    None,
    Text(String),
    /// As it is typed: keys, paths, settings.
    Code(String),
    Link(Link),
    Tone(Tone, String),
    Count(u64),
    /// With three digits.
    Number(f64),
    Bytes(u64),
    /// How long something takes, in nanoseconds.
    Duration(u64),
    /// A moment, in milliseconds since 1970.
    Moment(u64),
    /// A part of a whole; of nothing there is no part.
    Share(f64, f64),
}

impl View {
    pub fn new(title: impl Into<String>, subtitle: impl Into<String>) -> View {
        View { title: title.into(), subtitle: subtitle.into(), tabs: Vec::new(), sections: Vec::new() }
    }

    pub fn add(&mut self, title: impl Into<String>, body: Body) {
        self.add_noted(title, "", body);
    }

    pub fn add_noted(&mut self, title: impl Into<String>, note: impl Into<String>, body: Body) {
        self.sections.push(Section { title: title.into(), note: note.into(), body });
    }
}

impl Table {
    pub fn new(empty: &'static str, columns: &[&'static str]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new(), empty }
    }
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    pub fn code(text: impl Into<String>) -> Cell {
        Cell::Code(text.into())
    }

    pub fn link(to: impl Into<String>, text: impl Into<String>) -> Cell {
        Cell::Link(Link { to: to.into(), text: text.into() })
    }

    /// A moment that may not have been: 0 is none.
    pub fn moment(ms: u64) -> Cell {
        if ms == 0 { Cell::None } else { Cell::Moment(ms) }
    }
}
