//! [`Export`]: results as lines of text, or as JSON objects one after the other or in an array.
//!
//! ```text
//! [READ], AverageLatency(us), 123.4
//! {"metric": "READ", "measurement": "AverageLatency(us)", "value": 123.4}
//! ```

use super::java;
use super::properties::Properties;
use crate::Error;
use serde_json::{Map, Value};
use std::fmt::Write;

enum Form {
    Text,
    Objects,
    Array,
}

pub struct Export {
    form: Form,
    text: String,
    objects: Vec<Value>,
}

impl Export {
    #[cfg(test)]
    pub fn text() -> Export {
        Export { form: Form::Text, text: String::new(), objects: Vec::new() }
    }

    /// As the property `exporter` says.
    pub fn new(p: &Properties) -> Result<Export, Error> {
        let class = p.text("exporter", "TextMeasurementsExporter");
        let form = match class.rsplit('.').next().unwrap_or_default() {
            "TextMeasurementsExporter" => Form::Text,
            "JSONMeasurementsExporter" => Form::Objects,
            "JSONArrayMeasurementsExporter" => Form::Array,
            _ => return Err(Error::Setup(format!("the property exporter: {class:?} is not known"))),
        };
        Ok(Export { form, text: String::new(), objects: Vec::new() })
    }

    fn write(&mut self, metric: &str, measurement: &str, text: &str, value: Value) {
        match self.form {
            Form::Text => {
                let _ = writeln!(self.text, "[{metric}], {measurement}, {text}");
            }
            Form::Objects | Form::Array => {
                let fields = [("metric", metric.into()), ("measurement", measurement.into()), ("value", value)];
                let object: Map<String, Value> =
                    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
                self.objects.push(object.into());
            }
        }
    }

    pub fn whole(&mut self, metric: &str, measurement: &str, value: u64) {
        self.write(metric, measurement, &value.to_string(), value.into());
    }

    pub fn signed(&mut self, metric: &str, measurement: &str, value: i64) {
        self.write(metric, measurement, &value.to_string(), value.into());
    }

    pub fn number(&mut self, metric: &str, measurement: &str, value: f64) {
        let text = java::double(value);
        // JSON has no NaN: Jackson writes it as a string.
        let json = if value.is_finite() { value.into() } else { text.clone().into() };
        self.write(metric, measurement, &text, json);
    }

    pub fn finish(self) -> String {
        match self.form {
            Form::Text => self.text,
            Form::Objects => self.objects.iter().map(|object| format!("{object:#}\n")).collect(),
            Form::Array => format!("{:#}\n", Value::from(self.objects)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_three_forms() {
        let written = |exporter: &str| {
            let mut p = Properties::default();
            if !exporter.is_empty() {
                p.set("exporter", exporter);
            }
            let mut out = Export::new(&p).unwrap();
            out.whole("READ", "Operations", 7);
            out.number("READ", "AverageLatency(us)", 1.5);
            out.number("OVERALL", "x", f64::NAN);
            out.finish()
        };
        assert_eq!(written(""), "[READ], Operations, 7\n[READ], AverageLatency(us), 1.5\n[OVERALL], x, NaN\n");
        let array: Value =
            serde_json::from_str(&written("site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter")).unwrap();
        assert_eq!((array.as_array().unwrap().len(), &array[1]["value"]), (3, &Value::from(1.5)));
        let objects = written("site.ycsb.measurements.exporter.JSONMeasurementsExporter");
        let parsed: Vec<Value> = serde_json::Deserializer::from_str(&objects).into_iter().map(Result::unwrap).collect();
        assert_eq!((parsed.len(), &parsed[0]["metric"]), (3, &Value::from("READ")));
        let mut p = Properties::default();
        p.set("exporter", "x.Y");
        assert!(Export::new(&p).is_err());
    }
}
