//! [`parse`]: from tokens to [`Node`]s, by recursive descent.
//!
//! From loosest to tightest: `and or`, `not`, `? :`, `..`, `||`, `&&`, `== =~ <=>`, `< >`, `|`, `&`, `<< >>`, `+ -`, `* / %`, unary,
//! `**`, calls. A name with a value behind it is a call without parentheses: `put 't', 'r'`.

mod call;
mod compound;
mod primary;

use super::node::{Node, Piece};
use super::token::{At, Kind, Part, Token};
use super::{Syntax, lexer};
use std::collections::HashSet;

/// Parses what was typed. `locals` are the variables that there are; what the text assigns is added.
pub fn parse(text: &str, line: usize, locals: &mut HashSet<String>) -> Result<Node, Syntax> {
    let mut parser = Parser { tokens: lexer::tokens(text, line)?, next: 0, locals: locals.clone(), no_do: 0 };
    let node = parser.sequence(&[])?;
    parser.expect_end()?;
    *locals = parser.locals;
    Ok(node)
}

pub(super) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    locals: HashSet<String>,
    /// In the head of a loop and among arguments without parentheses, `do` belongs to what is around.
    no_do: usize,
}

/// Operators of two operands by level, loosest first.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["<=>", "===", "==", "=~", "!~", "!="],
    &["<", "<=", ">", ">="],
    &["|", "^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

const UPDATES: &[(&str, &str)] = &[
    ("+=", "+"),
    ("-=", "-"),
    ("*=", "*"),
    ("/=", "/"),
    ("%=", "%"),
    ("**=", "**"),
    ("||=", "||"),
    ("&&=", "&&"),
    ("<<=", "<<"),
];

impl Parser {
    /// Statements until one of the keywords, or the end.
    fn sequence(&mut self, until: &[&str]) -> Result<Node, Syntax> {
        let mut nodes = Vec::new();
        loop {
            self.skip_newlines();
            if matches!(self.kind(), Kind::End) || self.kind().is_sign("}") || self.is_keyword_of(until) {
                break;
            }
            nodes.push(self.statement()?);
            if !matches!(self.kind(), Kind::Newline | Kind::End)
                && !self.kind().is_sign("}")
                && !self.is_keyword_of(until)
            {
                return Err(self.unexpected());
            }
        }
        Ok(match nodes.len() {
            0 => Node::Nil,
            1 => nodes.swap_remove(0),
            _ => Node::Sequence(nodes),
        })
    }

    /// An expression with its modifiers: `… if …`.
    fn statement(&mut self) -> Result<Node, Syntax> {
        let mut node = self.expression_statement()?;
        loop {
            let Kind::Keyword(word) = *self.kind() else { return Ok(node) };
            match word {
                "if" | "unless" => {
                    self.next += 1;
                    let condition = self.expression_statement()?;
                    let (yes, no) = if word == "if" { (node, Node::Nil) } else { (Node::Nil, node) };
                    node = Node::If(Box::new(condition), Box::new(yes), Box::new(no));
                }
                "while" | "until" => {
                    self.next += 1;
                    let condition = negated(self.expression_statement()?, word == "until");
                    node = Node::While(Box::new(condition), Box::new(node));
                }
                "rescue" => {
                    self.next += 1;
                    let other = self.expression_statement()?;
                    let begin = super::node::Begin { body: node, rescue: Some((None, other)), ensure: None };
                    node = Node::Begin(Box::new(begin));
                }
                _ => return Ok(node),
            }
        }
    }

    /// `and`, `or`, `not`.
    fn expression_statement(&mut self) -> Result<Node, Syntax> {
        let mut left = self.not()?;
        loop {
            let Kind::Keyword(word @ ("and" | "or")) = *self.kind() else { return Ok(left) };
            self.next += 1;
            self.skip_newlines();
            let right = Box::new(self.not()?);
            left = if word == "and" { Node::And(Box::new(left), right) } else { Node::Or(Box::new(left), right) };
        }
    }

    fn not(&mut self) -> Result<Node, Syntax> {
        if self.take_keyword("not") {
            return Ok(Node::Not(Box::new(self.not()?)));
        }
        let node = self.expression()?;
        if self.kind().is_sign(",") && is_target(&node) && self.is_spread() {
            return self.spread(node);
        }
        Ok(node)
    }

    /// Whether this comma belongs to `a, b = …`.
    fn is_spread(&self) -> bool {
        let mut depth = 0i32;
        for token in &self.tokens[self.next..] {
            match &token.kind {
                Kind::Newline | Kind::End => return false,
                Kind::Sign("(" | "[" | "{") => depth += 1,
                Kind::Sign(")" | "]" | "}") => depth -= 1,
                Kind::Sign("=") if depth == 0 => return true,
                _ => {}
            }
            if depth < 0 {
                return false;
            }
        }
        false
    }

    fn spread(&mut self, first: Node) -> Result<Node, Syntax> {
        let mut targets = vec![first];
        while self.take_sign(",") {
            let target = self.primary()?;
            if !is_target(&target) {
                return Err(self.unexpected());
            }
            targets.push(target);
        }
        if !self.take_sign("=") {
            return Err(self.unexpected());
        }
        for target in &targets {
            self.declare(target);
        }
        self.skip_newlines();
        let mut values = vec![self.expression()?];
        while self.take_sign(",") {
            values.push(self.expression()?);
        }
        let value = if values.len() == 1 { values.swap_remove(0) } else { Node::Array(values) };
        Ok(Node::Spread(targets, Box::new(value)))
    }

    /// Assignments and all that binds tighter.
    pub(super) fn expression(&mut self) -> Result<Node, Syntax> {
        let left = self.ternary()?;
        let Kind::Sign(sign) = *self.kind() else { return Ok(left) };
        if sign == "=" && is_target(&left) {
            self.next += 1;
            self.skip_newlines();
            self.declare(&left);
            let mut value = self.expression()?;
            if self.kind().is_sign(",") && self.no_do == 0 && matches!(left, Node::Name(_)) && self.at_statement() {
                let mut values = vec![value];
                while self.take_sign(",") {
                    self.skip_newlines();
                    values.push(self.expression()?);
                }
                value = Node::Array(values);
            }
            return Ok(Node::Assign(Box::new(left), Box::new(value)));
        }
        if let Some((_, operator)) = UPDATES.iter().find(|(update, _)| *update == sign)
            && is_target(&left)
        {
            self.next += 1;
            self.skip_newlines();
            self.declare(&left);
            let value = self.expression()?;
            return Ok(Node::Update(Box::new(left), operator, Box::new(value)));
        }
        Ok(left)
    }

    /// `a = 1, 2` makes an array only where a statement stands, not within an array or arguments.
    fn at_statement(&self) -> bool {
        let mut depth = 0i32;
        for token in self.tokens[..self.next].iter().rev() {
            match &token.kind {
                Kind::Newline => break,
                Kind::Sign(")" | "]" | "}") => depth += 1,
                Kind::Sign("(" | "[" | "{") => depth -= 1,
                _ => {}
            }
        }
        depth == 0
    }

    fn ternary(&mut self) -> Result<Node, Syntax> {
        let condition = self.range()?;
        if !self.take_sign("?") {
            return Ok(condition);
        }
        self.skip_newlines();
        let yes = self.ternary()?;
        self.skip_newlines();
        // `a ? b :c` has a symbol where the colon is meant.
        let no = if let Kind::Symbol(name) = self.kind().clone() {
            self.next += 1;
            self.named(name)
        } else {
            if !self.take_sign(":") {
                return Err(self.unexpected());
            }
            self.skip_newlines();
            self.ternary()?
        };
        Ok(Node::If(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn named(&self, name: String) -> Node {
        match name.chars().next() {
            Some(c) if c.is_uppercase() => Node::Constant(name),
            _ => match name.as_str() {
                "nil" => Node::Nil,
                "true" | "false" => Node::Bool(name == "true"),
                _ => Node::Name(name),
            },
        }
    }

    fn range(&mut self) -> Result<Node, Syntax> {
        let from = self.binary(0)?;
        for (sign, excluded) in [("..", false), ("...", true)] {
            if self.take_sign(sign) {
                let to = self.binary(0)?;
                return Ok(Node::Range(Box::new(from), Box::new(to), excluded));
            }
        }
        Ok(from)
    }

    fn binary(&mut self, level: usize) -> Result<Node, Syntax> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let Kind::Sign(sign) = *self.kind() else { return Ok(left) };
            if !operators.contains(&sign) {
                return Ok(left);
            }
            self.next += 1;
            self.skip_newlines();
            let right = Box::new(self.binary(level + 1)?);
            left = match sign {
                "||" => Node::Or(Box::new(left), right),
                "&&" => Node::And(Box::new(left), right),
                _ => Node::Binary(sign, Box::new(left), right),
            };
        }
    }

    fn unary(&mut self) -> Result<Node, Syntax> {
        if self.take_sign("!") {
            return Ok(Node::Not(Box::new(self.unary()?)));
        }
        if self.take_sign("-") {
            return Ok(match self.unary()? {
                Node::Integer(i) => Node::Integer(i.wrapping_neg()),
                Node::Float(f) => Node::Float(-f),
                other => Node::Negative(Box::new(other)),
            });
        }
        if self.take_sign("+") {
            return self.unary();
        }
        let base = self.postfix()?;
        if self.take_sign("**") {
            let exponent = self.unary()?;
            return Ok(Node::Binary("**", Box::new(base), Box::new(exponent)));
        }
        Ok(base)
    }

    fn pieces(&mut self, parts: Vec<Part>) -> Result<Vec<Piece>, Syntax> {
        parts
            .into_iter()
            .map(|part| match part {
                Part::Plain(bytes) => Ok(Piece::Plain(bytes)),
                Part::Code(tokens) => {
                    let locals = self.locals.clone();
                    let mut inner = Parser { tokens, next: 0, locals, no_do: 0 };
                    let node = inner.sequence(&[])?;
                    inner.expect_end()?;
                    Ok(Piece::Code(node))
                }
            })
            .collect()
    }

    fn declare(&mut self, target: &Node) {
        if let Node::Name(name) = target {
            self.locals.insert(name.clone());
        }
    }
}

/// Tokens.
impl Parser {
    fn token(&self) -> &Token {
        // The last token is always End.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }
    fn kind(&self) -> &Kind {
        &self.token().kind
    }
    fn after(&self, ahead: usize) -> &Kind {
        &self.tokens[(self.next + ahead).min(self.tokens.len() - 1)].kind
    }
    fn at(&self) -> At {
        self.token().at
    }
    fn is_keyword_of(&self, words: &[&str]) -> bool {
        matches!(self.kind(), Kind::Keyword(word) if words.contains(word))
    }
    fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.kind().is_sign(sign);
        self.next += usize::from(found);
        found
    }
    fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.kind().is_keyword(word);
        self.next += usize::from(found);
        found
    }
    fn skip_newlines(&mut self) {
        while matches!(self.kind(), Kind::Newline) {
            self.next += 1;
        }
    }
    fn expect_sign(&mut self, sign: &'static str) -> Result<(), Syntax> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.wanted(sign)) }
    }
    fn expect_keyword(&mut self, word: &'static str) -> Result<(), Syntax> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.wanted(word)) }
    }
    fn expect_end(&self) -> Result<(), Syntax> {
        if matches!(self.kind(), Kind::End) { Ok(()) } else { Err(self.unexpected()) }
    }
    fn unexpected(&self) -> Syntax {
        match self.kind() {
            Kind::End => Syntax::Unfinished { open: '*' },
            kind => Syntax::at(self.at(), format!("{} is not expected here", kind.describe())),
        }
    }
    fn wanted(&self, what: &str) -> Syntax {
        match self.kind() {
            Kind::End => Syntax::Unfinished { open: '*' },
            kind => Syntax::at(self.at(), format!("expected `{what}`, found {}", kind.describe())),
        }
    }
}

fn is_target(node: &Node) -> bool {
    match node {
        Node::Name(_) | Node::Variable(_) | Node::Constant(_) | Node::Index(..) => true,
        Node::Call(call) => call.receiver.is_some() && call.arguments.is_empty() && call.block.is_none(),
        _ => false,
    }
}

fn negated(node: Node, yes: bool) -> Node {
    if yes { Node::Not(Box::new(node)) } else { node }
}

#[cfg(test)]
mod tests;
