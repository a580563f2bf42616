//! [`Interpreter`]: evaluates nodes. Names that are no variables and no methods here are commands of the [`Host`].

use super::node::{Block, Call, Node, Parameter, Piece};
use super::value::{Flow, Outcome, Pairs, Raise, Value, set_pair};
use super::{constants, java, kernel, methods, operators};
use bytes::Bytes;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How deep methods may call each other.
const MOST_FRAMES: usize = 200;

/// What the language runs in: commands, and a place to write to.
pub trait Host {
    /// Runs a command; None: there is none of this name.
    fn command(&mut self, name: &str, arguments: Vec<Value>) -> Option<Outcome>;
    /// Runs a method of a reference to a table; None: tables have no such method.
    fn table_method(&mut self, table: &Rc<str>, name: &str, arguments: Vec<Value>) -> Option<Outcome>;
    fn write(&mut self, bytes: &[u8]);
    /// A line of the input, without its end; None behind the last.
    fn read_line(&mut self) -> Option<String>;
}

/// An interpreter with its variables.
pub struct Interpreter<H> {
    pub host: H,
    /// Variables of the methods that are being called, innermost last.
    pub(super) frames: Vec<HashMap<String, Value>>,
    pub(super) globals: HashMap<String, Value>,
    pub(super) constants: HashMap<String, Value>,
    pub(super) functions: HashMap<String, Rc<(Vec<Parameter>, Node)>>,
    pub(super) random: u64,
}

impl<H: Host> Interpreter<H> {
    /// `arguments` are the script's (`ARGV`).
    pub fn new(host: H, arguments: &[String]) -> Interpreter<H> {
        let constants = HashMap::from([("ARGV".to_owned(), Value::texts(arguments))]);
        Interpreter {
            host,
            frames: vec![HashMap::new()],
            globals: HashMap::new(),
            constants,
            functions: HashMap::new(),
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// The names of the variables that there are.
    pub fn locals(&self) -> HashSet<String> {
        self.frames.last().map(|frame| frame.keys().cloned().collect()).unwrap_or_default()
    }

    pub fn local(&self, name: &str) -> Option<&Value> {
        self.frames.last()?.get(name)
    }

    pub fn set_local(&mut self, name: &str, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(name.to_owned(), value);
        }
    }

    /// Evaluates what was typed.
    pub fn evaluate(&mut self, node: &Node) -> Outcome {
        match node {
            Node::Nil => Ok(Value::Nil),
            Node::Bool(b) => Ok(Value::Bool(*b)),
            Node::SelfRef => Ok(Value::Opaque("main".into())),
            Node::Integer(i) => Ok(Value::Integer(*i)),
            Node::Float(f) => Ok(Value::Float(*f)),
            Node::Text(pieces) => self.text(pieces).map(Value::Text),
            Node::Pattern(pieces, flags) => {
                let source = String::from_utf8_lossy(&self.text(pieces)?).into_owned();
                Ok(Value::Pattern(Rc::new((source, flags.clone()))))
            }
            Node::Symbol(name) => Ok(Value::Symbol(name.as_str().into())),
            Node::Array(items) => self.list(items).map(Value::array),
            Node::Hash(pairs) => self.hash(pairs),
            Node::Range(from, to, excluded) => {
                Ok(Value::Range(Rc::new((self.evaluate(from)?, self.evaluate(to)?, *excluded))))
            }
            Node::Name(name) => self.name(name),
            Node::Variable(name) => Ok(self.globals.get(name).cloned().unwrap_or(Value::Nil)),
            Node::Constant(name) => self.constant(name),
            Node::Scoped(scope, name) => {
                let scope = self.evaluate(scope)?;
                java::scoped(&scope, name).map_err(Flow::from)
            }
            Node::Call(call) => self.call(call),
            Node::Index(object, index) => {
                let object = self.evaluate(object)?;
                let index = self.list(index)?;
                self.method(&object, "[]", index, None)
            }
            _ => self.compound(node),
        }
    }

    /// Assignments, operators, flow.
    fn compound(&mut self, node: &Node) -> Outcome {
        match node {
            Node::Assign(target, value) => {
                let value = self.evaluate(value)?;
                self.assign(target, value)
            }
            Node::Update(target, operator, value) => self.update(target, operator, value),
            Node::Spread(targets, value) => self.spread(targets, value),
            Node::Binary(operator, left, right) => {
                let left_value = self.evaluate(left)?;
                let right = self.evaluate(right)?;
                let result = self.binary(operator, &left_value, right)?;
                // Strings do not change here: `s << 'x'` gives the variable a new one.
                if *operator == "<<" && matches!(left_value, Value::Text(_)) && matches!(**left, Node::Name(_)) {
                    self.assign(left, result.clone())?;
                }
                Ok(result)
            }
            Node::Not(value) => Ok(Value::Bool(!self.evaluate(value)?.is_true())),
            Node::Negative(value) => match self.evaluate(value)? {
                Value::Integer(i) => Ok(Value::Integer(i.wrapping_neg())),
                Value::Float(f) => Ok(Value::Float(-f)),
                other => Err(Raise::no_method("-@", &other).into()),
            },
            Node::And(left, right) => {
                let left = self.evaluate(left)?;
                if left.is_true() { self.evaluate(right) } else { Ok(left) }
            }
            Node::Or(left, right) => {
                let left = self.evaluate(left)?;
                if left.is_true() { Ok(left) } else { self.evaluate(right) }
            }
            Node::If(condition, yes, no) => {
                let chosen = if self.evaluate(condition)?.is_true() { yes } else { no };
                self.evaluate(chosen)
            }
            Node::While(condition, body) => self.while_loop(condition, body),
            Node::For(names, list, body) => self.for_loop(names, list, body),
            Node::Case(subject, arms, other) => self.case(subject.as_deref(), arms, other),
            Node::Begin(begin) => self.begin(begin),
            Node::Def(name, parameters, body) => {
                self.functions.insert(name.clone(), Rc::new((parameters.clone(), (**body).clone())));
                Ok(Value::Symbol(name.as_str().into()))
            }
            Node::Return(value) => Err(Flow::Return(self.evaluate(value)?)),
            Node::Break(value) => Err(Flow::Break(self.evaluate(value)?)),
            Node::Next(value) => Err(Flow::Next(self.evaluate(value)?)),
            Node::Sequence(nodes) => {
                let mut last = Value::Nil;
                for node in nodes {
                    last = self.evaluate(node)?;
                }
                Ok(last)
            }
            Node::Splat(_) | Node::SymbolBlock(_) => Err(Raise::argument("`*` and `&` stand among arguments").into()),
            other => Err(Raise::runtime(format!("not evaluated: {other:?}")).into()),
        }
    }

    fn text(&mut self, pieces: &[Piece]) -> Outcome<Bytes> {
        if let [Piece::Plain(bytes)] = pieces {
            return Ok(bytes.clone());
        }
        let mut out = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Plain(bytes) => out.extend_from_slice(bytes),
                Piece::Code(node) => out.extend_from_slice(&self.evaluate(node)?.to_bytes()),
            }
        }
        Ok(out.into())
    }

    fn list(&mut self, nodes: &[Node]) -> Outcome<Vec<Value>> {
        let mut out = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Node::Splat(list) => out.extend(methods::items(&self.evaluate(list)?)),
                node => out.push(self.evaluate(node)?),
            }
        }
        Ok(out)
    }

    fn hash(&mut self, pairs: &[(Node, Node)]) -> Outcome {
        let mut out = Pairs::with_capacity(pairs.len());
        for (key, value) in pairs {
            let key = self.evaluate(key)?;
            set_pair(&mut out, key, self.evaluate(value)?);
        }
        Ok(Value::hash(out))
    }

    fn name(&mut self, name: &str) -> Outcome {
        if let Some(value) = self.local(name) {
            return Ok(value.clone());
        }
        self.free_call(name, Vec::new(), None)
    }

    fn constant(&mut self, name: &str) -> Outcome {
        if let Some(value) = self.constants.get(name) {
            return Ok(value.clone());
        }
        if let Some(value) = constants::value(name) {
            return Ok(Value::text(value));
        }
        if let Some(class) = java::class(name) {
            return Ok(Value::Class(class.into()));
        }
        Err(Raise::new("NameError", format!("uninitialized constant {name}")).into())
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let receiver = match &call.receiver {
            Some(node) => Some(self.evaluate(node)?),
            None => None,
        };
        if call.safe && receiver.as_ref().is_some_and(Value::is_nil) {
            return Ok(Value::Nil);
        }
        let arguments = self.list(&call.arguments)?;
        let block = call.block.as_ref();
        let result = match &receiver {
            Some(object) => self.method(object, &call.name, arguments, block),
            None => self.free_call(&call.name, arguments, block),
        };
        match result {
            Err(Flow::Break(value)) if block.is_some() => Ok(value),
            other => other,
        }
    }

    /// A call without a receiver: a method of the script's, one of the language's, a command.
    pub(super) fn free_call(&mut self, name: &str, arguments: Vec<Value>, block: Option<&Block>) -> Outcome {
        if let Some(function) = self.functions.get(name).cloned() {
            return self.function(name, &function.0, &function.1, arguments);
        }
        let arguments = match kernel::call(self, name, arguments, block) {
            Ok(outcome) => return outcome,
            Err(arguments) => arguments,
        };
        let is_bare = arguments.is_empty();
        match self.host.command(name, arguments) {
            Some(outcome) => outcome,
            None if is_bare => {
                if let Some(package) = java::root(name) {
                    return Ok(package);
                }
                let message = format!("undefined local variable or method `{name}'");
                Err(Raise::new("NameError", message).into())
            }
            None => Err(Raise::new("NoMethodError", format!("undefined method `{name}'")).into()),
        }
    }

    fn function(&mut self, name: &str, parameters: &[Parameter], body: &Node, arguments: Vec<Value>) -> Outcome {
        if self.frames.len() > MOST_FRAMES {
            return Err(Raise::new("SystemStackError", "stack level too deep").into());
        }
        let least = parameters.iter().filter(|p| p.default.is_none() && !p.rest).count();
        let most = if parameters.iter().any(|p| p.rest) { usize::MAX } else { parameters.len() };
        if arguments.len() < least || arguments.len() > most {
            let expected = if most == least { least.to_string() } else { format!("{least}..{most}") };
            return Err(Raise::argument(format!(
                "wrong number of arguments for {name} (given {}, expected {expected})",
                arguments.len()
            ))
            .into());
        }
        self.frames.push(HashMap::new());
        let result = self.bind(parameters, arguments).and_then(|()| self.evaluate(body));
        self.frames.pop();
        match result {
            Err(Flow::Return(value)) => Ok(value),
            other => other,
        }
    }

    /// Gives parameters their values in the innermost frame.
    fn bind(&mut self, parameters: &[Parameter], arguments: Vec<Value>) -> Outcome<()> {
        let after_rest = parameters.iter().rev().take_while(|p| !p.rest).count();
        let mut arguments: std::collections::VecDeque<Value> = arguments.into();
        for parameter in parameters {
            if parameter.rest {
                let keep = arguments.len().saturating_sub(after_rest);
                let rest = arguments.drain(..keep).collect();
                self.set_local(&parameter.name, Value::array(rest));
                continue;
            }
            let value = match (arguments.pop_front(), &parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.evaluate(default)?,
                (None, None) => Value::Nil,
            };
            if parameter.inner.is_empty() {
                self.set_local(&parameter.name, value);
            } else {
                self.bind(&parameter.inner, methods::items(&value))?;
            }
        }
        Ok(())
    }

    /// Runs a block once. Its parameters hide variables of the same name while it runs.
    pub(super) fn yield_to(&mut self, block: &Block, arguments: Vec<Value>) -> Outcome {
        // One array for several parameters is taken apart.
        let arguments = match arguments.as_slice() {
            [list @ Value::Array(_)] if block.parameters.len() > 1 => methods::items(list),
            _ => arguments,
        };
        let mut names = Vec::new();
        names_of(&block.parameters, &mut names);
        let before: Vec<Option<Value>> = names.iter().map(|name| self.local(name).cloned()).collect();
        let result = self.bind(&block.parameters, arguments).and_then(|()| self.evaluate(&block.body));
        for (name, value) in names.into_iter().zip(before) {
            match value {
                Some(value) => self.set_local(name, value),
                None => {
                    self.frames.last_mut().map(|frame| frame.remove(name));
                }
            }
        }
        match result {
            Err(Flow::Next(value)) => Ok(value),
            other => other,
        }
    }

    fn while_loop(&mut self, condition: &Node, body: &Node) -> Outcome {
        while self.evaluate(condition)?.is_true() {
            match self.evaluate(body) {
                Ok(_) | Err(Flow::Next(_)) => {}
                Err(Flow::Break(value)) => return Ok(value),
                Err(other) => return Err(other),
            }
        }
        Ok(Value::Nil)
    }

    fn for_loop(&mut self, names: &[String], list: &Node, body: &Node) -> Outcome {
        let list = self.evaluate(list)?;
        for item in methods::elements(&list)? {
            if let [name] = names {
                self.set_local(name, item);
            } else {
                let mut parts = methods::items(&item).into_iter();
                for name in names {
                    self.set_local(name, parts.next().unwrap_or(Value::Nil));
                }
            }
            match self.evaluate(body) {
                Ok(_) | Err(Flow::Next(_)) => {}
                Err(Flow::Break(value)) => return Ok(value),
                Err(other) => return Err(other),
            }
        }
        Ok(list)
    }

    fn case(&mut self, subject: Option<&Node>, arms: &[(Vec<Node>, Node)], other: &Node) -> Outcome {
        let subject = match subject {
            Some(node) => Some(self.evaluate(node)?),
            None => None,
        };
        for (values, body) in arms {
            for value in values {
                let value = self.evaluate(value)?;
                let fits = match &subject {
                    Some(subject) => operators::case_equals(&value, subject)?,
                    None => value.is_true(),
                };
                if fits {
                    return self.evaluate(body);
                }
            }
        }
        self.evaluate(other)
    }

    fn begin(&mut self, begin: &super::node::Begin) -> Outcome {
        let mut result = self.evaluate(&begin.body);
        if let (Err(Flow::Raise(raise)), Some((name, handler))) = (&result, &begin.rescue) {
            let error = Value::Error(Rc::new(raise.clone()));
            self.globals.insert("$!".to_owned(), error.clone());
            if let Some(name) = name {
                self.set_local(name, error);
            }
            result = self.evaluate(handler);
        }
        if let Some(ensure) = &begin.ensure {
            self.evaluate(ensure)?;
        }
        result
    }

    fn assign(&mut self, target: &Node, value: Value) -> Outcome {
        match target {
            Node::Name(name) => self.set_local(name, value.clone()),
            Node::Variable(name) => {
                self.globals.insert(name.clone(), value.clone());
            }
            Node::Constant(name) => {
                self.constants.insert(name.clone(), value.clone());
            }
            Node::Index(object, index) => {
                let object = self.evaluate(object)?;
                let mut arguments = self.list(index)?;
                arguments.push(value.clone());
                self.method(&object, "[]=", arguments, None)?;
            }
            Node::Call(call) => {
                return Err(Raise::new("NoMethodError", format!("undefined method `{}='", call.name)).into());
            }
            _ => return Err(Raise::argument("this cannot be assigned to").into()),
        }
        Ok(value)
    }

    fn update(&mut self, target: &Node, operator: &str, value: &Node) -> Outcome {
        let old = match target {
            Node::Name(name) => self.local(name).cloned().unwrap_or(Value::Nil),
            target => self.evaluate(target)?,
        };
        let new = match operator {
            "||" if old.is_true() => return Ok(old),
            "&&" if !old.is_true() => return Ok(old),
            "||" | "&&" => self.evaluate(value)?,
            operator => {
                let value = self.evaluate(value)?;
                self.binary(operator, &old, value)?
            }
        };
        self.assign(target, new)
    }

    fn spread(&mut self, targets: &[Node], value: &Node) -> Outcome {
        let value = self.evaluate(value)?;
        let mut items = methods::items(&value).into_iter();
        for target in targets {
            self.assign(target, items.next().unwrap_or(Value::Nil))?;
        }
        Ok(value)
    }

    pub(super) fn binary(&mut self, operator: &str, left: &Value, right: Value) -> Outcome {
        if let (Value::Pattern(_), "=~") | (_, "=~" | "!~") = (left, operator) {
            return operators::matches(self, left, &right, operator == "!~");
        }
        operators::binary(operator, left, &right).map_err(Flow::from)
    }

    /// A method of a value.
    pub(super) fn method(
        &mut self,
        object: &Value,
        name: &str,
        arguments: Vec<Value>,
        block: Option<&Block>,
    ) -> Outcome {
        if let Value::Table(table) = object
            && let Some(outcome) = self.host.table_method(&Rc::clone(table), name, arguments.clone())
        {
            return outcome;
        }
        methods::call(self, object, name, arguments, block)
    }
}

fn names_of<'a>(parameters: &'a [Parameter], out: &mut Vec<&'a str>) {
    for parameter in parameters {
        if parameter.inner.is_empty() {
            out.push(&parameter.name);
        } else {
            names_of(&parameter.inner, out);
        }
    }
}

/// An array's content, to change it.
pub(super) fn shared(items: &Rc<RefCell<Vec<Value>>>) -> std::cell::RefMut<'_, Vec<Value>> {
    items.borrow_mut()
}
