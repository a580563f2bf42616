//! [`Formatter`]: what commands print, in the layout of HBase's shell.
//!
//! ```text
//! ROW                COLUMN+CELL                                       on a terminal: a quarter of the width, the rest
//!  r1                column=f:q, timestamp=2024-01-01T00:00:00, value=v
//! ROW  COLUMN+CELL                                                     elsewhere: nothing is padded, nothing is cut
//!  r1 column=f:q, timestamp=2024-01-01T00:00:00, value=v
//! ```

use std::io::{self, Write};

/// Where output goes, and the layout of rows.
pub struct Formatter {
    out: Box<dyn Write>,
    /// Columns of the terminal; None: there is none.
    width: Option<usize>,
    rows: u64,
    /// Why the output cannot be written any more.
    failure: Option<io::Error>,
}

impl Formatter {
    /// To standard output, with the width of its terminal.
    pub fn to_stdout() -> Formatter {
        let mut formatter = Formatter::new(Box::new(io::BufWriter::new(io::stdout())), None);
        formatter.refresh_width();
        formatter
    }

    pub fn new(out: Box<dyn Write>, width: Option<usize>) -> Formatter {
        Formatter { out, width, rows: 0, failure: None }
    }

    /// A terminal may have been made wider since.
    pub fn refresh_width(&mut self) {
        let stdout = io::stdout();
        if rustix::termios::isatty(&stdout) {
            let columns = rustix::termios::tcgetwinsize(&stdout).map(|size| usize::from(size.ws_col));
            self.width = Some(columns.ok().filter(|columns| *columns > 0).unwrap_or(80));
        }
    }

    pub fn is_terminal(&self) -> bool {
        self.width.is_some()
    }

    pub fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.out.write_all(bytes).err();
        }
    }

    pub fn print(&mut self, text: impl AsRef<str>) {
        self.write(text.as_ref().as_bytes());
    }

    pub fn puts(&mut self, line: impl AsRef<str>) {
        self.print(line);
        self.write(b"\n");
    }

    /// To be seen now.
    pub fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.out.flush().err();
        }
    }

    /// Whoever read the output has gone, or its disk is full.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Begins a table: its rows are counted from here.
    pub fn header(&mut self, columns: &[&str]) {
        if self.width.is_some() {
            self.refresh_width();
        }
        self.rows = 0;
        self.lay_out(columns, false, &[]);
        self.rows = 0;
    }

    /// As `header`, with widths in percent of the terminal's.
    pub fn header_of_widths(&mut self, columns: &[&str], widths: &[usize]) {
        self.rows = 0;
        self.lay_out(columns, false, widths);
        self.rows = 0;
    }

    pub fn row<S: AsRef<str>>(&mut self, columns: &[S]) {
        self.row_of(columns, true);
    }

    pub fn row_of<S: AsRef<str>>(&mut self, columns: &[S], inset: bool) {
        let columns: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
        self.lay_out(&columns, inset, &[]);
    }

    fn lay_out(&mut self, columns: &[&str], inset: bool, widths: &[usize]) {
        match columns {
            [] => return,
            [one] => {
                let width = self.width.unwrap_or(0);
                for part in cut(one, width) {
                    let line = pad(part, width);
                    self.puts(line);
                }
            }
            [left, right] => self.two(left, right, inset, widths),
            many => self.puts(format!(" {}", many.join(" "))),
        }
        self.rows += 1;
    }

    fn two(&mut self, left: &str, right: &str, inset: bool, widths: &[usize]) {
        let (left_width, right_width) = match (self.width, widths) {
            (None, _) => (0, 0),
            (Some(width), [left, right, ..]) => (width * left / 100, (width * right / 100).saturating_sub(2)),
            (Some(width), [left]) => (width * left / 100, (width - width * left / 100).saturating_sub(2)),
            (Some(width), []) => (width / 4, (width - width / 4).saturating_sub(2)),
        };
        let (lefts, rights) = (cut(left, left_width), cut(right, right_width));
        for i in 0..lefts.len().max(rights.len()) {
            let left = pad(lefts.get(i).copied().unwrap_or(""), left_width);
            let right = pad(rights.get(i).copied().unwrap_or(""), right_width);
            let (before, between) = if inset { (" ", " ") } else { ("", "  ") };
            self.puts(format!("{before}{left}{between}{right}"));
        }
    }

    /// Rows since the header.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// `N row(s)`.
    pub fn footer(&mut self, rows: Option<u64>) {
        let rows = rows.unwrap_or(self.rows);
        self.puts(format!("{rows} row(s)"));
    }

    pub fn footer_stale(&mut self, rows: Option<u64>, is_stale: bool) {
        self.footer(rows);
        if is_stale {
            self.puts(" (possible stale results) ");
        }
    }
}

/// Pieces of at most so many characters; a width of zero cuts nothing.
fn cut(text: &str, width: usize) -> Vec<&str> {
    if width == 0 {
        return vec![text];
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(width).map_or(rest.len(), |(at, _)| at);
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

fn pad(text: &str, width: usize) -> String {
    format!("{text:width$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone, Default)]
    struct Page(Rc<RefCell<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(width: Option<usize>, print: impl Fn(&mut Formatter)) -> String {
        let page = Page::default();
        print(&mut Formatter::new(Box::new(page.clone()), width));
        let bytes = page.0.borrow().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn table(formatter: &mut Formatter) {
        formatter.header(&["ROW", "COLUMN+CELL"]);
        formatter.row(&["r1", "column=f:q, value=abcdef"]);
        formatter.row(&["a", "b", "c"]);
        formatter.footer(None);
    }

    #[test]
    fn without_a_terminal_nothing_is_padded() {
        assert_eq!(printed(None, table), "ROW  COLUMN+CELL\n r1 column=f:q, value=abcdef\n a b c\n2 row(s)\n");
    }

    #[test]
    fn a_terminal_is_filled_and_long_cells_go_on_below() {
        let left = |text: &str| format!("{text:10}");
        let want = [
            format!("{}  {:28}\n", left("ROW"), "COLUMN+CELL"),
            format!(" {} {:28}\n", left("r1"), "column=f:q, value=abcdef"),
            " a b c\n2 row(s)\n".to_owned(),
        ]
        .concat();
        assert_eq!(printed(Some(40), table), want);
        let narrow = printed(Some(16), |f| f.row(&["r1", "0123456789ABCDEF"]));
        assert_eq!(narrow, " r1   0123456789\n      ABCDEF    \n");
    }
}
