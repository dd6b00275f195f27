//! What was meant by a duration or a size that others write otherwise.

use crate::units;

/// What others call our units of time, and how many of them it is.
const TIMES: [(&[&str], u64, &str); 5] = [
    (&["ms", "msec", "msecs", "millis", "millisecond", "milliseconds", "milliseconde", "millisecondes"], 1, "ms"),
    (&["s", "sec", "secs", "second", "seconds", "seconde", "secondes"], 1, "s"),
    (&["m", "mn", "min", "mins", "minute", "minutes"], 1, "min"),
    (&["h", "hr", "hrs", "hour", "hours", "heure", "heures"], 1, "h"),
    (&["d", "day", "days", "j", "jour", "jours"], 24, "h"),
];

/// What others call our units of memory.
const SIZES: [(&[&str], u64, &str); 4] = [
    (&["k", "kb", "ko", "kib", "kio"], 1, "KiB"),
    (&["m", "mb", "mo", "mib", "mio"], 1, "MiB"),
    (&["g", "gb", "go", "gib", "gio"], 1, "GiB"),
    (&["t", "tb", "to", "tib", "tio"], 1, "TiB"),
];

/// A duration of our own. `never` tells whether that is one.
pub(super) fn duration(text: &str, never: bool) -> Option<String> {
    if never && text.trim().eq_ignore_ascii_case("never") {
        return Some("never".to_owned());
    }
    amount(text, &TIMES).filter(|meant| units::duration(meant).is_some())
}

/// A size of our own. A GB and a GiB are not the same, but near enough to a limit.
pub(super) fn size(text: &str) -> Option<String> {
    amount(text, &SIZES).filter(|meant| units::size(meant).is_some())
}

/// A whole number of a unit that is known. Nothing else is guessed, so that no other text of the file is ever repeated.
fn amount(text: &str, units: &[(&[&str], u64, &str)]) -> Option<String> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    let number = number.parse::<u64>().ok().filter(|number| *number > 0)?;
    let unit = unit.trim_start().to_lowercase();
    let (_, factor, ours) = units.iter().find(|(names, ..)| names.contains(&unit.as_str()))?;
    Some(format!("{}{ours}", number.checked_mul(*factor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_probably_meant() {
        let durations = [
            ("1m", Some("1min")),
            ("10 minutes", Some("10min")),
            ("10 min", Some("10min")),
            ("30S", Some("30s")),
            (" 2 hours ", Some("2h")),
            ("007s", Some("7s")),
            ("1d", Some("24h")),
            ("500millis", Some("500ms")),
            ("600", None),
            ("1.5h", None),
            ("0s", None),
            ("-1s", None),
            ("10000000s", None),
            ("99999999999999999999s", None),
            ("5 moons", None),
            ("sk-5s", None),
            ("", None),
        ];
        for (text, expected) in durations {
            assert_eq!(duration(text, false).as_deref(), expected, "{text}");
        }
        assert_eq!(duration("Never", true).as_deref(), Some("never"));
        assert_eq!(duration("never", false), None);
        let sizes = [
            ("2GB", Some("2GiB")),
            ("512M", Some("512MiB")),
            ("2 gib", Some("2GiB")),
            ("64Ko", Some("64KiB")),
            ("1024", None),
            ("2 bytes", None),
            ("1,5GB", None),
        ];
        for (text, expected) in sizes {
            assert_eq!(size(text).as_deref(), expected, "{text}");
        }
    }
}
