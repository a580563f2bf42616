//! Methods of hashes.

use super::{Asked, list};
use crate::language::evaluate::{Host, Interpreter};
use crate::language::value::{Outcome, Pairs, Raise, Value, set_pair};
use std::cell::RefCell;
use std::rc::Rc;

pub fn call<H: Host>(
    interpreter: &mut Interpreter<H>,
    object: &Value,
    me: &Rc<RefCell<Pairs>>,
    asked: &Asked<'_>,
) -> Outcome<Option<Value>> {
    if let Some(value) = plain(object, me, asked)? {
        return Ok(Some(value));
    }
    let pairs = me.borrow().clone();
    let Some(block) = asked.block else { return Ok(None) };
    let kept = |interpreter: &mut Interpreter<H>, yes: bool| -> Outcome {
        let mut out = Pairs::new();
        for (key, value) in &pairs {
            if interpreter.yield_to(block, vec![key.clone(), value.clone()])?.is_true() == yes {
                out.push((key.clone(), value.clone()));
            }
        }
        Ok(Value::hash(out))
    };
    Ok(Some(match asked.name {
        "select" | "filter" => kept(interpreter, true)?,
        "reject" => kept(interpreter, false)?,
        "each_key" | "each_value" => {
            for (key, value) in pairs {
                let item = if asked.name == "each_key" { key } else { value };
                interpreter.yield_to(block, vec![item])?;
            }
            object.clone()
        }
        "transform_values" => {
            let mut out = Pairs::new();
            for (key, value) in pairs {
                out.push((key, interpreter.yield_to(block, vec![value])?));
            }
            Value::hash(out)
        }
        _ => {
            let items = pairs.into_iter().map(|(k, v)| Value::array(vec![k, v])).collect();
            let name = if asked.name == "each_pair" { "each" } else { asked.name };
            let asked = Asked { name, arguments: asked.arguments.clone(), block: asked.block };
            return list::with_block(interpreter, object, items, &asked);
        }
    }))
}

fn plain(object: &Value, me: &Rc<RefCell<Pairs>>, asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    let find = |key: &Value| me.borrow().iter().find(|(k, _)| k.equals(key, true)).map(|(_, v)| v.clone());
    Ok(Some(match asked.name {
        "[]" => find(asked.first()?).unwrap_or(Value::Nil),
        "fetch" => match (find(asked.first()?), asked.arguments.get(1)) {
            (Some(value), _) => value,
            (None, Some(default)) => default.clone(),
            (None, None) => {
                return Err(Raise::new("KeyError", format!("key not found: {}", asked.first()?.inspect())));
            }
        },
        "[]=" | "store" => {
            asked.arity(2, 2)?;
            set_pair(&mut me.borrow_mut(), asked.arguments[0].clone(), asked.arguments[1].clone());
            asked.arguments[1].clone()
        }
        "delete" => {
            let key = asked.first()?;
            let at = me.borrow().iter().position(|(k, _)| k.equals(key, true));
            at.map_or(Value::Nil, |at| me.borrow_mut().remove(at).1)
        }
        "clear" => {
            me.borrow_mut().clear();
            object.clone()
        }
        "key?" | "has_key?" | "include?" | "member?" => Value::Bool(find(asked.first()?).is_some()),
        "value?" | "has_value?" => {
            let what = asked.first()?;
            Value::Bool(me.borrow().iter().any(|(_, v)| v.equals(what, false)))
        }
        "keys" => Value::array(me.borrow().iter().map(|(k, _)| k.clone()).collect()),
        "values" => Value::array(me.borrow().iter().map(|(_, v)| v.clone()).collect()),
        "length" | "size" => Value::Integer(me.borrow().len() as i64),
        "count" if asked.block.is_none() => Value::Integer(me.borrow().len() as i64),
        "empty?" => Value::Bool(me.borrow().is_empty()),
        "any?" if asked.block.is_none() => Value::Bool(!me.borrow().is_empty()),
        "to_h" if asked.block.is_none() => object.clone(),
        "dup" | "clone" => Value::hash(me.borrow().clone()),
        "to_a" | "sort" if asked.block.is_none() => {
            let mut items = super::elements(object)?;
            if asked.name == "sort" {
                items.sort_by(|a, b| a.compare(b).unwrap_or(std::cmp::Ordering::Equal));
            }
            Value::array(items)
        }
        "merge" | "merge!" | "update" => {
            let mut out = me.borrow().clone();
            for other in &asked.arguments {
                let Value::Hash(pairs) = other else {
                    return Err(Raise::of_type(format!("no implicit conversion of {} into Hash", other.class())));
                };
                for (key, value) in pairs.borrow().iter() {
                    set_pair(&mut out, key.clone(), value.clone());
                }
            }
            if asked.name == "merge" {
                Value::hash(out)
            } else {
                *me.borrow_mut() = out;
                object.clone()
            }
        }
        "invert" => Value::hash(me.borrow().iter().map(|(k, v)| (v.clone(), k.clone())).collect()),
        _ => return Ok(None),
    }))
}
