//! Durations and sizes, as they are written in the file.

use std::time::Duration;

/// Units of time, the largest first, in milliseconds.
const TIMES: [(&str, u64); 4] = [("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)];

/// Units of memory, the largest first, in bytes.
const SIZES: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// At most seven digits, so that nothing overflows.
const DIGITS: usize = 7;

pub(crate) fn duration(text: &str) -> Option<Duration> {
    amount(text, &TIMES).map(Duration::from_millis)
}

pub(crate) fn size(text: &str) -> Option<u64> {
    amount(text, &SIZES)
}

/// A duration in the largest unit that has it whole; what is below a millisecond counts as one.
pub(crate) fn write_duration(duration: Duration) -> String {
    written(u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX), &TIMES)
}

/// A size in the largest unit that has it whole; what is below a KiB counts as one.
pub(crate) fn write_size(bytes: u64) -> String {
    written(bytes.div_ceil(1024).saturating_mul(1024), &SIZES)
}

fn amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if digits > DIGITS || (number.starts_with('0') && digits > 1) {
        return None;
    }
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// In the largest unit that has it whole, or the smallest in which it can be written.
fn written(amount: u64, units: &[(&str, u64)]) -> String {
    let most = 10_u64.pow(7) - 1;
    let whole =
        units.iter().find(|(_, factor)| amount.is_multiple_of(*factor) && amount / factor <= most && amount > 0);
    let fits = || units.iter().rfind(|(_, factor)| amount.div_ceil(*factor) <= most);
    match whole.or_else(fits).or(units.first()) {
        Some((unit, factor)) => format!("{}{unit}", amount.div_ceil(*factor).min(most)),
        None => String::new(),
    }
}

pub(crate) mod serde_duration {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        duration.map(super::write_duration).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::duration(&text).map(Some).ok_or_else(|| D::Error::custom("no duration"))
    }
}

pub(crate) mod serde_size {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        bytes.map(super::write_size).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::size(&text).map(Some).ok_or_else(|| D::Error::custom("no size"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_and_sizes_are_read() {
        let ms = |n| Some(Duration::from_millis(n));
        let times = [
            ("30s", ms(30_000)),
            ("10min", ms(600_000)),
            ("2h", ms(7_200_000)),
            ("250ms", ms(250)),
            ("0s", ms(0)),
            ("9999999h", ms(9_999_999 * 3_600_000)),
            ("10000000s", None),
            ("007s", None),
            ("10 min", None),
            ("10m", None),
            ("10", None),
            ("s", None),
            ("", None),
            ("-1s", None),
            ("1.5h", None),
            ("never", None),
        ];
        for (text, expected) in times {
            assert_eq!(duration(text), expected, "{text}");
        }
        let sizes = [
            ("512MiB", Some(512 << 20)),
            ("2GiB", Some(2 << 30)),
            ("64KiB", Some(64 << 10)),
            ("9999999TiB", Some(9_999_999 << 40)),
            ("1GB", None),
            ("1 GiB", None),
            ("1gib", None),
            ("4096", None),
        ];
        for (text, expected) in sizes {
            assert_eq!(size(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_whole_is_rounded_up() {
        assert_eq!(write_duration(Duration::from_micros(1500)), "2ms");
        assert_eq!(write_duration(Duration::ZERO), "0ms");
        assert_eq!(write_duration(Duration::from_millis(100_000_001)), "100001s");
        assert_eq!(write_duration(Duration::MAX), "9999999h");
        assert_eq!(write_size(1), "1KiB");
        assert_eq!(write_size(u64::MAX), "9999999TiB");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(n in 1_u64..9_999_999, unit in 0..4_usize) {
            let time = Duration::from_millis(n * TIMES[unit].1);
            prop_assert_eq!(duration(&write_duration(time)), Some(time));
            let bytes = n * SIZES[unit].1;
            prop_assert_eq!(size(&write_size(bytes)), Some(bytes));
        }
    }
}
