//! Regular expressions that commands match names with.

use crate::failure::{Failure, Run};
use fancy_regex::Regex;

fn compiled(pattern: &str) -> Run<Regex> {
    Regex::new(pattern).map_err(|error| Failure::argument(format!("{pattern} is no regular expression: {error}")))
}

/// Whether the expression finds something in a text.
pub fn matcher(pattern: &str) -> Run<impl Fn(&str) -> bool + use<>> {
    let regex = compiled(pattern)?;
    Ok(move |text: &str| regex.is_match(text).unwrap_or(false))
}

/// Whether the expression is all of a text.
pub fn whole(pattern: &str) -> Run<impl Fn(&str) -> bool + use<>> {
    compiled(pattern)?;
    matcher(&format!("^(?:{pattern})$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_part_and_as_a_whole() {
        assert!(matcher("b|c").unwrap()("abc") && !matcher("d").unwrap()("abc"));
        assert!(whole("a|ab").unwrap()("ab") && !whole("b").unwrap()("ab"));
        assert!(whole(")(").err().unwrap().message().starts_with(")( is no regular expression"));
    }
}
