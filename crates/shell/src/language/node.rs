//! [`Node`]: an expression as the parser understood it.

use bytes::Bytes;

#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Nil,
    Bool(bool),
    SelfRef,
    Integer(i64),
    Float(f64),
    Text(Vec<Piece>),
    Pattern(Vec<Piece>, String),
    Symbol(String),
    Array(Vec<Node>),
    Hash(Vec<(Node, Node)>),
    Range(Box<Node>, Box<Node>, bool),
    /// A variable, or a call without arguments.
    Name(String),
    /// `@x`, `$x`.
    Variable(String),
    Constant(String),
    /// `A::B`.
    Scoped(Box<Node>, String),
    Call(Box<Call>),
    Index(Box<Node>, Vec<Node>),
    Assign(Box<Node>, Box<Node>),
    /// `a += b`: target, operator, value.
    Update(Box<Node>, &'static str, Box<Node>),
    /// `a, b = …`
    Spread(Vec<Node>, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    Not(Box<Node>),
    Negative(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
    /// Condition, body; `until` has its condition negated.
    While(Box<Node>, Box<Node>),
    For(Vec<String>, Box<Node>, Box<Node>),
    Case(Option<Box<Node>>, Vec<(Vec<Node>, Node)>, Box<Node>),
    Begin(Box<Begin>),
    Def(String, Vec<Parameter>, Box<Node>),
    Return(Box<Node>),
    Break(Box<Node>),
    Next(Box<Node>),
    Sequence(Vec<Node>),
    /// `*list` among arguments.
    Splat(Box<Node>),
    /// `&:name` as a block.
    SymbolBlock(String),
}

/// A piece of a string.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Plain(Bytes),
    Code(Node),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub receiver: Option<Node>,
    pub name: String,
    pub arguments: Vec<Node>,
    pub block: Option<Block>,
    /// `&.`: nil for a receiver that is nil.
    pub safe: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub parameters: Vec<Parameter>,
    pub body: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub default: Option<Node>,
    /// `*rest`
    pub rest: bool,
    /// `(a, b)` in a block.
    pub inner: Vec<Parameter>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Begin {
    pub body: Node,
    /// What the error is called in the rescue's body, and that body.
    pub rescue: Option<(Option<String>, Node)>,
    pub ensure: Option<Node>,
}
