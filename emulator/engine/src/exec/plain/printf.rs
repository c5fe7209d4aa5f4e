//! `printf` on the device.

use crate::exec::access::{bytes_at, text_at};
use crate::exec::block::{Block, Site, Stop};

/// A conversion of the format string: `%[flags][width][.precision][length]type`.
#[derive(Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

/// Formats and prints. The result is the number of values, as on hardware.
pub(in crate::exec) fn printf(
    block: &mut Block<'_, '_>,
    site: Site,
    format: u64,
    values: u64,
) -> Result<u64, Stop> {
    let format = text_at(block, site, format)?;
    let mut out = String::new();
    let mut rest = format.as_str();
    let mut offset = 0u64;
    let mut count = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let mut spec = Spec::default();
        let conversion = {
            let mut star = |bytes: u64| -> Result<u64, Stop> {
                offset = offset.next_multiple_of(bytes);
                let at = values.wrapping_add(offset);
                offset += bytes;
                count += 1;
                Ok(match bytes {
                    8 => u64::from_le_bytes(bytes_at(block, site, at)?),
                    _ => u32::from_le_bytes(bytes_at(block, site, at)?).into(),
                })
            };
            rest = parse(rest, &mut spec, &mut || star(4))?;
            let Some(conversion) = rest.chars().next() else { break };
            rest = &rest[conversion.len_utf8()..];
            let value = match conversion {
                '%' => None,
                'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' => Some(star(if spec.long { 8 } else { 4 })?),
                'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' | 'p' | 's' => Some(star(8)?),
                _ => None,
            };
            (conversion, value)
        };
        match conversion {
            ('s', Some(address)) => {
                let text = if address == 0 { "(null)".into() } else { text_at(block, site, address)? };
                let text: String = text.chars().take(spec.precision.unwrap_or(usize::MAX)).collect();
                pad(&mut out, &spec, "", &text, false);
            }
            ('%', _) => out.push('%'),
            (conversion, Some(value)) => number(&mut out, &spec, conversion, value),
            (conversion, None) => {
                out.push('%');
                out.push(conversion);
            }
        }
    }
    out.push_str(rest);
    // The client's function may wait for another thread that writes.
    block.launch.writer.admit_others();
    block.launch.hooks.print(&out);
    Ok(count)
}

/// Reads flags, width, precision and length. Returns the rest, which begins with the conversion.
fn parse<'f>(
    mut rest: &'f str,
    spec: &mut Spec,
    star: &mut dyn FnMut() -> Result<u64, Stop>,
) -> Result<&'f str, Stop> {
    while let Some(flag) = rest.chars().next() {
        match flag {
            '-' => spec.left = true,
            '+' => spec.plus = true,
            ' ' => spec.space = true,
            '#' => spec.alternate = true,
            '0' => spec.zero = true,
            _ => break,
        }
        rest = &rest[1..];
    }
    let mut quantity = |rest: &mut &'f str| -> Result<Option<usize>, Stop> {
        if let Some(after) = rest.strip_prefix('*') {
            *rest = after;
            return star().map(|value| Some((value as i32).unsigned_abs().min(4096) as usize));
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let value = rest[..end].parse::<usize>().ok().map(|value| value.min(4096));
        *rest = &rest[end..];
        Ok(value)
    };
    spec.width = quantity(&mut rest)?.unwrap_or(0);
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        spec.precision = Some(quantity(&mut rest)?.unwrap_or(0));
    }
    while let Some(length) = rest.chars().next().filter(|c| matches!(c, 'l' | 'h' | 'z' | 'j' | 't' | 'L')) {
        spec.long |= !matches!(length, 'h');
        rest = &rest[1..];
    }
    Ok(rest)
}

/// Appends sign or prefix and digits, padded to the width.
fn pad(out: &mut String, spec: &Spec, prefix: &str, digits: &str, numeric: bool) {
    let fill = spec.width.saturating_sub(prefix.chars().count() + digits.chars().count());
    let zeros = spec.zero && numeric && !spec.left;
    if !spec.left && !zeros {
        out.extend(std::iter::repeat_n(' ', fill));
    }
    out.push_str(prefix);
    if zeros {
        out.extend(std::iter::repeat_n('0', fill));
    }
    out.push_str(digits);
    if spec.left {
        out.extend(std::iter::repeat_n(' ', fill));
    }
}

fn sign(spec: &Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (.., true) => " ",
        _ => "",
    }
}

fn number(out: &mut String, spec: &Spec, conversion: char, value: u64) {
    let narrow = if spec.long { value } else { value & 0xffff_ffff };
    let (prefix, mut digits) = match conversion {
        'd' | 'i' => {
            let signed = if spec.long { value as i64 } else { i64::from(value as i32) };
            (sign(spec, signed < 0), signed.unsigned_abs().to_string())
        }
        'u' => ("", narrow.to_string()),
        'x' => (if spec.alternate && narrow != 0 { "0x" } else { "" }, format!("{narrow:x}")),
        'X' => (if spec.alternate && narrow != 0 { "0X" } else { "" }, format!("{narrow:X}")),
        'o' => (if spec.alternate { "0" } else { "" }, format!("{narrow:o}")),
        'p' => ("0x", format!("{value:x}")),
        'c' => {
            pad(out, spec, "", &char::from(value as u8).to_string(), false);
            return;
        }
        _ => {
            let x = f64::from_bits(value);
            let digits =
                if x.is_finite() { float(spec, conversion, x.abs()) } else { not_finite(x, conversion) };
            let negative = x.is_sign_negative() && !x.is_nan();
            pad(out, spec, sign(spec, negative), &digits, x.is_finite());
            return;
        }
    };
    if let Some(precision) = spec.precision {
        let missing = precision.saturating_sub(digits.len());
        digits.insert_str(0, &"0".repeat(missing));
    }
    pad(out, spec, prefix, &digits, spec.precision.is_none());
}

fn not_finite(x: f64, conversion: char) -> String {
    let text = if x.is_nan() { "nan" } else { "inf" };
    if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text.into() }
}

/// Returns the digits of a non-negative number.
fn float(spec: &Spec, conversion: char, x: f64) -> String {
    let precision = spec.precision.unwrap_or(6);
    let text = match conversion.to_ascii_lowercase() {
        'f' => format!("{x:.precision$}"),
        'e' => exponent(&format!("{x:.precision$e}")),
        'a' => hexadecimal(x),
        _ => {
            let precision = precision.max(1);
            let scientific = format!("{x:.*e}", precision - 1);
            let power: i32 =
                scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
            let short = |digits: &str| match digits.contains('.') && !spec.alternate {
                true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => digits.to_owned(),
            };
            if power < -4 || power >= precision as i32 {
                let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
                exponent(&format!("{}e{power}", short(digits)))
            } else {
                short(&format!("{x:.*}", (precision as i32 - 1 - power).max(0) as usize))
            }
        }
    };
    if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text }
}

/// Converts `1.5e7` to C's format `1.5e+07`.
fn exponent(text: &str) -> String {
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
}

fn hexadecimal(x: f64) -> String {
    let bits = x.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let biased = (bits >> 52) as i32;
    let (lead, power) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let dot = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{dot}{digits}p{power:+}")
}
