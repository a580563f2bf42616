//! hbase-site.xml: parsing, variables, typed values.
//!
//! Input: the file's text; bytes that are none are replaced.

use crate::mutate::Form;
use crate::target::{Budget, Target, words};
use martite_config::Loader;

pub const TARGET: Target = Target {
    name: "config",
    run,
    seeds,
    words: syntax,
    form: Form::Text,
    max_len: 8 << 10,
    // A variable may stand for the rest of the file, and variables are replaced twenty times over.
    budget: Budget { fixed_bytes: 4 << 20, per_byte: 2048 },
    smoke: 6_000,
};

fn run(input: &[u8]) {
    let _ = load(&String::from_utf8_lossy(input));
}

/// The number of keys.
fn load(text: &str) -> Result<usize, martite_config::ConfigError> {
    let config = Loader::new()
        .file("hbase-site.xml", text)?
        .set("hbase.tmp.dir", "${user.name}", "fuzz")
        .load_with(&|name| (name == "user.name").then(|| "fuzz".to_owned()))?;
    let effective = config.effective();
    for (key, value, ..) in &effective {
        assert!(config.text(key).is_none_or(|text| text == *value), "{key}");
    }
    let _ = (config.unknown(), config.ignored().len(), config.changes(&martite_config::Config::default()));
    Ok(effective.len())
}

const FILES: [&str; 3] = [
    "<?xml version=\"1.0\"?>\n<!-- c -->\n<configuration>\n<property><name>hbase.rootdir</name>\
     <value>${hbase.tmp.dir}/hbase</value><final>true</final></property>\n\
     <property><name>hbase.regionserver.handler.count</name><value>30</value><description>a &lt;b&gt;</description>\
     </property></configuration>",
    "<configuration><property name=\"hbase.master.port\" value=\"16&#48;00\" final=\"true\"/>\
     <property><name>hbase.hregion.memstore.flush.size</name><value><![CDATA[128m]]></value></property>\
     <property><name>hbase.hregion.majorcompaction</name><value>7d</value></property></configuration>",
    "<configuration><property><name>a</name><value>${b}${b}</value></property><property><name>b</name>\
     <value>${c}${k${d}}</value></property><property><name>hfile.block.cache.size</name><value>0.4</value></property>\
     </configuration>",
];

fn seeds() -> Vec<Vec<u8>> {
    FILES.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn syntax() -> Vec<Vec<u8>> {
    words(&[
        "<configuration>",
        "</configuration>",
        "<property>",
        "</property>",
        "<name>",
        "</name>",
        "<value>",
        "</value>",
        "<final>true</final>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<!DOCTYPE a [<!ENTITY b \"c\">]>",
        "&lt;",
        "&#x10ffff;",
        "&#0;",
        "&b;",
        "<?xml encoding=\"utf-16\"?>",
        "${",
        "}",
        "${a}",
        "${env.HOME}",
        "${user.name}",
        "hbase.rootdir",
        "hbase.tmp.dir",
        "hbase.master.port",
        "hbase.hregion.max.filesize",
        "1k",
        "9223372036854775807",
        "-1",
        "1e999",
        "NaN",
        "0.5",
        "2d",
        "true",
        "/>",
        "\"",
        "'",
        "=",
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_loaded() {
        for text in FILES {
            assert!(load(text).unwrap_or_else(|e| panic!("{e}")) > 10);
        }
    }
}
