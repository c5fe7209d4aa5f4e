//! Contents of a cache file: all inputs of the code, the code, and a checksum.

use std::env;
use std::ffi::OsString;

use crate::code::Code;
use crate::whole::is_whole;
use crate::{Output, Source};

/// First bytes of every entry; the number identifies the format.
const MAGIC: &[u8] = b"cuprum code, 1\n";

pub(super) const EXTENSION: &str = "cuprum";

/// All inputs of the code as one byte string; different inputs have different strings.
pub(super) fn key(compiler: &[u8], source: &Source<'_>, arguments: &[OsString], output: Output) -> Vec<u8> {
    let mut key = Vec::new();
    put(&mut key, env!("CARGO_PKG_VERSION").as_bytes());
    put(&mut key, compiler);
    put(&mut key, format!("{output:?}").as_bytes());
    // With line information, the compiler writes its working directory into the code.
    let with_lines =
        |one: &OsString| ["line", "debug", "-G"].iter().any(|word| one.to_string_lossy().contains(word));
    let folder = arguments.iter().any(with_lines).then(|| env::current_dir().unwrap_or_default());
    put(&mut key, folder.unwrap_or_default().as_os_str().as_encoded_bytes());
    put_number(&mut key, arguments.len());
    arguments.iter().for_each(|one| put(&mut key, one.as_encoded_bytes()));
    put(&mut key, source.name.as_bytes());
    put(&mut key, source.text);
    put_number(&mut key, source.headers.len());
    for (name, text) in &source.headers {
        put(&mut key, name.as_bytes());
        put(&mut key, text);
    }
    put_number(&mut key, source.expressions.len());
    source.expressions.iter().for_each(|one| put(&mut key, one.as_bytes()));
    put(&mut key, source.fingerprint.unwrap_or_default().as_bytes());
    key
}

/// File name for a key. Keys with the same name replace each other's entry, but never get the
/// other's code.
pub(super) fn file_name(key: &[u8]) -> String {
    // FNV-1a of 128 bits.
    let hash = key.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    format!("{hash:032x}.{EXTENSION}")
}

/// 64-bit FNV-1a. A change of any byte changes it.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(super) fn encode(key: &[u8], code: &Code) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    put(&mut bytes, key);
    put(&mut bytes, code.log.as_bytes());
    put_number(&mut bytes, code.names.len());
    for (expression, name) in &code.names {
        put(&mut bytes, expression.as_bytes());
        put(&mut bytes, name.as_bytes());
    }
    put(&mut bytes, &code.bytes);
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The code of a complete entry with this key and, if it is machine code, with complete code.
pub(super) fn decode(bytes: &[u8], key: &[u8]) -> Option<Code> {
    let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
    if checksum(body).to_le_bytes() != *sum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    if take(&mut rest)? != key {
        return None;
    }
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let log = text(take(&mut rest)?)?;
    let count = take_number(&mut rest)?;
    let mut names = Vec::new();
    for _ in 0..count {
        names.push((text(take(&mut rest)?)?, text(take(&mut rest)?)?));
    }
    let bytes = take(&mut rest)?.to_vec();
    // The checksum is not secret, and the driver reads as far as machine code says.
    let is_sound = !bytes.starts_with(b"\x7fELF") || is_whole(&bytes);
    (rest.is_empty() && is_sound).then_some(Code { bytes, log, names })
}

fn put_number(to: &mut Vec<u8>, number: usize) {
    to.extend((number as u64).to_le_bytes());
}

fn put(to: &mut Vec<u8>, bytes: &[u8]) {
    put_number(to, bytes.len());
    to.extend(bytes);
}

fn take_number(from: &mut &[u8]) -> Option<usize> {
    let (number, rest) = from.split_first_chunk()?;
    *from = rest;
    usize::try_from(u64::from_le_bytes(*number)).ok()
}

fn take<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = take_number(from)?;
    let (bytes, rest) = from.split_at_checked(len)?;
    *from = rest;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> Code {
        Code {
            bytes: b"ptx".to_vec(),
            log: "a warning".to_owned(),
            names: vec![("f<int>".to_owned(), "_Z1fIiEvv".to_owned())],
        }
    }

    #[test]
    fn entries_come_back_and_only_to_their_key() {
        let bytes = encode(b"key", &code());
        assert!(decode(&bytes, b"key").is_some_and(|back| back == code()));
        assert!(decode(&bytes, b"kez").is_none());
    }

    #[test]
    fn machine_code_that_is_cut_is_noticed_though_the_checksum_is_right() {
        let whole = crate::whole::tests::image();
        let entry_of = |image: &[u8]| encode(b"key", &Code { bytes: image.to_vec(), ..code() });
        assert!(decode(&entry_of(&whole), b"key").is_some_and(|back| back.bytes == whole));
        for len in 4..whole.len() {
            assert!(decode(&entry_of(&whole[..len]), b"key").is_none(), "cut at {len}");
        }
    }

    #[test]
    fn every_cut_and_every_changed_bit_is_noticed() {
        let whole = encode(b"key", &code());
        for len in 0..whole.len() {
            assert!(decode(&whole[..len], b"key").is_none(), "cut at {len}");
        }
        for at in 0..8 * whole.len() {
            let mut changed = whole.clone();
            changed[at / 8] ^= 1 << (at % 8);
            assert!(decode(&changed, b"key").is_none(), "bit {at}");
        }
        let longer: Vec<u8> = whole.iter().copied().chain([0]).collect();
        assert!(decode(&longer, b"key").is_none());
    }

    #[test]
    fn a_key_has_all_that_the_code_depends_on() {
        let base = Source::new("text").named("name");
        let key_of = |source: &Source<'_>| key(b"NVRTC", source, &["-a".into()], Output::Ptx);
        let known = key_of(&base);
        let others = [
            key_of(&Source::new("texu").named("name")),
            key_of(&base.clone().named("nam")),
            key_of(&base.clone().header("h", "x")),
            key_of(&base.clone().header("hx", "")),
            key_of(&base.clone().expression("e")),
            key_of(&base.clone().fingerprint("1")),
            key(b"NVRTC 2", &base, &["-a".into()], Output::Ptx),
            key(b"NVRTC", &base, &["-ab".into()], Output::Ptx),
            key(b"NVRTC", &base, &["-".into(), "a".into()], Output::Ptx),
            key(b"NVRTC", &base, &["-a".into()], Output::Cubin),
        ];
        for (i, other) in others.iter().enumerate() {
            assert_ne!(*other, known, "{i}");
            assert_ne!(file_name(other), file_name(&known), "{i}");
        }
        assert_eq!(key_of(&base), known);
    }

    #[test]
    fn hashes_are_fnv_1a() {
        // Published test vectors.
        assert_eq!(file_name(b""), "6c62272e07bb014262b821756295c58d.cuprum");
        assert_eq!(file_name(b"a"), "d228cb696f1a8caf78912b704e4a8964.cuprum");
        assert_eq!(checksum(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
