//! Accessors to a document that fits the schema; an absent or invalid value reads as none.

use serde_json::Value;

/// Elements of an array; empty if absent.
pub(super) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// An index or count.
pub(super) fn index(value: &Value, key: &str) -> Option<usize> {
    value.get(key).and_then(Value::as_u64).and_then(|x| usize::try_from(x).ok())
}

/// The indices in an array.
pub(super) fn indices<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = usize> + 'a {
    items(value, key).iter().filter_map(Value::as_u64).filter_map(|x| usize::try_from(x).ok())
}

/// A number.
pub(super) fn number(value: &Value, key: &str) -> Option<f64> {
    value.get(key).and_then(Value::as_f64)
}

/// A number in single precision; one out of range is clamped.
#[allow(clippy::cast_possible_truncation)]
pub(super) const fn narrow(x: f64) -> f32 {
    let x = x as f32;
    if x.is_finite() {
        x
    } else if x > 0.0 {
        f32::MAX
    } else {
        f32::MIN
    }
}

/// A fixed number of numbers.
pub(super) fn numbers<const N: usize>(value: &Value, key: &str) -> Option<[f64; N]> {
    let list = value.get(key)?.as_array()?;
    let mut out = [0.0; N];
    if list.len() != N {
        return None;
    }
    for (out, value) in out.iter_mut().zip(list) {
        *out = value.as_f64()?;
    }
    Some(out)
}

/// Text, empty if absent.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// An extension's object.
pub(super) fn extension<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get("extensions")?.get(name)
}

/// Entries of an object; empty if absent.
pub(super) fn entries<'a>(
    value: &'a Value,
    key: &str,
) -> impl Iterator<Item = (&'a str, &'a Value)> + 'a {
    value
        .get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
}

/// Byte offset of a JSON syntax error.
pub(super) fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let before: usize = bytes
        .split(|&byte| byte == b'\n')
        .take(line.saturating_sub(1))
        .map(|line| line.len() + 1)
        .sum();
    (before + column.saturating_sub(1)).min(bytes.len())
}

/// Approximate number of values in a text, without parsing: counts opening brackets and commas.
pub(super) fn values(bytes: &[u8]) -> usize {
    let (mut count, mut text, mut escaped) = (1, false, false);
    for &byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b',' | b'[' | b'{' if !text => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_text() {
        assert_eq!(values(br#"{"a,b": [1, 2, "[\",\\"], "c": {}}"#), 1 + 2 + 2 + 1 + 1);
    }

    #[test]
    fn offsets_count_lines() {
        assert_eq!(offset(b"ab\ncd", 2, 2), 4);
        assert_eq!(offset(b"ab", 9, 9), 2);
    }
}
