//! What ends with `end`.

use super::{Parser, negated};
use crate::language::Syntax;
use crate::language::node::{Begin, Node};
use crate::language::token::Kind;

impl Parser {
    /// `if … elsif … else … end`, `unless … end`; the word is at hand.
    pub(super) fn condition(&mut self, word: &str) -> Result<Node, Syntax> {
        self.next += 1;
        let condition = negated(self.expression_statement()?, word == "unless");
        self.take_keyword("then");
        let yes = self.sequence(&["elsif", "else", "end"])?;
        let no = if self.kind().is_keyword("elsif") {
            // Reads up to the one `end` that closes all of them.
            self.condition("elsif")?
        } else {
            let no = if self.take_keyword("else") { self.sequence(&["end"])? } else { Node::Nil };
            self.expect_keyword("end")?;
            no
        };
        Ok(Node::If(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    pub(super) fn while_loop(&mut self, word: &str) -> Result<Node, Syntax> {
        self.next += 1;
        self.no_do += 1;
        let condition = self.expression_statement();
        self.no_do -= 1;
        let condition = negated(condition?, word == "until");
        self.take_keyword("do");
        let body = self.sequence(&["end"])?;
        self.expect_keyword("end")?;
        Ok(Node::While(Box::new(condition), Box::new(body)))
    }

    pub(super) fn for_loop(&mut self) -> Result<Node, Syntax> {
        self.next += 1;
        let mut names = Vec::new();
        loop {
            let Kind::Name(name) = self.kind().clone() else { return Err(self.wanted("name of a variable")) };
            self.next += 1;
            self.locals.insert(name.clone());
            names.push(name);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_keyword("in")?;
        self.no_do += 1;
        let list = self.expression();
        self.no_do -= 1;
        let list = list?;
        self.take_keyword("do");
        let body = self.sequence(&["end"])?;
        self.expect_keyword("end")?;
        Ok(Node::For(names, Box::new(list), Box::new(body)))
    }

    pub(super) fn case(&mut self) -> Result<Node, Syntax> {
        self.next += 1;
        let subject = if matches!(self.kind(), Kind::Newline) { None } else { Some(Box::new(self.expression()?)) };
        self.skip_newlines();
        let mut arms = Vec::new();
        while self.take_keyword("when") {
            let mut values = vec![self.expression()?];
            while self.take_sign(",") {
                self.skip_newlines();
                values.push(self.expression()?);
            }
            self.take_keyword("then");
            arms.push((values, self.sequence(&["when", "else", "end"])?));
        }
        let other = if self.take_keyword("else") { self.sequence(&["end"])? } else { Node::Nil };
        self.expect_keyword("end")?;
        Ok(Node::Case(subject, arms, Box::new(other)))
    }

    pub(super) fn begin(&mut self) -> Result<Node, Syntax> {
        self.next += 1;
        let begin = self.begin_body()?;
        Ok(Node::Begin(Box::new(begin)))
    }

    /// Up to `end`; every class of error is the same to `rescue`.
    fn begin_body(&mut self) -> Result<Begin, Syntax> {
        let body = self.sequence(&["rescue", "ensure", "end"])?;
        let mut rescue = None;
        while self.take_keyword("rescue") {
            let mut name = None;
            while !matches!(self.kind(), Kind::Newline | Kind::End) && !self.kind().is_keyword("then") {
                if self.take_sign("=>") {
                    let Kind::Name(given) = self.kind().clone() else { return Err(self.wanted("name of a variable")) };
                    self.next += 1;
                    self.locals.insert(given.clone());
                    name = Some(given);
                } else {
                    self.postfix()?;
                    self.take_sign(",");
                }
            }
            self.take_keyword("then");
            let handler = self.sequence(&["rescue", "ensure", "end"])?;
            rescue.get_or_insert((name, handler));
        }
        let ensure = if self.take_keyword("ensure") { Some(self.sequence(&["end"])?) } else { None };
        self.expect_keyword("end")?;
        Ok(Begin { body, rescue, ensure })
    }

    /// `def name(a, b = 1) … end`
    pub(super) fn definition(&mut self) -> Result<Node, Syntax> {
        self.next += 1;
        let Kind::Name(name) = self.kind().clone() else { return Err(self.wanted("name of a method")) };
        self.next += 1;
        // A method does not see the variables around it.
        let outside = std::mem::take(&mut self.locals);
        let mut parameters = Vec::new();
        if self.take_sign("(") {
            parameters = self.parameters(")")?;
        } else {
            while let Kind::Name(parameter) = self.kind().clone() {
                self.next += 1;
                self.locals.insert(parameter.clone());
                let default = if self.take_sign("=") { Some(self.expression()?) } else { None };
                parameters.push(crate::language::node::Parameter {
                    name: parameter,
                    default,
                    rest: false,
                    inner: Vec::new(),
                });
                self.take_sign(",");
            }
        }
        let body = self.begin_body();
        self.locals = outside;
        let begin = body?;
        Ok(Node::Def(name, parameters, Box::new(Node::Begin(Box::new(begin)))))
    }
}
