//! Literals, names, brackets.

use super::Parser;
use crate::language::Syntax;
use crate::language::node::{Node, Piece};
use crate::language::token::Kind;

impl Parser {
    pub(super) fn primary(&mut self) -> Result<Node, Syntax> {
        let kind = self.kind().clone();
        let node = match kind {
            Kind::Integer(i) => Node::Integer(i),
            Kind::Float(f) => Node::Float(f),
            Kind::Symbol(name) => Node::Symbol(name),
            Kind::Variable(name) => Node::Variable(name),
            Kind::Words(words, symbols) => Node::Array(
                words
                    .into_iter()
                    .map(|w| match symbols {
                        true => Node::Symbol(String::from_utf8_lossy(&w).into_owned()),
                        false => Node::Text(vec![Piece::Plain(w)]),
                    })
                    .collect(),
            ),
            Kind::Text(_) => return self.text(),
            Kind::Pattern(parts, flags) => {
                self.next += 1;
                return Ok(Node::Pattern(self.pieces(parts)?, flags));
            }
            Kind::Name(name) => return self.name(name),
            Kind::Constant(name) => return self.constant(name),
            Kind::Keyword(word) => return self.keyword(word),
            Kind::Sign("(") => return self.parenthesised(),
            Kind::Sign("[") => {
                self.next += 1;
                return Ok(Node::Array(self.list("]")?));
            }
            Kind::Sign("{") => return self.hash(),
            Kind::Sign("*") => {
                self.next += 1;
                return Ok(Node::Splat(Box::new(self.unary()?)));
            }
            Kind::Sign("::") => {
                self.next += 1;
                return self.primary();
            }
            _ => return Err(self.unexpected()),
        };
        self.next += 1;
        Ok(node)
    }

    /// Strings that stand side by side are one.
    fn text(&mut self) -> Result<Node, Syntax> {
        let mut pieces = Vec::new();
        while let Kind::Text(parts) = self.kind().clone() {
            self.next += 1;
            pieces.extend(self.pieces(parts)?);
        }
        Ok(Node::Text(pieces))
    }

    fn keyword(&mut self, word: &'static str) -> Result<Node, Syntax> {
        match word {
            "nil" | "true" | "false" | "self" => {
                self.next += 1;
                Ok(match word {
                    "nil" => Node::Nil,
                    "self" => Node::SelfRef,
                    _ => Node::Bool(word == "true"),
                })
            }
            "if" | "unless" => self.condition(word),
            "while" | "until" => self.while_loop(word),
            "for" => self.for_loop(),
            "case" => self.case(),
            "begin" => self.begin(),
            "def" => self.definition(),
            "return" | "break" | "next" => {
                self.next += 1;
                let none =
                    matches!(self.kind(), Kind::Newline | Kind::End | Kind::Keyword(_)) || self.kind().is_sign("}");
                let value = Box::new(if none { Node::Nil } else { self.expression()? });
                Ok(match word {
                    "return" => Node::Return(value),
                    "break" => Node::Break(value),
                    _ => Node::Next(value),
                })
            }
            "class" | "module" | "yield" => {
                Err(Syntax::at(self.at(), format!("`{word}` is not part of this shell's language")))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn parenthesised(&mut self) -> Result<Node, Syntax> {
        self.next += 1;
        let no_do = std::mem::take(&mut self.no_do);
        let mut nodes = Vec::new();
        loop {
            self.skip_newlines();
            if self.take_sign(")") {
                break;
            }
            nodes.push(self.statement()?);
            if !matches!(self.kind(), Kind::Newline) && !self.kind().is_sign(")") {
                return Err(self.wanted(")"));
            }
        }
        self.no_do = no_do;
        Ok(match nodes.len() {
            0 => Node::Nil,
            1 => nodes.swap_remove(0),
            _ => Node::Sequence(nodes),
        })
    }

    /// Values with commas between them up to the closing sign; `k => v` pairs at the end are one hash.
    pub(super) fn list(&mut self, close: &'static str) -> Result<Vec<Node>, Syntax> {
        let no_do = std::mem::take(&mut self.no_do);
        let mut nodes = Vec::new();
        let mut pairs = Vec::new();
        loop {
            self.skip_newlines();
            if self.take_sign(close) {
                break;
            }
            self.element(&mut nodes, &mut pairs)?;
            self.skip_newlines();
            if !self.take_sign(",") {
                self.expect_sign(close)?;
                break;
            }
        }
        self.no_do = no_do;
        if !pairs.is_empty() {
            nodes.push(Node::Hash(pairs));
        }
        Ok(nodes)
    }

    /// One argument or element: a value, a pair, `&:name`.
    pub(super) fn element(&mut self, nodes: &mut Vec<Node>, pairs: &mut Vec<(Node, Node)>) -> Result<(), Syntax> {
        if let Kind::Label(name) = self.kind().clone() {
            self.next += 1;
            self.skip_newlines();
            pairs.push((Node::Symbol(name), self.not_spread()?));
            return Ok(());
        }
        if self.kind().is_sign("&")
            && let Kind::Symbol(name) = self.after(1).clone()
        {
            self.next += 2;
            nodes.push(Node::SymbolBlock(name));
            return Ok(());
        }
        let value = self.not_spread()?;
        if self.take_sign("=>") {
            self.skip_newlines();
            pairs.push((value, self.not_spread()?));
        } else if pairs.is_empty() {
            nodes.push(value);
        } else {
            // `create 't', NAME => 'f', 'g'`: what follows the pairs is an argument of its own, as it was meant.
            nodes.push(Node::Hash(std::mem::take(pairs)));
            nodes.push(value);
        }
        Ok(())
    }

    fn not_spread(&mut self) -> Result<Node, Syntax> {
        if self.take_keyword("not") {
            return Ok(Node::Not(Box::new(self.expression()?)));
        }
        self.expression()
    }

    pub(super) fn hash(&mut self) -> Result<Node, Syntax> {
        self.expect_sign("{")?;
        let no_do = std::mem::take(&mut self.no_do);
        let mut pairs = Vec::new();
        loop {
            self.skip_newlines();
            if self.take_sign("}") {
                break;
            }
            let mut nodes = Vec::new();
            self.element(&mut nodes, &mut pairs)?;
            if !nodes.is_empty() {
                return Err(self.wanted("=>"));
            }
            self.skip_newlines();
            if !self.take_sign(",") {
                self.expect_sign("}")?;
                break;
            }
        }
        self.no_do = no_do;
        Ok(Node::Hash(pairs))
    }

    fn name(&mut self, name: String) -> Result<Node, Syntax> {
        let adjacent = !self.token().space_after;
        self.next += 1;
        if self.locals.contains(&name) && !(adjacent && self.kind().is_sign("(")) {
            return Ok(Node::Name(name));
        }
        self.call_of(None, name, false)
    }

    fn constant(&mut self, name: String) -> Result<Node, Syntax> {
        let adjacent = !self.token().space_after;
        self.next += 1;
        if adjacent && self.kind().is_sign("(") {
            return self.call_of(None, name, false);
        }
        Ok(Node::Constant(name))
    }
}
