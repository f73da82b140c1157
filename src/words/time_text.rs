//! Spans of time as texts for people, and the other way round.
//!
//! What may go here: conversions. What may not: a clock.

use std::time::Duration;

use crate::core::Moment;

/// Longest span that an option takes: a year. Anything above is a slip of the finger.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// Returns a span as `45s`, `18m` or `2h3m`: how long ago something was.
pub fn age(span: Duration) -> String {
    let seconds = span.as_secs();
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m"),
        (hours, 0) => format!("{hours}h"),
        (hours, minutes) => format!("{hours}h{minutes}m"),
    }
}

/// Returns a span as `59s`, `2m`, `2m 5s` or `1h 2m`: how long something took.
pub fn duration(span: Duration) -> String {
    let seconds = span.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, 0, _) => format!("{hours}h"),
        (hours, minutes, _) => format!("{hours}h {minutes}m"),
    }
}

/// Returns how long something took that is over, in tenths where they are worth telling: `0.5s`, `1m02.3s`, `2h 3m`.
pub fn tenths(span: Duration) -> String {
    if span >= Duration::from_hours(1) {
        return duration(span);
    }
    let tenths = span.as_millis() / 100;
    match (tenths / 600, tenths % 600) {
        (0, tenths) => format!("{}.{}s", tenths / 10, tenths % 10),
        (minutes, tenths) => format!("{minutes}m{:02}.{}s", tenths / 10, tenths % 10),
    }
}

/// Returns a moment as a text for machines, in UTC: `2023-11-14T22:13:20Z`.
pub fn timestamp(moment: Moment) -> String {
    instant(moment).to_string()
}

/// Returns a moment as the day and time of a clock on the wall in `zone`: `2023-11-14 23:13:20`.
pub fn local(moment: Moment, zone: &jiff::tz::TimeZone) -> String {
    instant(moment).to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn instant(moment: Moment) -> jiff::Timestamp {
    // Only a broken clock gives a moment that is no time; the farthest one stands for it.
    i64::try_from(moment.0)
        .ok()
        .and_then(|milliseconds| jiff::Timestamp::from_millisecond(milliseconds).ok())
        .unwrap_or(jiff::Timestamp::MAX)
}

/// Reads a span such as `30s`, `1m30s` or `1h`. The error is a clause that follows the text: "has no unit (…)".
pub fn parse(text: &str) -> Result<Duration, String> {
    const LIKE: &str = "write it like 30s, 5m or 1h30m";
    let trimmed = text.trim();
    if !trimmed.is_empty() && trimmed.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(format!("has no unit ({LIKE})"));
    }
    let span: jiff::SignedDuration = match trimmed.parse() {
        Ok(span) => span,
        Err(_) if parse_days(trimmed).is_some() => {
            return Err(
                "is in days or longer units, which are not read (write 1d as 24h)".to_owned()
            );
        }
        Err(_) => return Err(format!("is no span of time ({LIKE})")),
    };
    if span.is_negative() {
        return Err("is below zero".to_owned());
    }
    let span = Duration::try_from(span).map_err(|_| "is too long (at most a year)".to_owned())?;
    if span.is_zero() {
        return Err(format!("is no time at all ({LIKE})"));
    }
    if span > LONGEST {
        return Err("is too long (at most a year)".to_owned());
    }
    Ok(span)
}

/// Reads a span that has units which are not always equally long.
fn parse_days(text: &str) -> Option<jiff::Span> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-120.
    #[test]
    fn ages_and_durations_have_their_own_shapes() {
        let seconds = Duration::from_secs;
        assert_eq!(
            [45, 18 * 60, 2 * 3600 + 180].map(|at| age(seconds(at))),
            ["45s", "18m", "2h3m"]
        );
        assert_eq!([59, 120, 125].map(|at| duration(seconds(at))), ["59s", "2m", "2m 5s"]);
        assert_eq!([0, 3600, 3725].map(|at| duration(seconds(at))), ["0s", "1h", "1h 2m"]);
        assert_eq!([0, 59, 60, 7200].map(|at| age(seconds(at))), ["0s", "59s", "1m", "2h"]);
        let millis = [540, 59_990, 62_300, 3_725_000].map(Duration::from_millis);
        assert_eq!(millis.map(tenths), ["0.5s", "59.9s", "1m02.3s", "1h 2m"]);
    }

    #[test]
    fn spans_are_read_with_units_only() {
        assert_eq!(parse("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("1h 30m"), Ok(Duration::from_mins(90)));
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        for (text, clause) in [
            ("30", "has no unit"),
            ("1.5", "has no unit"),
            ("-2s", "is below zero"),
            ("0s", "is no time at all"),
            ("2d", "is in days"),
            ("soon", "is no span of time"),
            ("", "is no span of time"),
            ("9000h", "is too long"),
            ("99999999999999999999h", "is no span of time"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(clause), "{text:?}: {error}");
        }
    }
}
