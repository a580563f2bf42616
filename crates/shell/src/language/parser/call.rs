//! Calls: `.name`, `[…]`, arguments with and without parentheses, blocks.

use super::Parser;
use crate::language::Syntax;
use crate::language::node::{Block, Call, Node, Parameter};
use crate::language::token::Kind;

impl Parser {
    /// A value and what is asked of it.
    pub(super) fn postfix(&mut self) -> Result<Node, Syntax> {
        let mut node = self.primary()?;
        loop {
            let token = self.token();
            match token.kind {
                Kind::Sign(sign @ ("." | "&.")) => {
                    self.next += 1;
                    self.skip_newlines();
                    let name = self.method_name()?;
                    node = self.call_of(Some(node), name, sign == "&.")?;
                }
                Kind::Sign("::") => {
                    self.next += 1;
                    let name = self.method_name()?;
                    node = match name.chars().next() {
                        Some(c) if c.is_uppercase() && !self.kind().is_sign("(") => Node::Scoped(Box::new(node), name),
                        _ => self.call_of(Some(node), name, false)?,
                    };
                }
                Kind::Sign("[") if !token.space_before => {
                    self.next += 1;
                    let index = self.list("]")?;
                    node = Node::Index(Box::new(node), index);
                }
                _ => return Ok(node),
            }
        }
    }

    fn method_name(&mut self) -> Result<String, Syntax> {
        let name = match self.kind() {
            Kind::Name(name) | Kind::Constant(name) => name.clone(),
            Kind::Keyword(word) => (*word).to_owned(),
            _ => return Err(self.wanted("name of a method")),
        };
        self.next += 1;
        Ok(name)
    }

    /// The name is behind us; its arguments and its block may follow.
    pub(super) fn call_of(&mut self, receiver: Option<Node>, name: String, safe: bool) -> Result<Node, Syntax> {
        let mut arguments = Vec::new();
        let mut called = receiver.is_some();
        let adjacent = !self.token().space_before;
        if self.kind().is_sign("(") && adjacent {
            self.next += 1;
            arguments = self.list(")")?;
            called = true;
        } else if self.kind().is_sign("(") && self.is_list_in_parentheses() {
            // `create ('t', 'f')`
            self.next += 1;
            arguments = self.list(")")?;
            called = true;
        } else if self.begins_argument(receiver.is_some()) {
            arguments = self.bare_arguments()?;
            called = true;
        }
        let block = self.block(called)?;
        if !called && block.is_none() {
            return Ok(Node::Name(name));
        }
        let block = block.or_else(|| match arguments.last() {
            Some(Node::SymbolBlock(method)) => {
                let method = method.clone();
                arguments.pop();
                Some(symbol_block(method))
            }
            _ => None,
        });
        Ok(Node::Call(Box::new(Call { receiver, name, arguments, block, safe })))
    }

    /// Whether the bracket that opens here holds a comma at its own level and ends the arguments.
    fn is_list_in_parentheses(&self) -> bool {
        let mut depth = 0i32;
        let mut comma = false;
        for token in &self.tokens[self.next..] {
            match token.kind {
                Kind::Sign("(" | "[" | "{") => depth += 1,
                Kind::Sign(")" | "]" | "}") => depth -= 1,
                Kind::Sign(",") if depth == 1 => comma = true,
                _ => {}
            }
            if depth == 0 {
                return comma;
            }
        }
        false
    }

    /// Whether the token begins an argument of the name before it.
    fn begins_argument(&self, is_method: bool) -> bool {
        let token = self.token();
        if !token.space_before {
            return false;
        }
        match &token.kind {
            Kind::Integer(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Pattern(..)
            | Kind::Symbol(_)
            | Kind::Label(_)
            | Kind::Words(..)
            | Kind::Name(_)
            | Kind::Variable(_)
            | Kind::Constant(_) => true,
            Kind::Keyword(word) => matches!(*word, "nil" | "true" | "false" | "self" | "not" | "case" | "def"),
            Kind::Sign("(" | "!") => true,
            // `list [0]` has an argument, `t.splits [0]` too; `x [0]` of a variable does not come here.
            Kind::Sign("[") => true,
            Kind::Sign("{") => self.is_hash() && (!is_method || !matches!(self.after(1), Kind::Sign("}"))),
            Kind::Sign("-" | "*" | "&" | "::") => !token.space_after,
            _ => false,
        }
    }

    /// Whether the brace opens a hash and not a block: a key follows.
    fn is_hash(&self) -> bool {
        match self.after(1) {
            Kind::Label(_) => true,
            Kind::Sign("}") => true,
            Kind::Constant(_) | Kind::Text(_) | Kind::Symbol(_) | Kind::Newline => {
                let mut ahead = 1;
                while matches!(self.after(ahead), Kind::Newline) {
                    ahead += 1;
                }
                self.after(ahead + 1).is_sign("=>")
            }
            _ => false,
        }
    }

    fn bare_arguments(&mut self) -> Result<Vec<Node>, Syntax> {
        self.no_do += 1;
        let mut nodes = Vec::new();
        let mut pairs = Vec::new();
        loop {
            self.element(&mut nodes, &mut pairs)?;
            if !self.take_sign(",") {
                break;
            }
            self.skip_newlines();
        }
        self.no_do -= 1;
        if !pairs.is_empty() {
            nodes.push(Node::Hash(pairs));
        }
        Ok(nodes)
    }

    fn block(&mut self, called: bool) -> Result<Option<Block>, Syntax> {
        if self.kind().is_sign("{") && (called || !self.is_hash()) {
            self.next += 1;
            let no_do = std::mem::take(&mut self.no_do);
            let block = self.block_body(&[]);
            self.no_do = no_do;
            let block = block?;
            self.expect_sign("}")?;
            return Ok(Some(block));
        }
        if self.no_do == 0 && self.take_keyword("do") {
            let block = self.block_body(&["end"])?;
            self.expect_keyword("end")?;
            return Ok(Some(block));
        }
        Ok(None)
    }

    /// Its parameters are known within it; what it assigns newly is forgotten behind it.
    fn block_body(&mut self, until: &[&str]) -> Result<Block, Syntax> {
        let outside = self.locals.clone();
        self.skip_newlines();
        let mut parameters = Vec::new();
        if self.take_sign("|") {
            parameters = self.parameters("|")?;
        } else {
            self.take_sign("||");
        }
        let body = self.sequence(until)?;
        self.locals = outside;
        Ok(Block { parameters, body })
    }

    pub(super) fn parameters(&mut self, close: &'static str) -> Result<Vec<Parameter>, Syntax> {
        let mut parameters = Vec::new();
        while !self.take_sign(close) {
            let rest = self.take_sign("*");
            if self.take_sign("(") {
                let inner = self.parameters(")")?;
                parameters.push(Parameter { name: String::new(), default: None, rest: false, inner });
            } else {
                let Kind::Name(name) = self.kind().clone() else { return Err(self.wanted("name of a parameter")) };
                self.next += 1;
                self.locals.insert(name.clone());
                // No `|` in a default: it closes the list.
                let default = if self.take_sign("=") { Some(self.unary()?) } else { None };
                parameters.push(Parameter { name, default, rest, inner: Vec::new() });
            }
            if !self.take_sign(",") {
                self.expect_sign(close)?;
                break;
            }
        }
        Ok(parameters)
    }
}

/// `&:name` is `{ |it| it.name }`.
fn symbol_block(method: String) -> Block {
    let it = "it".to_owned();
    let call =
        Call { receiver: Some(Node::Name(it.clone())), name: method, arguments: Vec::new(), block: None, safe: false };
    let parameters = vec![Parameter { name: it, default: None, rest: false, inner: Vec::new() }];
    Block { parameters, body: Node::Call(Box::new(call)) }
}
