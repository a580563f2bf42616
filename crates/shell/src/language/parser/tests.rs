//! What the parser understands, what it waits for, what it refuses.

use super::*;

fn parsed(text: &str) -> Result<Node, Syntax> {
    parse(text, 1, &mut HashSet::new())
}

fn why(text: &str) -> String {
    parsed(text).unwrap_err().to_string()
}

#[test]
fn errors_name_line_and_column() {
    assert_eq!(why("put 't', )"), "line 1, column 10: `)` is not expected here");
    assert_eq!(why("a = 1\nput 't' 'r', ]"), "line 2, column 14: `]` is not expected here");
    assert_eq!(why("create 't', {'f' 1}"), "line 1, column 18: expected `=>`, found 1");
    assert_eq!(why("get 't', 3abc"), "line 1, column 10: `3` goes on with letters: is it a name that wants quotes?");
    assert_eq!(why("\"\\xZZ\""), "line 1, column 2: invalid hex escape");
    assert_eq!(why("x = 99999999999999999999"), "line 1, column 5: `99999999999999999999` is no integer of 64 bits");
    assert_eq!(why("class A\nend"), "line 1, column 1: `class` is not part of this shell's language");
    assert_eq!(why("end"), "line 1, column 1: `end` is not expected here");
}

#[test]
fn what_is_not_finished_waits_for_more() {
    for text in
        ["put 't',", "create 't', {NAME =>", "[1, 2", "x = ", "(1..3).each do |i|", "if true", "def f(a)", "1 +"]
    {
        assert_eq!(parsed(text), Err(Syntax::Unfinished { open: '*' }), "{text}");
    }
    assert_eq!(parsed("put 't"), Err(Syntax::Unfinished { open: '\'' }));
    assert_eq!(parsed("put \"t"), Err(Syntax::Unfinished { open: '"' }));
    assert_eq!(parsed("put \"t#{1 + "), Err(Syntax::Unfinished { open: '"' }));
    assert_eq!(parsed("x = %w[a b"), Err(Syntax::Unfinished { open: ']' }));
}

#[test]
fn a_name_with_a_value_behind_it_is_a_call() {
    let text = format!("{:?}", parsed("list -1").unwrap());
    assert!(text.starts_with("Call"), "{text}");
    let mut locals = HashSet::from(["x".to_owned()]);
    assert!(matches!(parse("x -1", 1, &mut locals), Ok(Node::Binary("-", ..))));
    assert!(matches!(parsed("x - 1"), Ok(Node::Binary("-", ..))));
    assert!(matches!(parsed("x"), Ok(Node::Name(_))));
}
