//! Reads the fields of a JSON object that an agent wrote, one by one and without trust.
//!
//! What may go here: types and bounds of single fields. What may not: what a field means. Numbers are read from their
//! text, never through a float; a wrong type or an absurd number is missing and makes the object *flawed*.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::core::NanoUsd;

/// The wanted fields of one object.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    values: Vec<(&'static str, Cow<'a, RawValue>)>,
    has_unknown: bool,
    is_flawed: bool,
}

impl<'a> Fields<'a> {
    /// Reads an object and keeps the fields in `wanted`, the last one of each name; `None` if it is no JSON object.
    /// Invalid UTF-8, halves of surrogate pairs and the words NaN and Infinity do not spoil the rest.
    pub(crate) fn parse(bytes: &'a [u8], wanted: &[&'static str]) -> Option<Self> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse_text(text, wanted),
            Err(_) => {
                Fields::parse_text(&String::from_utf8_lossy(bytes), wanted).map(Fields::into_owned)
            }
        }
    }

    /// Reads a value that stands within another one.
    pub(crate) fn of(raw: &'a RawValue, wanted: &[&'static str]) -> Option<Self> {
        raw.get().starts_with('{').then(|| Self::parse_text(raw.get(), wanted))?
    }

    fn parse_text(text: &'a str, wanted: &[&'static str]) -> Option<Self> {
        Self::parse_strict(text, wanted).or_else(|| {
            let (repaired, is_flawed) = repair(text);
            let fields = Fields::parse_strict(&repaired, wanted)?.into_owned();
            Some(Self { is_flawed: fields.is_flawed || is_flawed, ..fields })
        })
    }

    /// Returns the same fields, apart from the text that they were read from.
    pub(crate) fn into_owned<'b>(self) -> Fields<'b> {
        let owned = |(name, value): (&'static str, Cow<'a, RawValue>)| {
            (name, Cow::Owned(value.into_owned()))
        };
        Fields {
            values: self.values.into_iter().map(owned).collect(),
            has_unknown: self.has_unknown,
            is_flawed: self.is_flawed,
        }
    }

    fn parse_strict(text: &'a str, wanted: &[&'static str]) -> Option<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let fields = deserializer.deserialize_map(Wanted(wanted)).ok()?;
        deserializer.end().ok()?;
        Some(fields)
    }

    /// Says whether the field is there, whatever its type.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.values.iter().any(|(name, _)| *name == key)
    }

    /// Says whether the field is there and null.
    pub(crate) fn is_null(&self, key: &str) -> bool {
        self.values.iter().any(|(name, value)| *name == key && value.get() == "null")
    }

    /// Says whether the field is there and a yes or no.
    pub(crate) fn is_flag(&self, key: &str) -> bool {
        let is_flag = |value: &RawValue| matches!(value.get(), "true" | "false");
        self.values.iter().any(|(name, value)| *name == key && is_flag(value))
    }

    /// Says whether there are fields that were not wanted.
    pub(crate) const fn has_unknown(&self) -> bool {
        self.has_unknown
    }

    /// Says whether a field read so far had a wrong type or an absurd number.
    pub(crate) const fn is_flawed(&self) -> bool {
        self.is_flawed
    }

    /// Marks the object as flawed.
    pub(crate) const fn flaw(&mut self) {
        self.is_flawed = true;
    }

    /// Returns the field as it was written; `None` if it is missing or null.
    pub(crate) fn raw(&mut self, key: &str) -> Option<Cow<'a, RawValue>> {
        let place = self.values.iter().position(|(name, _)| *name == key)?;
        let (_, value) = self.values.swap_remove(place);
        (value.get() != "null").then_some(value)
    }

    /// Returns the wanted fields of an object that is a field of this one.
    pub(crate) fn inner(&mut self, key: &str, wanted: &[&'static str]) -> Option<Self> {
        match self.raw(key)? {
            Cow::Borrowed(raw) => Self::of(raw, wanted),
            Cow::Owned(raw) => Fields::of(&raw, wanted).map(Fields::into_owned),
        }
    }

    /// Returns a text.
    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        self.read(key, text)
    }

    /// Returns a yes or no.
    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        self.read(key, |raw| raw.get().parse().ok())
    }

    /// Returns a whole number.
    pub(crate) fn count(&mut self, key: &str) -> Option<u64> {
        self.read(key, |raw| {
            let (whole, fraction) = raw.get().split_once('.').unwrap_or((raw.get(), ""));
            fraction.bytes().all(|digit| digit == b'0').then(|| whole.parse().ok())?
        })
    }

    /// Returns an amount of dollars.
    pub(crate) fn money(&mut self, key: &str) -> Option<NanoUsd> {
        // The text of a string begins with its quote and is no amount.
        self.read(key, |raw| raw.get().parse().ok())
    }

    /// Returns an amount of dollars that a program has summed up in floats: what stands beyond its twelfth decimal is an
    /// error of the sum and no money.
    pub(crate) fn float_money(&mut self, key: &str) -> Option<NanoUsd> {
        const DECIMALS: usize = 12;
        self.read(key, |raw| {
            let text = raw.get();
            let end = text.find('.').map_or(text.len(), |point| point + 1 + DECIMALS);
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            text.get(..end).filter(|_| is_plain).unwrap_or(text).parse().ok()
        })
    }

    fn read<T>(&mut self, key: &str, read: impl FnOnce(&RawValue) -> Option<T>) -> Option<T> {
        let raw = self.raw(key)?;
        let value = read(&raw);
        self.is_flawed |= value.is_none();
        value
    }
}

/// Returns the text of a JSON string, with a replacement character for half a surrogate pair.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    let read = |text: &str| serde_json::from_str::<String>(text).ok();
    let text = raw.get();
    text.starts_with('"').then(|| read(text).or_else(|| read(&repair(text).0)))?
}

/// Calls `each` for the first `most` items of a list. Returns whether that was the whole list, `None` if it is none.
pub(crate) fn for_each_item(
    raw: &RawValue,
    most: usize,
    each: impl FnMut(&RawValue),
) -> Option<bool> {
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    deserializer.deserialize_seq(Items { most, each }).ok()
}

/// Calls `each` for the first `most` fields of an object, with names as they come. Returns whether that was the whole
/// object, `None` if it is none.
pub(crate) fn for_each_field(
    raw: &RawValue,
    most: usize,
    each: impl FnMut(&str, &RawValue),
) -> Option<bool> {
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    deserializer.deserialize_map(Entries { most, each }).ok()
}

/// Keeps the wanted fields of an object.
struct Wanted<'a>(&'a [&'static str]);

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields { values: Vec::new(), has_unknown: false, is_flawed: false };
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let Some(name) = self.0.iter().find(|name| **name == key) else {
                fields.has_unknown = true;
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = Cow::Borrowed(map.next_value::<&'de RawValue>()?);
            match fields.values.iter_mut().find(|(other, _)| other == name) {
                Some((_, earlier)) => *earlier = value,
                None => fields.values.push((name, value)),
            }
        }
        Ok(fields)
    }
}

/// Visits the items of a list.
struct Items<F> {
    most: usize,
    each: F,
}

impl<'de, F: FnMut(&RawValue)> Visitor<'de> for Items<F> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<bool, A::Error> {
        let mut left = self.most;
        while left > 0 {
            let Some(item) = list.next_element::<&'de RawValue>()? else { return Ok(true) };
            (self.each)(item);
            left -= 1;
        }
        let mut is_whole = true;
        while list.next_element::<IgnoredAny>()?.is_some() {
            is_whole = false;
        }
        Ok(is_whole)
    }
}

/// Visits the fields of an object.
struct Entries<F> {
    most: usize,
    each: F,
}

impl<'de, F: FnMut(&str, &RawValue)> Visitor<'de> for Entries<F> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<bool, A::Error> {
        let mut left = self.most;
        while left > 0 {
            let Some(key) = map.next_key::<Cow<'de, str>>()? else { return Ok(true) };
            let value = map.next_value::<&'de RawValue>()?;
            (self.each)(&key, value);
            left -= 1;
        }
        let mut is_whole = true;
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value::<IgnoredAny>()?;
            is_whole = false;
        }
        Ok(is_whole)
    }
}

/// Returns the text with what some writers produce although JSON has no such thing made valid: halves of surrogate
/// pairs become the replacement character; NaN and Infinity become null, and then the second value is true.
fn repair(text: &str) -> (String, bool) {
    let mut repaired = String::with_capacity(text.len());
    let mut has_word = false;
    let mut is_in_string = false;
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let mut length = char.len_utf8();
        let mut written = None;
        match char {
            '"' => is_in_string = !is_in_string,
            '\\' if is_in_string => match surrogate(rest) {
                Some(0xd800..0xdc00) => {
                    let low = rest.get(6..).and_then(surrogate);
                    let is_pair = low.is_some_and(|low| low >= 0xdc00);
                    length = if is_pair { 12 } else { 6 };
                    written = (!is_pair).then_some("\\ufffd");
                }
                Some(_) => (length, written) = (6, Some("\\ufffd")),
                None => length += rest.chars().nth(1).map_or(0, char::len_utf8),
            },
            '-' | 'N' | 'I' if !is_in_string => {
                let word =
                    ["-Infinity", "Infinity", "NaN"].iter().find(|word| rest.starts_with(**word));
                if let Some(word) = word {
                    (length, written, has_word) = (word.len(), Some("null"), true);
                }
            }
            _ => {}
        }
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        repaired.push_str(written.unwrap_or(taken));
        rest = after;
    }
    (repaired, has_word)
}

/// Returns the number of the surrogate whose escape the text begins with.
fn surrogate(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    (0xd800..0xe000).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(text: &str) -> Fields<'static> {
        Fields::parse(text.as_bytes(), &["a", "b"]).unwrap().into_owned()
    }

    #[test]
    fn absurd_numbers_are_missing_and_make_a_flaw() {
        for number in [
            "-1",
            "1e300",
            "18446744073709551616",
            "1.5",
            "\"7\"",
            "[]",
            "true",
            "NaN",
            "-Infinity",
        ] {
            let mut fields = fields(&format!("{{\"a\": {number}}}"));
            assert_eq!(fields.count("a"), None, "{number}");
            assert!(fields.is_flawed(), "{number}");
        }
        for number in ["-1", "1e300", "\"0.5\"", "{}", "NaN"] {
            let mut fields = fields(&format!("{{\"a\": {number}}}"));
            assert_eq!(fields.money("a"), None, "{number}");
            assert!(fields.is_flawed(), "{number}");
        }
    }

    #[test]
    fn good_numbers_are_exact_and_null_is_missing_without_a_flaw() {
        let mut fields = fields("{\"a\": 18446744073709551615, \"b\": 0.1, \"c\": 1}");
        assert_eq!(fields.count("a"), Some(u64::MAX));
        assert_eq!(fields.money("b"), Some(NanoUsd::from_nanos(100_000_000)));
        assert!(!fields.is_flawed() && fields.has_unknown());
        let mut fields = self::fields("{\"a\": null, \"b\": 3.0, \"a\": null}");
        assert_eq!(
            (fields.count("a"), fields.count("b"), fields.is_flawed()),
            (None, Some(3), false)
        );
    }

    #[test]
    fn an_object_within_another_one_is_read_and_nothing_else() {
        // As it stands, and out of a text that had to be made valid first.
        for outer in ["1", "NaN"] {
            let inner = |value: &str| {
                let text = format!("{{\"b\": {outer}, \"a\": \n {value} }}");
                Fields::parse(text.as_bytes(), &["a", "b"])?
                    .inner("a", &["b"])
                    .map(Fields::into_owned)
            };
            for value in ["[1]", "\"x{\"", "5", "true", "null"] {
                assert!(inner(value).is_none(), "{outer} {value}");
            }
            let count = |value: &str| inner(value).unwrap().count("b");
            assert_eq!(count("{\"b\": 7}"), Some(7));
            assert_eq!(count("{ \"b\" : 7, \"c\": {} }"), Some(7));
            let text = inner(r#"{"b": "x\ud800"}"#).unwrap().text("b");
            assert_eq!(text.as_deref(), Some("x\u{fffd}"));
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_do_not_spoil_a_text() {
        let mut fields = fields(
            r#"{"a": "x\ud800y\udc00 \ud83d\ude00 \ud800\ud800\\ud800 NaN", "b": NaN, "\ud800": 1}"#,
        );
        assert_eq!(
            fields.text("a").as_deref(),
            Some("x\u{fffd}y\u{fffd} 😀 \u{fffd}\u{fffd}\\ud800 NaN")
        );
    }

    #[test]
    fn what_is_no_object_is_not_read() {
        for text in ["", "[1]", "5", "\"a\"", "{", "{\"a\":}", "{} x", "{\"a\":1}{", "nonsense"] {
            assert!(Fields::parse(text.as_bytes(), &["a"]).is_none(), "{text}");
        }
        assert!(Fields::parse("{\"a\":".repeat(100_000).as_bytes(), &["a"]).is_none());
    }

    #[test]
    fn a_list_is_walked_up_to_its_bound() {
        let raw = RawValue::from_string("[1, \"x\", {}]".to_owned()).unwrap();
        let mut seen = Vec::new();
        assert_eq!(for_each_item(&raw, 2, |item| seen.push(item.get().to_owned())), Some(false));
        assert_eq!(seen, ["1", "\"x\""]);
        assert_eq!(for_each_item(&raw, 3, |_| {}), Some(true));
        let raw = RawValue::from_string("{}".to_owned()).unwrap();
        assert_eq!(for_each_item(&raw, 3, |_| {}), None);
    }

    #[test]
    fn the_fields_of_an_object_are_walked_up_to_their_bound() {
        let raw = RawValue::from_string(r#"{"a": 1, "b\u0063": [2]}"#.to_owned()).unwrap();
        let mut seen = Vec::new();
        let each = |key: &str, value: &RawValue| seen.push(format!("{key}={}", value.get()));
        assert_eq!(for_each_field(&raw, 2, each), Some(true));
        assert_eq!(seen, ["a=1", "bc=[2]"]);
        assert_eq!(for_each_field(&raw, 1, |_, _| {}), Some(false));
        let raw = RawValue::from_string("[]".to_owned()).unwrap();
        assert_eq!(for_each_field(&raw, 1, |_, _| {}), None);
    }

    /// Sums as a program printed them that counts dollars in floats.
    #[test]
    fn errors_of_a_float_sum_are_no_money() {
        let amounts = [
            ("0.009644999999999999", 9_645_000),
            ("0.22499999999999998", 225_000_000),
            ("0.30000000000000004", 300_000_000),
            ("0.00108", 1_080_000),
            ("0.0000000001", 1),
            ("2", 2_000_000_000),
            ("1e-7", 100),
        ];
        for (text, nanos) in amounts {
            let mut fields = fields(&format!("{{\"a\": {text}}}"));
            assert_eq!(fields.float_money("a"), Some(NanoUsd::from_nanos(nanos)), "{text}");
        }
        let mut fields = fields("{\"a\": \"0.1\", \"b\": -1}");
        assert_eq!((fields.float_money("a"), fields.float_money("b")), (None, None));
        assert!(fields.is_flawed());
    }

    proptest! {
        #[test]
        fn any_text_is_repaired_without_a_panic(text in "[\\\\u\"dDfN{}:a8\u{e9}0-9-]{0,60}") {
            let _ = repair(&text);
            let _ = Fields::parse(text.as_bytes(), &["a"]);
        }

        #[test]
        fn every_text_survives(text in any::<String>()) {
            let json = serde_json::json!({ "a": text }).to_string();
            prop_assert_eq!(fields(&json).text("a"), Some(text));
        }
    }
}
