//! The constants of HBase's protobuf WAL; a page with a worked example is `docs/formats/wal.md`.

/// Makes the first part of a log's file names from a server name: `host,port,startcode`, URL-encoded.
///
/// ```
/// assert_eq!(martite_wal::format::file_prefix("h1.example,16020,1700000000000"), "h1.example%2C16020%2C1700000000000");
/// ```
pub fn file_prefix(server_name: &str) -> String {
    let mut out = String::with_capacity(server_name.len() + 8);
    for byte in server_name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(byte as char),
            // What Java's URLEncoder does.
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
