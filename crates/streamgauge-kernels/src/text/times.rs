//! Times from text: ISO 8601, numbers since 1970, and formats as of `strptime`.
//!
//! A time is a count of seconds since 1970-01-01 UTC. It is the float nearest to the written time, since whole seconds
//! and the fraction are added only once. A time without a zone counts as UTC.

use super::Dialect;
use super::names::is_plain_field;
use super::numbers::{parse_number, scan_number};
use super::quote_excerpt;
use crate::KernelError;
use crate::error::{check_option, option_error};

const DAY: i64 = 86_400;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// A number of this size and more of seconds lies after the year 5000; it is more likely a number of milliseconds.
const MAX_SECONDS: f64 = 1e11;
const FORMATS: &str = "it must be s, ms, us or ns (a number of that unit since 1970), or text with the directives \
                       %Y %y %m %d %H %I %p %M %S %f %b %B %j %z, such as '%d/%m/%Y %H:%M'";

/// The way in which a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeKind {
    /// A number since 1970.
    Number,
    /// A date, or date and time, without a zone.
    Local,
    /// A date and time with a zone.
    Zoned,
}

impl TimeKind {
    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Local => "local",
            Self::Zoned => "zoned",
        }
    }

    /// Checks that a time is written like those before it.
    ///
    /// # Errors
    /// Returns the difference.
    pub fn check_same(self, before: Option<Self>, text: &str) -> Result<(), String> {
        let Some(before) = before.filter(|&before| before != self) else { return Ok(()) };
        let describe = |kind| match kind {
            Self::Number => "is a number",
            Self::Local => "has no time zone",
            Self::Zoned => "has a time zone",
        };
        let (this, others) = (describe(self), describe(before));
        Err(format!("{} {this}, while a time above {others}: write all times alike", quote_excerpt(text)))
    }
}

/// A time, in seconds since 1970-01-01 UTC, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    /// Seconds.
    pub seconds: f64,
    /// How it is written.
    pub kind: TimeKind,
}

/// A part of a time, as a directive of `strptime` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Year,
    ShortYear,
    Month,
    MonthName,
    Day,
    DayOfYear,
    Weekday,
    Hour,
    Hour12,
    Noon,
    Minute,
    Second,
    Fraction,
    Zone,
    /// Any number of blanks.
    Blank,
    Literal(u8),
}

/// The format of times.
#[derive(Debug, Clone, PartialEq)]
pub enum TimeFormat {
    /// ISO 8601, or a number of seconds.
    Recognised,
    /// A number of units since 1970, of which a second has this many.
    Unit(i64),
    /// Parts, as of `strptime`.
    Parts(TimeParts),
}

/// The parts of a format, as of `strptime`.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeParts {
    parts: Vec<Part>,
    text: String,
}

impl TimeFormat {
    /// Creates a format from its text; none means that times are recognised.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if the text is not a format, or the format has no year.
    pub fn new(text: Option<&str>) -> Result<Self, KernelError> {
        Ok(match text {
            None => Self::Recognised,
            Some("s") => Self::Unit(1),
            Some("ms") => Self::Unit(1_000),
            Some("us") => Self::Unit(1_000_000),
            Some("ns") => Self::Unit(1_000_000_000),
            Some(text) => Self::Parts(TimeParts { parts: read_parts(text)?, text: text.into() }),
        })
    }

    /// Parses a text as a time.
    ///
    /// # Errors
    /// Returns the reason, and what to do.
    pub fn parse(&self, text: &str) -> Result<Time, String> {
        match self {
            Self::Recognised => match parse_iso(text.as_bytes()) {
                Some(time) => Ok(time),
                None => parse_seconds(text),
            },
            Self::Unit(units) => parse_units(text, *units),
            Self::Parts(format) => format.parse(text.as_bytes()).ok_or_else(|| {
                format!("{} does not have the time_format '{}', or is no valid time", quote_excerpt(text), format.text)
            }),
        }
    }

    /// Returns whether directives describe times, so that even digits alone, such as 20240131, are a time.
    pub(super) fn has_directives(&self) -> bool {
        matches!(self, Self::Parts(_))
    }

    /// Parses bytes that are usually a time; none if they are not, or only [`TimeFormat::parse`] can tell.
    #[inline(always)]
    pub(super) fn parse_bytes(&self, text: &[u8]) -> Option<Time> {
        match self {
            Self::Recognised => parse_iso(text).or_else(|| scan_seconds(text)),
            Self::Unit(1) => {
                let (seconds, end) = scan_number(text, 0)?;
                (end == text.len()).then_some(Time { seconds, kind: TimeKind::Number })
            }
            Self::Unit(units) => parse_units(std::str::from_utf8(text).ok()?, *units).ok(),
            Self::Parts(format) => format.parse(text),
        }
    }
}

/// Returns a number of seconds that looks like nothing else: neither like a date nor like another unit.
#[inline(always)]
fn scan_seconds(text: &[u8]) -> Option<Time> {
    let (seconds, end) = scan_number(text, 0)?;
    let is_plain = end == text.len() && !matches!(end, 8 | 12 | 14) && seconds.abs() < MAX_SECONDS;
    is_plain.then_some(Time { seconds, kind: TimeKind::Number })
}

/// Returns the time of a field, if it is plain and one.
#[inline(always)]
pub(super) fn scan_time(format: &TimeFormat, field: &[u8], dialect: &Dialect) -> Option<Time> {
    if is_plain_field(field, dialect) { format.parse_bytes(field) } else { None }
}

/// Returns whether a text is a time in ISO 8601.
#[must_use]
pub fn is_time(text: &str) -> bool {
    parse_iso(text.as_bytes()).is_some()
}

/// Returns the number of days from 1970-01-01 to a valid date.
#[inline(always)]
fn count_days(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March here, so that the leap day is their last (Howard Hinnant, days_from_civil).
    let year = year - i64::from(month <= 2);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// Returns the year, month and day that lie a number of days after 1970-01-01.
fn find_date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let shifted = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(shifted <= 2), shifted, day_of_year - (153 * month + 2) / 5 + 1)
}

/// Returns a time as text in ISO 8601 with at most six digits of a second, in UTC.
#[must_use]
pub fn format_time(seconds: f64) -> String {
    if !(-62_135_596_800.0..253_402_300_800.0).contains(&seconds) {
        return format!("{seconds} s");
    }
    let (mut whole, mut micros) = (seconds.floor() as i64, ((seconds - seconds.floor()) * 1e6).round() as i64);
    if micros == 1_000_000 {
        (whole, micros) = (whole + 1, 0);
    }
    let (year, month, day) = find_date(whole.div_euclid(DAY));
    let second = whole.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    let fraction = fraction.trim_end_matches('0');
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

#[inline(always)]
fn count_days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[inline(always)]
fn is_date(year: i64, month: i64, day: i64) -> bool {
    year >= 1 && (1..=12).contains(&month) && day >= 1 && (day <= 28 || day <= count_days_of_month(year, month))
}

#[inline(always)]
fn read_digit(text: &[u8], position: usize) -> Option<i64> {
    let digit = text.get(position)?.wrapping_sub(b'0');
    (digit <= 9).then_some(i64::from(digit))
}

#[inline(always)]
fn read_two_digits(text: &[u8], position: usize) -> Option<i64> {
    Some(read_digit(text, position)? * 10 + read_digit(text, position + 1)?)
}

/// Parses a date, or a date and time, in ISO 8601: `2024-01-31`, `2024-01-31 12:30`, `2024-01-31T12:30:15.25+01:00`.
#[inline(always)]
fn parse_iso(text: &[u8]) -> Option<Time> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let year = read_two_digits(date, 0)? * 100 + read_two_digits(date, 2)?;
    let (month, day) = (read_two_digits(date, 5)?, read_two_digits(date, 8)?);
    if !is_date(year, month, day) {
        return None;
    }
    let midnight = count_days(year, month, day) * DAY;
    if rest.is_empty() {
        return Some(Time { seconds: midnight as f64, kind: TimeKind::Local });
    }
    if !matches!(rest[0], b'T' | b' ' | b't') || rest.get(3) != Some(&b':') {
        return None;
    }
    let (hour, minute) = (read_two_digits(rest, 1)?, read_two_digits(rest, 4)?);
    let (mut second, mut nanos, mut position) = (0, 0, 6);
    if rest.get(position) == Some(&b':') {
        second = read_two_digits(rest, 7)?;
        position = 9;
        if matches!(rest.get(position), Some(b'.' | b',')) {
            (nanos, position) = read_fraction(rest, position + 1)?;
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (kind, offset) = if position == rest.len() {
        (TimeKind::Local, 0)
    } else {
        let (offset, end) = read_zone(rest, position)?;
        (end == rest.len()).then_some((TimeKind::Zoned, offset))?
    };
    let seconds = midnight + hour * 3_600 + minute * 60 + second - offset;
    Some(Time { seconds: join_seconds(seconds, nanos), kind })
}

/// Returns whole seconds and nanoseconds after them as the nearest float.
#[inline(always)]
fn join_seconds(whole: i64, nanos: i64) -> f64 {
    // Both terms have the same sign, so that no digit is lost, and only the sum is rounded noticeably.
    let (whole, nanos) = if whole < 0 && nanos > 0 { (whole + 1, nanos - 1_000_000_000) } else { (whole, nanos) };
    whole as f64 + nanos as f64 / 1e9
}

/// Reads digits after the point; returns the nanoseconds and the end of the digits.
#[inline(always)]
fn read_fraction(text: &[u8], start: usize) -> Option<(i64, usize)> {
    const SHIFTS: [i64; 10] = [0, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
    let (mut value, mut end) = (0, start);
    while let Some(digit) = read_digit(text, end) {
        if end - start < 9 {
            value = value * 10 + digit;
        }
        end += 1;
    }
    (end > start).then(|| (value * SHIFTS[(end - start).min(9)], end))
}

/// Reads a zone (`Z`, `+hh:mm`, `+hhmm`, `+hh`); returns the seconds by which it is ahead of UTC, and its end.
#[inline(always)]
fn read_zone(text: &[u8], position: usize) -> Option<(i64, usize)> {
    let sign = match text.get(position)? {
        b'Z' | b'z' => return Some((0, position + 1)),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = read_two_digits(text, position + 1)?;
    let minutes_at = position + 3 + usize::from(text.get(position + 3) == Some(&b':'));
    let (minutes, end) = match read_two_digits(text, minutes_at) {
        Some(minutes) => (minutes, minutes_at + 2),
        None if minutes_at == position + 3 => (0, minutes_at),
        None => return None,
    };
    (hours <= 23 && minutes <= 59).then_some((sign * (hours * 3_600 + minutes * 60), end))
}

/// Parses a number of seconds; refuses one that looks like another unit, and says what a text looks like.
fn parse_seconds(text: &str) -> Result<Time, String> {
    if let Some(format) = guess_compact_date(text) {
        let quoted = quote_excerpt(text);
        return Err(format!("{quoted} looks like a date: set time_format='{format}', or 's' for seconds since 1970"));
    }
    let Ok(seconds) = parse_number(text) else { return Err(describe_unknown(text)) };
    if seconds.abs() >= MAX_SECONDS {
        let quoted = quote_excerpt(text);
        let (unit, name) = match seconds.abs() {
            1e11..1e14 => ("ms", "milliseconds"),
            1e14..1e17 => ("us", "microseconds"),
            _ => ("ns", "nanoseconds"),
        };
        return Err(format!(
            "{quoted} is too large for seconds; numbers like it look like {name}: set time_format='{unit}'"
        ));
    }
    Ok(Time { seconds, kind: TimeKind::Number })
}

/// Returns the format of a date of digits alone, such as 20240131.
fn guess_compact_date(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let format = match bytes.len() {
        8 => "%Y%m%d",
        12 => "%Y%m%d%H%M",
        14 => "%Y%m%d%H%M%S",
        _ => return None,
    };
    let year = read_two_digits(bytes, 0)? * 100 + read_two_digits(bytes, 2)?;
    let is_likely = (1900..2100).contains(&year) && bytes.iter().all(u8::is_ascii_digit);
    let valid = is_date(year, read_two_digits(bytes, 4)?, read_two_digits(bytes, 6)?);
    let clock = |position| read_two_digits(bytes, position).unwrap_or(0);
    (is_likely && valid && clock(8) < 24 && clock(10) < 60 && clock(12) < 60).then_some(format)
}

/// Returns why a text is not a time, and which format may fit.
fn describe_unknown(text: &str) -> String {
    let quoted = quote_excerpt(text);
    let numbers: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).take(3).collect();
    let marks: Vec<char> = text.chars().filter(|c| !c.is_ascii_digit()).take(2).collect();
    let [first, second, third] = numbers[..] else { return describe_other(&quoted) };
    if marks.len() < 2 || marks[0] != marks[1] || !"/.-".contains(marks[0]) || second.is_empty() || second.len() > 2 {
        return describe_other(&quoted);
    }
    let (mark, clock) = (marks[0], guess_clock(text));
    if first.len() == 4 && (1..=2).contains(&third.len()) {
        if mark == '-' && third.len() == 2 && second.len() == 2 {
            return describe_other(&quoted);
        }
        return format!("{quoted} is not ISO 8601: set time_format='%Y{mark}%m{mark}%d{clock}'");
    }
    if first.is_empty() || first.len() > 2 || !matches!(third.len(), 2 | 4) {
        return describe_other(&quoted);
    }
    let year = if third.len() == 4 { "%Y" } else { "%y" };
    let day_first = format!("'%d{mark}%m{mark}{year}{clock}'");
    let month_first = format!("'%m{mark}%d{mark}{year}{clock}'");
    let exceeds = |number: &str| number.parse::<u32>().is_ok_and(|number| number > 12);
    match (exceeds(first), exceeds(second)) {
        (true, _) => format!("{quoted} is not ISO 8601: set time_format={day_first}"),
        (_, true) => format!("{quoted} is not ISO 8601: set time_format={month_first}"),
        _ => format!("{quoted} is ambiguous: day or month first; set time_format={day_first} or {month_first}"),
    }
}

fn describe_other(quoted: &str) -> String {
    format!("{quoted} is not ISO 8601, such as 2024-01-31T12:30:00: set time_format, such as '%d/%m/%Y %H:%M'")
}

/// Returns the directives of the time of day after a date, as far as they can be seen.
fn guess_clock(text: &str) -> String {
    let Some((date, clock)) = text.split_once([' ', 'T']) else { return String::new() };
    let separator = &text[date.len()..=date.len()];
    let hour = if clock.to_ascii_lowercase().ends_with('m') { ("%I", " %p") } else { ("%H", "") };
    let noon = if clock.contains(' ') { hour.1 } else { hour.1.trim_start() };
    match clock.matches(':').count() {
        1 => format!("{separator}{}:%M{noon}", hour.0),
        2 => format!("{separator}{}:%M:%S{}{noon}", hour.0, if clock.contains('.') { ".%f" } else { "" }),
        _ => String::new(),
    }
}

/// Parses a number of units since 1970.
#[inline(always)]
fn parse_units(text: &str, units: i64) -> Result<Time, String> {
    let seconds = if let Ok(number) = text.parse::<i64>() {
        (number / units) as f64 + (number % units) as f64 / units as f64
    } else {
        let number = parse_number(text).map_err(|reason| {
            format!("{reason}, which this time_format needs: set another time_format, or none for ISO 8601")
        })?;
        number / units as f64
    };
    Ok(Time { seconds, kind: TimeKind::Number })
}

/// Reads the directives and literals of a format.
fn read_parts(text: &str) -> Result<Vec<Part>, KernelError> {
    let quoted = || quote_excerpt(text);
    let mut parts = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let part = match byte {
            b' ' | b'\t' => Part::Blank,
            b'%' => match bytes.next() {
                Some(b'Y') => Part::Year,
                Some(b'y') => Part::ShortYear,
                Some(b'm') => Part::Month,
                Some(b'b' | b'B' | b'h') => Part::MonthName,
                Some(b'd') => Part::Day,
                Some(b'j') => Part::DayOfYear,
                Some(b'a' | b'A') => Part::Weekday,
                Some(b'H') => Part::Hour,
                Some(b'I') => Part::Hour12,
                Some(b'p') => Part::Noon,
                Some(b'M') => Part::Minute,
                Some(b'S') => Part::Second,
                Some(b'f') => Part::Fraction,
                Some(b'z') => Part::Zone,
                Some(b'%') => Part::Literal(b'%'),
                _ => return Err(option_error("time_format", quoted(), FORMATS)),
            },
            byte => Part::Literal(byte),
        };
        if !matches!(part, Part::Blank | Part::Literal(_)) && parts.contains(&part) {
            return Err(option_error("time_format", quoted(), "a directive may occur only once"));
        }
        parts.push(part);
    }
    let has = |part| parts.contains(&part);
    check_option("time_format", quoted(), text.contains('%'), FORMATS)?;
    check_option("time_format", quoted(), has(Part::Year) != has(Part::ShortYear), "it must have one year: %Y or %y")?;
    let has_month = has(Part::Month) || has(Part::MonthName);
    let valid = !(has(Part::Month) && has(Part::MonthName)) && (has_month || !has(Part::Day));
    let valid = valid && !(has(Part::DayOfYear) && has_month);
    check_option("time_format", quoted(), valid, "it must have a month and a day (%m or %b, and %d), or %j")?;
    let valid = has(Part::Hour12) == has(Part::Noon) && !(has(Part::Hour12) && has(Part::Hour));
    check_option("time_format", quoted(), valid, "it must have either %H, or %I with %p")?;
    Ok(parts)
}

impl TimeParts {
    /// Parses a whole text.
    fn parse(&self, text: &[u8]) -> Option<Time> {
        let (mut year, mut month, mut day, mut day_of_year) = (0, 1, 1, None);
        let (mut hour, mut noon, mut minute, mut second) = (0, None, 0, 0);
        let (mut nanos, mut zone) = (0, None);
        let mut position = 0;
        for &part in &self.parts {
            match part {
                Part::Year => year = read_number(text, &mut position, 4..=4)?,
                Part::ShortYear => {
                    let short = read_number(text, &mut position, 2..=2)?;
                    year = short + if short < 69 { 2000 } else { 1900 };
                }
                Part::Month => month = read_number(text, &mut position, 1..=2)?,
                Part::MonthName => month = read_name(text, &mut position, &MONTHS)?,
                Part::Day => day = read_number(text, &mut position, 1..=2)?,
                Part::DayOfYear => day_of_year = Some(read_number(text, &mut position, 1..=3)?),
                Part::Weekday => _ = read_name(text, &mut position, &WEEKDAYS)?,
                Part::Hour => hour = read_number(text, &mut position, 1..=2)?,
                Part::Hour12 => {
                    hour = read_number(text, &mut position, 1..=2).filter(|hour| (1..=12).contains(hour))?;
                }
                Part::Noon => noon = Some(read_noon(text, &mut position)?),
                Part::Minute => minute = read_number(text, &mut position, 1..=2)?,
                Part::Second => second = read_number(text, &mut position, 1..=2)?,
                Part::Fraction => (nanos, position) = read_fraction(text, position)?,
                Part::Zone => {
                    let (offset, end) = read_zone(text, position)?;
                    (zone, position) = (Some(offset), end);
                }
                Part::Blank => {
                    let start = position;
                    while text.get(position).is_some_and(u8::is_ascii_whitespace) {
                        position += 1;
                    }
                    // The blanks of a format may be one or more blanks in the text; those before them count for both.
                    let is_after_blank = start > 0 && text[start - 1].is_ascii_whitespace();
                    (position > start || is_after_blank).then_some(())?;
                }
                Part::Literal(byte) => {
                    (text.get(position) == Some(&byte)).then_some(())?;
                    position += 1;
                }
            }
        }
        if let Some(noon) = noon {
            hour = hour % 12 + noon;
        }
        if position != text.len() || !is_date(year, month, day) || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let days = match day_of_year {
            None => count_days(year, month, day),
            Some(number) if (1..=365 + i64::from(is_leap(year))).contains(&number) => {
                count_days(year, 1, 1) + number - 1
            }
            Some(_) => return None,
        };
        let seconds = days * DAY + hour * 3_600 + minute * 60 + second - zone.unwrap_or(0);
        let kind = if zone.is_some() { TimeKind::Zoned } else { TimeKind::Local };
        Some(Time { seconds: join_seconds(seconds, nanos), kind })
    }
}

/// Reads a number with a range of lengths, as long as possible.
fn read_number(text: &[u8], position: &mut usize, n_digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let (start, mut number) = (*position, 0);
    while *position - start < *n_digits.end()
        && let Some(digit) = read_digit(text, *position)
    {
        number = number * 10 + digit;
        *position += 1;
    }
    n_digits.contains(&(*position - start)).then_some(number)
}

/// Reads a name, whole or by its first three letters, whatever its case; returns its position in the list, from 1.
fn read_name(text: &[u8], position: &mut usize, names: &[&str]) -> Option<i64> {
    let rest = text.get(*position..)?;
    let matches = |name: &str| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
    let found = names.iter().position(|name| matches(&name[..3]))?;
    *position += if matches(names[found]) { names[found].len() } else { 3 };
    Some(found as i64 + 1)
}

/// Reads AM or PM; returns the hours to add.
fn read_noon(text: &[u8], position: &mut usize) -> Option<i64> {
    let letters = text.get(*position..*position + 2)?;
    *position += 2;
    if letters.eq_ignore_ascii_case(b"am") {
        return Some(0);
    }
    letters.eq_ignore_ascii_case(b"pm").then_some(12)
}

/// Parses many texts, up to the first fault; a missing text is a missing time, NaN.
///
/// Returns the times, how they are written, and the position and reason of the fault: a text that is not a time, or is
/// written unlike those before it. Times from the fault on are NaN.
#[must_use]
pub fn parse_times<'a>(
    texts: impl ExactSizeIterator<Item = Option<&'a str>>,
    format: &TimeFormat,
) -> (Vec<f64>, Option<TimeKind>, Option<(usize, String)>) {
    let mut times = vec![f64::NAN; texts.len()];
    let mut kind = None;
    for (i, text) in texts.enumerate() {
        let Some(text) = text else { continue };
        let time = format.parse(text).and_then(|time| time.kind.check_same(kind, text).map(|()| time));
        match time {
            Ok(time) => (times[i], kind) = (time.seconds, Some(time.kind)),
            Err(reason) => return (times, kind, Some((i, reason))),
        }
    }
    (times, kind, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, format: Option<&str>) -> Result<Time, String> {
        TimeFormat::new(format).map_err(|error| error.to_string())?.parse(text)
    }

    #[test]
    fn iso_times_are_recognised() {
        for (text, seconds, kind) in [
            ("1970-01-01", 0.0, TimeKind::Local),
            ("2024-02-29", 1_709_164_800.0, TimeKind::Local),
            ("2024-01-31 12:30", 1_706_704_200.0, TimeKind::Local),
            ("2024-01-31T12:30:15", 1_706_704_215.0, TimeKind::Local),
            ("2024-01-31T12:30:15.25Z", 1_706_704_215.25, TimeKind::Zoned),
            ("2024-01-31 12:30:15,250+01:00", 1_706_700_615.25, TimeKind::Zoned),
            ("2024-01-31T12:30-0530", 1_706_724_000.0, TimeKind::Zoned),
            ("2024-01-31T12:30:15.123456789+02", 1_706_697_015.123_456_7, TimeKind::Zoned),
            ("1969-12-31T23:59:59.75", -0.25, TimeKind::Local),
            ("0001-01-01", -62_135_596_800.0, TimeKind::Local),
            ("9999-12-31T23:59:59", 253_402_300_799.0, TimeKind::Local),
            ("1706704215.5", 1_706_704_215.5, TimeKind::Number),
            ("-3", -3.0, TimeKind::Number),
        ] {
            assert_eq!(parse(text, None), Ok(Time { seconds, kind }), "{text}");
            assert_eq!(is_time(text), kind != TimeKind::Number);
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_the_format_that_may_fit() {
        for (text, reason) in [
            ("03/04/2024", "is ambiguous: day or month first; set time_format='%d/%m/%Y' or '%m/%d/%Y'"),
            ("3.4.24 08:15", "is ambiguous: day or month first; set time_format='%d.%m.%y %H:%M' or '%m.%d.%y %H:%M'"),
            ("31/01/2024 08:15:00", "is not ISO 8601: set time_format='%d/%m/%Y %H:%M:%S'"),
            ("01/31/2024 08:15 PM", "is not ISO 8601: set time_format='%m/%d/%Y %I:%M %p'"),
            ("2024/01/31", "is not ISO 8601: set time_format='%Y/%m/%d'"),
            ("20240131", "looks like a date: set time_format='%Y%m%d', or 's' for seconds since 1970"),
            ("1706704215000", "is too large for seconds; numbers like it look like milliseconds: set time_format='ms'"),
            (
                "1706704215000000",
                "is too large for seconds; numbers like it look like microseconds: set time_format='us'",
            ),
            ("2024-02-30", "is not ISO 8601, such as 2024-01-31T12:30:00: set time_format, such as '%d/%m/%Y %H:%M'"),
        ] {
            assert_eq!(parse(text, None), Err(format!("'{text}' {reason}")));
        }
        for text in [
            "",
            "x",
            "2024-1-1",
            "2024-01",
            "2024-01-01T",
            "2024-01-01T12",
            "2024-01-01 24:00",
            "2024-01-01 12:60",
            "2024-01-01 12:00:60",
            "2024-01-01 12:00:00.",
            "2024-01-01Z",
            "2024-01-01 12:00+24:00",
            "2024-01-01 12:00+1",
            "2024-01-01 12:00+01:",
            "2024-01-01  12:00",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "0000-01-01",
            "nan",
            "2024-01-01 12:00 ",
            "２024-01-01",
        ] {
            assert!(parse(text, None).is_err(), "{text}");
        }
    }

    #[test]
    fn formats_are_those_of_strptime() {
        for (format, text, seconds) in [
            ("%d/%m/%Y %H:%M", "03/04/2024 08:15", 1_712_132_100.0),
            ("%m/%d/%y", "3/4/24", 1_709_510_400.0),
            ("%y", "69", -31_536_000.0),
            ("%d-%b-%Y %I:%M:%S %p", "04-mar-2024 12:00:05 am", 1_709_510_405.0),
            ("%B %d, %Y %I%p", "March 4, 2024 1PM", 1_709_557_200.0),
            ("%Y%j%z", "2024366-01:30", 1_735_608_600.0),
            ("%a %b  %d %H:%M:%S %Y", "Mon Mar  4 00:00:01 2024", 1_709_510_401.0),
            ("%Y-%m-%dT%H:%M:%S.%f%z", "2024-03-04T00:00:00.000001Z", 1_709_510_400.000_001),
            ("100%% %Y", "100% 1970", 0.0),
            ("ms", "1709510400250", 1_709_510_400.25),
            ("us", "-1", -1e-6),
            ("ns", "1709510400123456789", 1_709_510_400.123_456_7),
            ("s", "1709510400.5", 1_709_510_400.5),
            ("s", "20240131", 20_240_131.0),
        ] {
            assert_eq!(parse(text, Some(format)).map(|time| time.seconds), Ok(seconds), "{format} {text}");
        }
        for (format, text) in [
            ("%d/%m/%Y", "31/02/2024"),
            ("%d/%m/%Y", "1/2/24"),
            ("%d/%m/%Y", "1/2/2024 "),
            ("%Y%j", "2023366"),
            ("%I %p %Y", "13 pm 2024"),
            ("%Y %b", "2024 Foo"),
            ("%Y-%m-%d", "2024-1-"),
            ("ms", "x"),
            ("%Y %m", "202401"),
        ] {
            assert!(parse(text, Some(format)).is_err(), "{format} {text}");
        }
    }

    #[test]
    fn impossible_formats_are_refused() {
        for format in ["", "%", "iso", "%H:%M", "%Y %y", "%Y %d", "%Y %j %m", "%Y %I", "%Y %H %p", "%Y %Q", "%Y %Y"] {
            assert!(TimeFormat::new(Some(format)).is_err(), "{format}");
        }
    }

    #[test]
    fn every_day_has_its_date() {
        let mut expected = (1899, 12, 31);
        for days in -25_567..50_000 {
            let (year, month, day) = expected;
            expected = if day < count_days_of_month(year, month) {
                (year, month, day + 1)
            } else if month < 12 {
                (year, month + 1, 1)
            } else {
                (year + 1, 1, 1)
            };
            assert_eq!(find_date(days), expected);
            assert_eq!(count_days(expected.0, expected.1, expected.2), days);
        }
    }

    #[test]
    fn times_become_text() {
        assert_eq!(format_time(1_709_510_400.25), "2024-03-04T00:00:00.25Z");
        assert_eq!(format_time(-1.0), "1969-12-31T23:59:59Z");
        assert_eq!(format_time(0.999_999_9), "1970-01-01T00:00:01Z");
        assert_eq!(format_time(1e15), "1000000000000000 s");
    }

    #[test]
    fn mixtures_and_faults_are_reported_with_their_position() {
        let parse = |texts: &[Option<&str>]| parse_times(texts.iter().copied(), &TimeFormat::Recognised);
        let (times, kind, fault) = parse(&[Some("1970-01-02"), None, Some("1970-01-01 00:00:01")]);
        assert_eq!((times[0], times[1].is_nan(), times[2]), (86_400.0, true, 1.0));
        assert_eq!((kind, fault), (Some(TimeKind::Local), None));
        let (times, _, fault) = parse(&[Some("1970-01-02"), Some("1970-01-02T00:00Z"), Some("1970-01-02")]);
        let reason = "'1970-01-02T00:00Z' has a time zone, while a time above has no time zone: write all times alike";
        assert_eq!(fault, Some((1, reason.to_owned())));
        assert!(times[2].is_nan());
        assert_eq!(parse(&[None, Some("x")]).2.map(|fault| fault.0), Some(1));
        assert_eq!(parse(&[]), (vec![], None, None));
    }
}
