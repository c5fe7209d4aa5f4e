//! The devices that a client sees, and their names.

use std::sync::OnceLock;

use cuprum_sys::CUresult;

use crate::driver::answer::{Answer, ensure};
use crate::driver::state::settings;

const UUID_STEM: &[u8; 15] = b"cuprum-software";

/// First characters of a UUID as text.
const UUID_PREFIX: &str = "GPU-";

/// Returns the visible devices, by their number among all. Fails if a list names one twice.
fn visible() -> Answer<&'static [u32]> {
    static VISIBLE: OnceLock<Answer<Vec<u32>>> = OnceLock::new();
    let visible = VISIBLE.get_or_init(|| {
        let settings = settings();
        match &settings.visible_devices {
            Some(list) => select(list, settings.devices),
            None => Ok((0..settings.devices).collect()),
        }
    });
    visible.as_deref().map_err(|&code| code)
}

/// Returns the number of devices that the client sees.
pub(crate) fn count() -> Answer<usize> {
    visible().map(<[u32]>::len)
}

/// Selects the devices in a list such as `CUDA_VISIBLE_DEVICES`, of `count` devices: numbers or
/// UUIDs, as the first entry is. The first invalid entry ends the list.
fn select(list: &str, count: u32) -> Answer<Vec<u32>> {
    let find = if list.starts_with(UUID_PREFIX) { by_uuid } else { by_number };
    let mut selected = Vec::new();
    for device in list.split(',').map_while(|entry| find(entry, count)) {
        ensure(!selected.contains(&device), CUresult::CUDA_ERROR_INVALID_DEVICE)?;
        selected.push(device);
    }
    Ok(selected)
}

/// Reads a number as C does: blanks and a plus sign may precede it, and any text may follow.
fn by_number(entry: &str, count: u32) -> Option<u32> {
    let entry = entry.trim_start();
    let entry = entry.strip_prefix('+').unwrap_or(entry);
    let end = entry.find(|character: char| !character.is_ascii_digit()).unwrap_or(entry.len());
    entry[..end].parse().ok().filter(|&device| device < count)
}

/// Finds the device whose UUID begins with these digits, if there is exactly one.
fn by_uuid(entry: &str, count: u32) -> Option<u32> {
    let digits = entry.strip_prefix(UUID_PREFIX).filter(|digits| !digits.is_empty())?.to_lowercase();
    let mut matching = (0..count).filter(|&device| uuid_digits(device).starts_with(&digits));
    matching.next().filter(|_| matching.next().is_none())
}

/// Fails unless the device exists.
pub(crate) fn check(device: i32) -> Answer {
    physical(device).map(drop)
}

/// Returns the number of a device if all were visible.
pub(super) fn physical(device: i32) -> Answer<u32> {
    let visible = visible()?;
    let found = usize::try_from(device).ok().and_then(|device| visible.get(device));
    found.copied().ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
}

pub(super) fn uuid(device: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    let text = UUID_STEM.iter().copied().chain([device as u8]);
    for (to, from) in bytes.iter_mut().zip(text) {
        *to = from;
    }
    bytes
}

/// Returns the UUID as in `CUDA_VISIBLE_DEVICES`, without [`UUID_PREFIX`].
fn uuid_digits(device: u32) -> String {
    let mut text = String::new();
    for (at, byte) in uuid(device).into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_devices_are_read_as_the_driver_reads_them() {
        let last = format!("{UUID_PREFIX}{}", uuid_digits(2));
        for (list, expected) in [
            ("2,0", Ok(vec![2, 0])),
            (" +01abc,2 ", Ok(vec![1, 2])),
            ("1,,2", Ok(vec![1])),
            ("1,3,2", Ok(vec![1])),
            ("1,-1,2", Ok(vec![1])),
            ("", Ok(vec![])),
            (&last, Ok(vec![2])),
            (&last.replace('d', "D"), Ok(vec![2])),
            // The UUIDs of all devices begin with this stem.
            ("GPU-63757072", Ok(vec![])),
            ("GPU-", Ok(vec![])),
            (&format!("{last},0"), Ok(vec![2])),
            (&format!("0,{last}"), Ok(vec![0])),
            ("1,2,1", Err(CUresult::CUDA_ERROR_INVALID_DEVICE)),
            ("1,3,1", Ok(vec![1])),
        ] {
            assert_eq!(select(list, 3), expected, "{list:?}");
        }
        assert_eq!(select("GPU-63757072", 1), Ok(vec![0]));
    }
}
