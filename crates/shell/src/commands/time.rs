//! Points in time as Ruby prints them: `2024-01-31 13:05:59 +0100`, in the local time zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Of milliseconds since 1970; the milliseconds are left out.
pub fn seconds(ms: u64) -> String {
    let at = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default();
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_ruby_prints_it() {
        let text = seconds(1_706_706_359_123);
        assert_eq!((text.len(), &text[..5], &text[13..14], &text[16..19]), (25, "2024-", ":", ":59"), "{text}");
    }
}
