//! What can be called without a receiver and is no command: `puts`, `format`, `loop`, `exit` …

use super::evaluate::{Host, Interpreter};
use super::node::Block;
use super::value::{Flow, Outcome, Raise, Value};
use super::{format, methods};
use std::time::Duration;

/// Names, to complete what is typed.
pub const NAMES: &[&str] =
    &["exit", "format", "import", "load", "loop", "p", "print", "puts", "quit", "raise", "rand", "require", "sleep"];

/// Ok: it was one of these, and ran. Err: it is none; the arguments come back.
pub fn call<H: Host>(
    interpreter: &mut Interpreter<H>,
    name: &str,
    arguments: Vec<Value>,
    block: Option<&Block>,
) -> Result<Outcome, Vec<Value>> {
    let outcome = match name {
        "puts" => {
            puts(interpreter, &arguments);
            Ok(Value::Nil)
        }
        "print" => {
            for value in &arguments {
                interpreter.host.write(&value.to_bytes());
            }
            Ok(Value::Nil)
        }
        "p" | "pp" => {
            for value in &arguments {
                interpreter.host.write(format!("{}\n", value.inspect()).as_bytes());
            }
            Ok(match arguments.len() {
                0 => Value::Nil,
                1 => arguments[0].clone(),
                _ => Value::array(arguments),
            })
        }
        "printf" => formatted(&arguments).map(|text| {
            interpreter.host.write(&text);
            Value::Nil
        }),
        "format" | "sprintf" => formatted(&arguments).map(Value::text),
        "exit" | "quit" | "exit!" => Err(Flow::Exit(match arguments.first() {
            None | Some(Value::Bool(true)) => 0,
            Some(Value::Integer(code)) => *code as u8,
            Some(_) => 1,
        })),
        "raise" | "fail" => Err(raised(&arguments).into()),
        "sleep" => sleep(&arguments),
        "rand" => rand(interpreter, &arguments),
        "srand" => {
            if let Some(Value::Integer(seed)) = arguments.first() {
                interpreter.random = (*seed as u64) | 1;
            }
            Ok(Value::Integer(0))
        }
        "loop" => match block {
            None => Err(Raise::argument("loop: no block given").into()),
            Some(block) => loop {
                if let Err(flow) = interpreter.yield_to(block, Vec::new()) {
                    break Err(flow);
                }
            },
        },
        // What scripts ask for is here already, or cannot be had.
        "require" | "include" | "require_relative" => Ok(Value::Bool(false)),
        "import" | "java_import" | "include_class" => import(interpreter, &arguments),
        "load" => load(interpreter, &arguments),
        "gets" => Ok(interpreter.host.read_line().map_or(Value::Nil, |line| Value::text(format!("{line}\n")))),
        "block_given?" => Ok(Value::Bool(false)),
        "binding" | "local_variables" => {
            let mut names: Vec<String> = interpreter.locals().into_iter().collect();
            names.sort();
            Ok(Value::array(names.iter().map(|n| Value::Symbol(n.as_str().into())).collect()))
        }
        "Integer" | "Float" | "String" | "Array" => convert(name, &arguments),
        _ => return Err(arguments),
    };
    Ok(outcome)
}

fn puts<H: Host>(interpreter: &mut Interpreter<H>, arguments: &[Value]) {
    if arguments.is_empty() {
        interpreter.host.write(b"\n");
    }
    for value in arguments {
        if let Value::Array(items) = value {
            let items = items.borrow().clone();
            if !items.is_empty() {
                puts(interpreter, &items);
            }
            continue;
        }
        let mut line = value.to_bytes().to_vec();
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        interpreter.host.write(&line);
    }
}

fn formatted(arguments: &[Value]) -> Outcome<Vec<u8>> {
    let (template, values) = arguments.split_first().ok_or_else(|| Raise::argument("too few arguments"))?;
    Ok(format::sprintf(&template.to_bytes(), values)?)
}

fn raised(arguments: &[Value]) -> Raise {
    match arguments {
        [] => Raise::runtime("unhandled exception"),
        [Value::Class(class)] => Raise::new(class, class.to_string()),
        [Value::Class(class), message, ..] => Raise::new(class, message.to_text()),
        [Value::Error(raise), ..] => (**raise).clone(),
        [message, ..] => Raise::runtime(message.to_text()),
    }
}

fn sleep(arguments: &[Value]) -> Outcome {
    let seconds = match arguments.first() {
        Some(Value::Integer(s)) => *s as f64,
        Some(Value::Float(s)) => *s,
        _ => return Err(Raise::of_type("sleep wants a number of seconds").into()),
    };
    let duration =
        Duration::try_from_secs_f64(seconds).map_err(|_| Raise::argument("time interval must not be negative"))?;
    std::thread::sleep(duration);
    Ok(Value::Integer(seconds.round() as i64))
}

/// xorshift64*, good enough for test data.
fn rand<H: Host>(interpreter: &mut Interpreter<H>, arguments: &[Value]) -> Outcome {
    let mut x = interpreter.random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    interpreter.random = x;
    let random = x.wrapping_mul(0x2545_F491_4F6C_DD1D);
    match arguments.first() {
        None => Ok(Value::Float((random >> 11) as f64 / (1u64 << 53) as f64)),
        Some(Value::Integer(most)) if *most > 0 => Ok(Value::Integer((random % *most as u64) as i64)),
        Some(range @ Value::Range(_)) => {
            let items = methods::elements(range)?;
            let index = (random % items.len().max(1) as u64) as usize;
            Ok(items.get(index).cloned().unwrap_or(Value::Nil))
        }
        Some(other) => Err(Raise::argument(format!("invalid argument - {}", other.inspect())).into()),
    }
}

fn import<H: Host>(interpreter: &mut Interpreter<H>, arguments: &[Value]) -> Outcome {
    for argument in arguments {
        let path = argument.to_text();
        let name = path.rsplit('.').next().unwrap_or(&path).to_owned();
        interpreter.constants.insert(name, Value::Class(path.as_str().into()));
    }
    Ok(Value::Nil)
}

fn load<H: Host>(interpreter: &mut Interpreter<H>, arguments: &[Value]) -> Outcome {
    let path = arguments.first().ok_or_else(|| Raise::arity(0, "1"))?.to_text();
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Raise::new("LoadError", format!("cannot load such file -- {path}: {error}")))?;
    // As in Ruby, the file's variables are its own.
    let mut locals = std::collections::HashSet::new();
    let node = super::parser::parse(&text, 1, &mut locals)
        .map_err(|error| Raise::new("SyntaxError", format!("{path}: {error}")))?;
    interpreter.frames.push(std::collections::HashMap::new());
    let result = interpreter.evaluate(&node);
    interpreter.frames.pop();
    result.map(|_| Value::Bool(true))
}

fn convert(name: &str, arguments: &[Value]) -> Outcome {
    let value = arguments.first().ok_or_else(|| Raise::arity(0, "1"))?;
    let invalid = || Raise::argument(format!("invalid value for {name}(): {}", value.inspect()));
    Ok(match (name, value) {
        ("String", _) => Value::text(value.to_bytes()),
        ("Array", _) => Value::array(methods::items(value)),
        ("Integer", Value::Integer(_)) | ("Float", Value::Float(_)) => value.clone(),
        ("Integer", Value::Float(f)) => Value::Integer(*f as i64),
        ("Float", Value::Integer(i)) => Value::Float(*i as f64),
        ("Integer", Value::Text(_)) => {
            let text = value.to_text().trim().replace('_', "");
            let parsed = match text.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16),
                None => text.parse(),
            };
            Value::Integer(parsed.map_err(|_| invalid())?)
        }
        ("Float", Value::Text(_)) => Value::Float(value.to_text().trim().parse().map_err(|_| invalid())?),
        _ => return Err(Raise::of_type(format!("can't convert {} into {name}", value.class())).into()),
    })
}
