//! The form of hbase-site.xml: Hadoop's configuration file.
//!
//! ```xml
//! <configuration>
//!   <property><name>hbase.master.port</name><value>16000</value><final>true</final></property>
//! </configuration>
//! ```
//! `<description>`, `<source>` and `<tag>` mean nothing; a property without a value is no property.

use crate::ConfigError;
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

/// One `<property>`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Property {
    pub name: String,
    pub value: String,
    /// Later files must not override it.
    pub is_final: bool,
}

/// Reads the properties of one file in order.
pub fn parse(file: &str, text: &str) -> Result<Vec<Property>, ConfigError> {
    let mut parser = Parser { file, properties: Vec::new(), open: Vec::new(), property: None, text: String::new() };
    let mut reader = Reader::from_str(text);
    loop {
        let at = reader.buffer_position();
        let line = || 1 + text.bytes().take(at as usize).filter(|b| *b == b'\n').count();
        let event = reader.read_event().map_err(|e| parser.error(format!("line {}: {e}", line())))?;
        if matches!(event, Event::Eof) {
            break;
        }
        parser.event(event).map_err(|why| parser.error(format!("line {}: {why}", line())))?;
    }
    if let Some(open) = parser.open.last() {
        return Err(parser.error(format!("<{open}> is not closed")));
    }
    Ok(parser.properties)
}

#[derive(Default)]
struct Open {
    name: Option<String>,
    value: Option<String>,
    is_final: bool,
}

struct Parser<'a> {
    file: &'a str,
    properties: Vec<Property>,
    /// Names of the elements around this place.
    open: Vec<String>,
    property: Option<Open>,
    text: String,
}

impl Parser<'_> {
    fn error(&self, why: String) -> ConfigError {
        ConfigError::File { file: self.file.to_string(), why }
    }

    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(start) => self.start(&start),
            Event::Empty(start) => self.start(&start).and_then(|()| self.end()),
            Event::End(_) => self.end(),
            Event::Text(text) => {
                self.text.push_str(&text.xml_content(XmlVersion::Implicit1_0));
                Ok(())
            }
            Event::CData(data) => {
                self.text.push_str(&data.xml_content(XmlVersion::Implicit1_0));
                Ok(())
            }
            Event::GeneralRef(reference) => {
                let character = match reference.resolve_char_ref().map_err(|e| e.to_string())? {
                    Some(c) => c,
                    None => match &*reference {
                        "lt" => '<',
                        "gt" => '>',
                        "amp" => '&',
                        "apos" => '\'',
                        "quot" => '"',
                        other => return Err(format!("unknown entity &{other};")),
                    },
                };
                self.text.push(character);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let name: &str = start.name().into_inner();
        match (self.open.last().map(String::as_str), name) {
            (None | Some("configuration"), "configuration") => {}
            (Some("configuration"), "property") => self.property = Some(attributes(start)?),
            (_, "xi:include" | "include") => return Err("include is not supported: put the keys in one file".into()),
            (None, _) => return Err(format!("expected <configuration>, found <{name}>")),
            _ => {}
        }
        self.open.push(name.to_string());
        self.text.clear();
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let name = self.open.pop().unwrap_or_default();
        let text = std::mem::take(&mut self.text);
        let inside = self.open.last().is_some_and(|parent| parent == "property");
        match (&mut self.property, name.as_str()) {
            (Some(property), "name") if inside => property.name = Some(text.trim().to_string()),
            (Some(property), "value") if inside => property.value = Some(text),
            (Some(property), "final") if inside => property.is_final = text.trim() == "true",
            (property @ Some(_), "property") => {
                let Open { name, value, is_final } = property.take().unwrap_or_default();
                let name = name.filter(|n| !n.is_empty()).ok_or("a <property> has no <name>")?;
                if let Some(value) = value {
                    self.properties.push(Property { name, value, is_final });
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// `<property name="…" value="…" final="…"/>`, Hadoop's short form.
fn attributes(start: &BytesStart<'_>) -> Result<Open, String> {
    let mut open = Open::default();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|e| e.to_string())?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|e| e.to_string())?.into_owned();
        let key: &str = attribute.key.into_inner();
        match key {
            "name" => open.name = Some(value),
            "value" => open.value = Some(value),
            "final" => open.is_final = value == "true",
            _ => {}
        }
    }
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn property(name: &str, value: &str, is_final: bool) -> Property {
        Property { name: name.into(), value: value.into(), is_final }
    }

    #[test]
    fn properties_in_every_form() {
        let text = r#"<?xml version="1.0"?>
<?xml-stylesheet type="text/xsl" href="configuration.xsl"?>
<!-- <property><name>not</name><value>this</value></property> -->
<configuration>
  <property>
    <name> a </name>
    <value>1 &lt; 2 &amp;&#65;</value>
    <final>true</final>
    <description>about <b>a</b></description>
  </property>
  <property><name>b</name><value><![CDATA[<x>]]></value></property>
  <property><name>empty</name><value></value></property>
  <property><name>none</name></property>
  <property name="short" value="&quot;v" final="true"/>
  <configuration><property><name>inner</name><value>i</value></property></configuration>
</configuration>"#;
        assert_eq!(
            parse("f", text).unwrap(),
            [
                property("a", "1 < 2 &A", true),
                property("b", "<x>", false),
                property("empty", "", false),
                property("short", "\"v", true),
                property("inner", "i", false),
            ]
        );
    }

    #[test]
    fn errors_name_file_and_line() {
        let why = |text: &str| parse("site.xml", text).unwrap_err().to_string();
        assert_eq!(why("\n<conf/>"), "site.xml: line 2: expected <configuration>, found <conf>");
        assert_eq!(
            why("<configuration>\n\n<property><value>1</value></property></configuration>"),
            "site.xml: line 3: a <property> has no <name>"
        );
        assert_eq!(why("<configuration><property>"), "site.xml: <property> is not closed");
        assert!(why("<configuration><property></configuration>").starts_with("site.xml: line 1: "));
        assert!(why("<configuration><xi:include href='x'/></configuration>").contains("include is not supported"));
        assert!(why("<configuration>&nbsp;</configuration>").contains("unknown entity &nbsp;"));
    }
}
