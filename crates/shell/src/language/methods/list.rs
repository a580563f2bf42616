//! Methods of arrays; ranges have them, too.

use super::{Asked, elements, items, joined, position, slice, unique};
use crate::language::evaluate::{Host, Interpreter, shared};
use crate::language::pack;
use crate::language::value::{Outcome, Raise, Value, set_pair};
use std::cell::RefCell;
use std::rc::Rc;

type Items = Rc<RefCell<Vec<Value>>>;

pub fn call<H: Host>(
    interpreter: &mut Interpreter<H>,
    object: &Value,
    me: &Items,
    asked: &Asked<'_>,
) -> Outcome<Option<Value>> {
    if let Some(value) = change(object, me, asked)? {
        return Ok(Some(value));
    }
    if let Some(value) = look(me, asked)? {
        return Ok(Some(value));
    }
    if asked.block.is_some() || matches!(asked.name, "inject" | "reduce" | "sum" | "min" | "max" | "sort") {
        let list = me.borrow().clone();
        return with_block(interpreter, object, list, asked);
    }
    Ok(None)
}

/// What changes the array.
fn change(object: &Value, me: &Items, asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    let mut list = shared(me);
    Ok(Some(match asked.name {
        "push" | "append" => {
            list.extend(asked.arguments.iter().cloned());
            object.clone()
        }
        "unshift" | "prepend" => {
            list.splice(0..0, asked.arguments.iter().cloned());
            object.clone()
        }
        "concat" => {
            for other in &asked.arguments {
                // `a.concat(a)` must not borrow twice.
                let more = if let Value::Array(o) = other
                    && Rc::ptr_eq(o, me)
                {
                    list.clone()
                } else {
                    items(other)
                };
                list.extend(more);
            }
            object.clone()
        }
        "pop" => list.pop().unwrap_or(Value::Nil),
        "shift" => {
            if list.is_empty() {
                Value::Nil
            } else {
                list.remove(0)
            }
        }
        "clear" => {
            list.clear();
            object.clone()
        }
        "[]=" => {
            asked.arity(2, 2)?;
            let at = asked.integer(0, 0)?;
            let at = position(at, list.len())
                .filter(|at| *at < super::MOST_ITEMS)
                .ok_or_else(|| Raise::new("IndexError", format!("index {at} too small for array")))?;
            if at >= list.len() {
                list.resize(at + 1, Value::Nil);
            }
            list[at] = asked.arguments[1].clone();
            asked.arguments[1].clone()
        }
        "delete" => {
            let what = asked.first()?;
            let before = list.len();
            list.retain(|item| !item.equals(what, false));
            if list.len() < before { what.clone() } else { Value::Nil }
        }
        "delete_at" => match position(asked.integer(0, 0)?, list.len()).filter(|i| *i < list.len()) {
            Some(at) => list.remove(at),
            None => Value::Nil,
        },
        "insert" => {
            let at = position(asked.integer(0, 0)?, list.len() + 1).unwrap_or(0).min(list.len());
            list.splice(at..at, asked.arguments.iter().skip(1).cloned());
            object.clone()
        }
        _ => return Ok(None),
    }))
}

/// What only looks, without a block.
fn look(me: &Items, asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    let list = me.borrow();
    let number = |n: usize| Value::Integer(n as i64);
    let some = |value: Option<&Value>| value.cloned().unwrap_or(Value::Nil);
    if asked.block.is_some() {
        return Ok(None);
    }
    Ok(Some(match asked.name {
        "length" | "size" => number(list.len()),
        "count" if asked.arguments.is_empty() => number(list.len()),
        "count" => number(list.iter().filter(|i| i.equals(&asked.arguments[0], false)).count()),
        "empty?" => Value::Bool(list.is_empty()),
        "any?" => Value::Bool(list.iter().any(Value::is_true)),
        "all?" => Value::Bool(list.iter().all(Value::is_true)),
        "none?" => Value::Bool(!list.iter().any(Value::is_true)),
        "include?" | "member?" => {
            let what = asked.first()?;
            Value::Bool(list.iter().any(|i| i.equals(what, false)))
        }
        "index" | "find_index" => {
            let what = asked.first()?;
            list.iter().position(|i| i.equals(what, false)).map_or(Value::Nil, number)
        }
        "first" | "take" if !asked.arguments.is_empty() => {
            let n = usize::try_from(asked.integer(0, 0)?).map_err(|_| Raise::argument("negative array size"))?;
            Value::array(list.iter().take(n).cloned().collect())
        }
        "first" => some(list.first()),
        "last" if !asked.arguments.is_empty() => {
            let n = usize::try_from(asked.integer(0, 0)?).map_err(|_| Raise::argument("negative array size"))?;
            Value::array(list[list.len().saturating_sub(n)..].to_vec())
        }
        "last" => some(list.last()),
        "drop" => {
            let n = usize::try_from(asked.integer(0, 0)?).map_err(|_| Raise::argument("negative array size"))?;
            Value::array(list.iter().skip(n).cloned().collect())
        }
        "at" | "fetch" => some(position(asked.integer(0, 0)?, list.len()).and_then(|i| list.get(i))),
        "[]" | "slice" => match asked.arguments.as_slice() {
            [Value::Integer(i)] => some(position(*i, list.len()).and_then(|i| list.get(i))),
            arguments => slice(arguments, list.len())
                .map_or(Value::Nil, |(start, length)| Value::array(list[start..start + length].to_vec())),
        },
        _ => return made(&list, asked),
    }))
}

/// A new list or text from the items.
fn made(list: &[Value], asked: &Asked<'_>) -> Result<Option<Value>, Raise> {
    let number = |n: usize| Value::Integer(n as i64);
    Ok(Some(match asked.name {
        "to_a" | "entries" | "to_ary" | "dup" | "clone" => Value::array(list.to_vec()),
        "compact" => Value::array(list.iter().filter(|i| !i.is_nil()).cloned().collect()),
        "flatten" => {
            let mut out = Vec::new();
            flatten(list, &mut out, 0)?;
            Value::array(out)
        }
        "uniq" => Value::array(unique(list.to_vec())),
        "reverse" => Value::array(list.iter().rev().cloned().collect()),
        "rotate" => {
            let mut out = list.to_vec();
            let n = asked.integer(0, 1)?.rem_euclid(list.len().max(1) as i64) as usize;
            out.rotate_left(n);
            Value::array(out)
        }
        "join" => {
            let between = asked.text(0, "")?;
            Value::text(joined(&Value::array(list.to_vec()), between.as_bytes()))
        }
        "pack" => Value::text(pack::pack(list, &asked.text(0, "")?)?),
        "zip" => {
            let others: Vec<Vec<Value>> = asked.arguments.iter().map(items).collect();
            let row = |i: usize, item: &Value| {
                let rest = others.iter().map(|o| o.get(i).cloned().unwrap_or(Value::Nil));
                Value::array(std::iter::once(item.clone()).chain(rest).collect())
            };
            Value::array(list.iter().enumerate().map(|(i, item)| row(i, item)).collect())
        }
        "each_slice" => {
            let n = usize::try_from(asked.integer(0, 1)?).ok().filter(|n| *n > 0);
            let n = n.ok_or_else(|| Raise::argument("invalid slice size"))?;
            Value::array(list.chunks(n).map(|c| Value::array(c.to_vec())).collect())
        }
        "each_with_index" => {
            Value::array(list.iter().enumerate().map(|(i, v)| Value::array(vec![v.clone(), number(i)])).collect())
        }
        "to_h" => {
            let mut pairs = Vec::new();
            for pair in list.iter().map(items) {
                let [key, value] = pair.as_slice() else { return Err(Raise::of_type("wrong element type")) };
                set_pair(&mut pairs, key.clone(), value.clone());
            }
            Value::hash(pairs)
        }
        "each" | "map" | "collect" => Value::array(list.to_vec()),
        _ => return Ok(None),
    }))
}

fn flatten(list: &[Value], out: &mut Vec<Value>, depth: usize) -> Result<(), Raise> {
    if depth > 100 {
        return Err(Raise::argument("tried to flatten recursive array"));
    }
    for item in list {
        match item {
            Value::Array(inner) => flatten(&inner.borrow(), out, depth + 1)?,
            other => out.push(other.clone()),
        }
    }
    Ok(())
}

/// What calls a block for the items; hashes come here with their pairs as items.
pub fn with_block<H: Host>(
    interpreter: &mut Interpreter<H>,
    object: &Value,
    list: Vec<Value>,
    asked: &Asked<'_>,
) -> Outcome<Option<Value>> {
    if let Some(value) = order(interpreter, &list, asked)? {
        return Ok(Some(value));
    }
    let Some(block) = asked.block else { return Ok(None) };
    let mut out = Vec::new();
    let mut count = 0;
    for (i, item) in list.into_iter().enumerate() {
        let arguments = match asked.name {
            "each_with_index" | "map_with_index" => vec![item.clone(), Value::Integer(i as i64)],
            "each_index" => vec![Value::Integer(i as i64)],
            "each_with_object" => vec![item.clone(), asked.first()?.clone()],
            _ => vec![item.clone()],
        };
        let value = interpreter.yield_to(block, arguments)?;
        let yes = value.is_true();
        match asked.name {
            "each" | "each_with_index" | "each_index" | "each_entry" | "each_with_object" => {}
            "map" | "collect" => out.push(value),
            "flat_map" | "collect_concat" => out.extend(items(&value)),
            "select" | "filter" | "find_all" if yes => out.push(item),
            "reject" | "delete_if" if !yes => out.push(item),
            "select" | "filter" | "find_all" | "reject" | "delete_if" => {}
            "find" | "detect" if yes => return Ok(Some(item)),
            "index" | "find_index" if yes => return Ok(Some(Value::Integer(i as i64))),
            "any?" if yes => return Ok(Some(Value::Bool(true))),
            "all?" if !yes => return Ok(Some(Value::Bool(false))),
            "none?" if yes => return Ok(Some(Value::Bool(false))),
            "count" => count += i64::from(yes),
            "take_while" if !yes => break,
            "take_while" => out.push(item),
            "uniq" | "group_by" | "partition" => out.push(Value::array(vec![value, item])),
            "find" | "detect" | "index" | "find_index" | "any?" | "all?" | "none?" => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(match asked.name {
        "each" | "each_with_index" | "each_index" | "each_entry" => object.clone(),
        "each_with_object" => asked.first()?.clone(),
        "find" | "detect" | "index" | "find_index" => Value::Nil,
        "any?" => Value::Bool(false),
        "all?" | "none?" => Value::Bool(true),
        "count" => Value::Integer(count),
        "delete_if" => {
            if let Value::Array(items) = object {
                *shared(items) = out;
            }
            object.clone()
        }
        "uniq" | "group_by" | "partition" => grouped(asked.name, out),
        _ => Value::array(out),
    }))
}

fn grouped(name: &str, keyed: Vec<Value>) -> Value {
    let mut groups: Vec<(Value, Value)> = Vec::new();
    for pair in keyed {
        let mut pair = items(&pair).into_iter();
        let (key, item) = (pair.next().unwrap_or(Value::Nil), pair.next().unwrap_or(Value::Nil));
        let key = if name == "partition" { Value::Bool(key.is_true()) } else { key };
        match groups.iter().find(|(k, _)| k.equals(&key, true)) {
            Some((_, Value::Array(items))) => shared(items).push(item),
            _ => groups.push((key, Value::array(vec![item]))),
        }
    }
    match name {
        "group_by" => Value::hash(groups),
        "partition" => {
            let part = |yes: bool| {
                let found = groups.iter().find(|(k, _)| k.is_true() == yes);
                found.map_or_else(|| Value::array(Vec::new()), |(_, v)| v.clone())
            };
            Value::array(vec![part(true), part(false)])
        }
        _ => Value::array(groups.iter().filter_map(|(_, v)| items(v).into_iter().next()).collect()),
    }
}

/// Sums, extremes, sorting.
fn order<H: Host>(interpreter: &mut Interpreter<H>, list: &[Value], asked: &Asked<'_>) -> Outcome<Option<Value>> {
    Ok(Some(match asked.name {
        "inject" | "reduce" | "sum" => {
            let mut rest = list.iter().cloned();
            let (first, operator) = match asked.arguments.as_slice() {
                [Value::Symbol(name)] => (rest.next(), Some(name.to_string())),
                [first, Value::Symbol(name)] => (Some(first.clone()), Some(name.to_string())),
                [first] => (Some(first.clone()), None),
                _ if asked.name == "sum" => (Some(Value::Integer(0)), None),
                _ => (rest.next(), None),
            };
            let Some(mut total) = first else { return Ok(Some(Value::Nil)) };
            for item in rest {
                total = match (&operator, asked.block, asked.name) {
                    (Some(operator), ..) => interpreter.method(&total, operator, vec![item], None)?,
                    (None, Some(block), "sum") => {
                        let value = interpreter.yield_to(block, vec![item])?;
                        interpreter.binary("+", &total, value)?
                    }
                    (None, Some(block), _) => interpreter.yield_to(block, vec![total, item])?,
                    (None, None, _) => interpreter.binary("+", &total, item)?,
                };
            }
            total
        }
        "min" | "max" | "sort" | "sort_by" | "min_by" | "max_by" => {
            let mut keyed = Vec::with_capacity(list.len());
            for item in list {
                let key = match asked.block {
                    Some(block) if asked.name.ends_with("_by") => interpreter.yield_to(block, vec![item.clone()])?,
                    _ => item.clone(),
                };
                keyed.push((key, item.clone()));
            }
            sort(interpreter, &mut keyed, asked)?;
            let mut sorted: Vec<Value> = keyed.into_iter().map(|(_, item)| item).collect();
            match asked.name {
                "min" | "min_by" => sorted.into_iter().next().unwrap_or(Value::Nil),
                "max" | "max_by" => sorted.pop().unwrap_or(Value::Nil),
                _ => Value::array(sorted),
            }
        }
        _ => return Ok(None),
    }))
}

fn sort<H: Host>(interpreter: &mut Interpreter<H>, keyed: &mut [(Value, Value)], asked: &Asked<'_>) -> Outcome<()> {
    let by_block = asked.block.filter(|_| !asked.name.ends_with("_by"));
    let mut failure = None;
    keyed.sort_by(|(a, _), (b, _)| {
        let order = match by_block {
            None => a.compare(b),
            Some(block) => match interpreter.yield_to(block, vec![a.clone(), b.clone()]) {
                Ok(Value::Integer(order)) => Some(order.cmp(&0)),
                Ok(_) => None,
                Err(flow) => {
                    failure.get_or_insert(flow);
                    Some(std::cmp::Ordering::Equal)
                }
            },
        };
        order.unwrap_or_else(|| {
            let message = format!("comparison of {} with {} failed", a.class(), b.class());
            failure.get_or_insert(Raise::argument(message).into());
            std::cmp::Ordering::Equal
        })
    });
    failure.map_or(Ok(()), Err)
}

/// What a range does without becoming a list.
pub fn of_range<H: Host>(
    interpreter: &mut Interpreter<H>,
    range: &Rc<(Value, Value, bool)>,
    asked: &Asked<'_>,
) -> Outcome<Option<Value>> {
    let me = Value::Range(Rc::clone(range));
    Ok(Some(match (asked.name, &range.0, &range.1) {
        ("each", Value::Integer(from), Value::Integer(to)) if asked.block.is_some() => {
            let mut i = *from;
            while i < *to || (i == *to && !range.2) {
                interpreter.yield_to(asked.block()?, vec![Value::Integer(i)])?;
                i += 1;
            }
            me
        }
        ("step" | "%", Value::Integer(from), Value::Integer(to)) => {
            let step = asked.integer(0, 1)?;
            if step <= 0 {
                return Err(Raise::argument("step can't be 0 or negative").into());
            }
            let list: Vec<Value> = elements(&me)?.into_iter().step_by(step as usize).collect();
            let _ = (from, to);
            match asked.block {
                Some(block) => {
                    for item in list {
                        interpreter.yield_to(block, vec![item])?;
                    }
                    me
                }
                None => Value::array(list),
            }
        }
        ("first" | "begin" | "min", from, _) if asked.arguments.is_empty() && asked.block.is_none() => from.clone(),
        ("last" | "end", _, to) if asked.arguments.is_empty() => to.clone(),
        ("include?" | "member?" | "cover?" | "===", ..) => {
            Value::Bool(crate::language::operators::case_equals(&me, asked.first()?)?)
        }
        ("to_s" | "inspect" | "class" | "is_a?" | "nil?", ..) => return Ok(None),
        _ => return Ok(None),
    }))
}
