//! `/jmx[?qry=PATTERN][&get=BEAN::ATTRIBUTE]`: beans as HBase's servlet writes them.

use crate::query::Pattern;
use crate::server::Page;
use crate::{Asked, Kind, Record};
use serde_json::{Map, Number, Value, json};

const DOMAIN: &str = "Hadoop";

pub(crate) fn answer(asked: &Asked, records: impl FnOnce() -> Vec<Record>) -> Page {
    let (mut pattern, mut attribute) = ("*:*", None);
    for (name, value) in asked.iter() {
        match name {
            "qry" => pattern = value,
            "get" => match value.split_once("::") {
                Some((bean, name)) if !name.is_empty() => {
                    pattern = bean;
                    attribute = Some(name);
                }
                _ => return Page::refused(format!("get: {value} is not BEAN::ATTRIBUTE")),
            },
            _ => return Page::refused(format!("{name}: there is no such parameter; there are qry and get")),
        }
    }
    let pattern = match Pattern::parse(pattern) {
        Ok(pattern) => pattern,
        Err(why) => return Page::refused(why),
    };
    let chosen = records().into_iter().filter(|r| pattern.matches(DOMAIN, &keys(r)));
    let beans: Vec<Value> = chosen.filter_map(|record| bean(&record, attribute)).collect();
    if let (Some(name), true) = (attribute, beans.is_empty()) {
        return Page::absent(format!("get: no bean has an attribute {name}"));
    }
    Page::json(format!("{:#}", json!({ "beans": beans })))
}

fn keys(record: &Record) -> [(&'static str, &'static str); 3] {
    [("service", "HBase"), ("name", record.name), ("sub", record.sub)]
}

/// The bean, or of it one attribute if it has that.
fn bean(record: &Record, only: Option<&str>) -> Option<Value> {
    let mut bean = Map::new();
    let (name, sub) = (record.name, record.sub);
    bean.insert("name".into(), format!("{DOMAIN}:service=HBase,name={name},sub={sub}").into());
    bean.insert("modelerType".into(), format!("{name},sub={sub}").into());
    bean.insert("tag.Context".into(), name.to_lowercase().into());
    bean.insert("tag.Hostname".into(), record.hostname.as_str().into());
    for (tag, value) in &record.tags {
        bean.insert(format!("tag.{tag}"), value.as_str().into());
    }
    for figure in record.figures.iter().filter(|figure| !figure.attribute.is_empty()) {
        bean.insert(figure.attribute.clone(), number(figure.value, figure.kind));
    }
    if let Some(only) = only {
        bean.get(only)?;
        bean.retain(|key, _| key == only || key == "name" || key == "modelerType");
    }
    Some(Value::Object(bean))
}

fn number(value: f64, kind: Kind) -> Value {
    if kind == Kind::Counter || value.fract() == 0.0 {
        return Value::from(value as u64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(query: &str) -> (u16, Value) {
        let mut server = Record::new("RegionServer", "Server", "h");
        server.counter("blockCacheHitCount", 7);
        server.percent("blockCacheCountHitPercent", 7, 8);
        server.tag("serverName", "h,1,2");
        let page = answer(&Asked::parse(query).unwrap(), || vec![server, Record::new("Master", "IPC", "h")]);
        (page.status, serde_json::from_str(&page.body).unwrap_or(Value::String(page.body)))
    }

    fn names(answer: &Value) -> Vec<&str> {
        answer["beans"].as_array().unwrap().iter().map(|bean| bean["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn beans_are_chosen_by_pattern() {
        let (server, ipc) =
            ("Hadoop:service=HBase,name=RegionServer,sub=Server", "Hadoop:service=HBase,name=Master,sub=IPC");
        assert_eq!(names(&ask("").1), [server, ipc]);
        assert_eq!(names(&ask("qry=Hadoop:name=Master,*").1), [ipc]);
        assert!(names(&ask("qry=java.lang:*").1).is_empty());
        let one = &ask(&format!("qry={server}")).1["beans"][0];
        assert_eq!((&one["blockCacheHitCount"], &one["blockCacheCountHitPercent"]), (&json!(7), &json!(87.5)));
        assert_eq!(
            (&one["tag.Context"], &one["modelerType"]),
            (&json!("regionserver"), &json!("RegionServer,sub=Server"))
        );
        assert_eq!(one["tag.serverName"], json!("h,1,2"));
    }

    #[test]
    fn one_attribute_or_why_not() {
        let bean = "Hadoop:service=HBase,name=RegionServer,sub=Server";
        let (status, one) = ask(&format!("get={bean}::blockCacheHitCount"));
        assert_eq!((status, one["beans"][0].as_object().unwrap().len()), (200, 3));
        let refused = |query: &str| {
            let (status, why) = ask(query);
            (status, why.as_str().unwrap().to_owned())
        };
        assert_eq!(refused(&format!("get={bean}::x")), (404, "get: no bean has an attribute x\n".into()));
        assert_eq!(refused("get=x"), (400, "get: x is not BEAN::ATTRIBUTE\n".into()));
        assert_eq!(refused("qry=x"), (400, "qry: x is no name of beans: it has no domain\n".into()));
        assert_eq!(refused("callback=f").0, 400);
    }
}
