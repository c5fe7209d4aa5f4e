//! `Image::read` on synthetic images, complete and damaged, and its verdicts compared with the
//! driver's.

use cuprum::Module;
use cuprum::device::ComputeCapability;
use cuprum::diagnosis::{Image, ImageError};
use cuprum::sys::Version;

use crate::common::in_context;

/// The first bytes of a container.
const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

const OF_90: ComputeCapability = of(9, 0);

const fn of(major: u32, minor: u32) -> ComputeCapability {
    ComputeCapability { major, minor }
}

fn elf(revision: u8, flags: u32) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\x41".to_vec();
    bytes.push(revision);
    // A header, 16 bytes of a section, and two entries of the section table, the first empty.
    bytes.resize(64 + 16 + 2 * 64, 0);
    bytes[18..20].copy_from_slice(&190u16.to_le_bytes());
    bytes[40] = 80;
    bytes[48..52].copy_from_slice(&flags.to_le_bytes());
    (bytes[58], bytes[60]) = (64, 2);
    (bytes[144 + 4], bytes[144 + 24], bytes[144 + 32]) = (1, 64, 16);
    bytes
}

const PTX: &str = ".version 8.5\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n\
    .global .align 4 .b8 table[4] = {1, 2, 3, 4};\n\
    .visible .entry f(.param .u64 f_param_0)\n.maxntid 32, 1, 1\n{\n\tret; // \"}\n\n}\n/* { */\n\
    .section .debug_str\n{\n$str: .b8 1\n}\n";

/// A container with entries of kind, version, architecture and code.
fn fatbin(entries: &[(u16, u16, u16, u32)]) -> Vec<u8> {
    let mut body = Vec::new();
    for &(kind, major, minor, number) in entries {
        let mut code = match kind {
            1 => PTX.as_bytes().to_vec(),
            2 => elf(8, number << 8),
            _ => vec![7; 3],
        };
        code.resize(code.len().next_multiple_of(8), 0);
        let start = body.len();
        body.resize(start + 64, 0);
        body[start..start + 2].copy_from_slice(&kind.to_le_bytes());
        body[start + 4..start + 8].copy_from_slice(&64u32.to_le_bytes());
        body[start + 8..start + 16].copy_from_slice(&(code.len() as u64).to_le_bytes());
        body[start + 24..start + 26].copy_from_slice(&minor.to_le_bytes());
        body[start + 26..start + 28].copy_from_slice(&major.to_le_bytes());
        body[start + 28..start + 32].copy_from_slice(&number.to_le_bytes());
        body.extend(code);
    }
    let mut bytes = [&FATBIN[..], &1u16.to_le_bytes(), &16u16.to_le_bytes()].concat();
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

#[track_caller]
fn assert_damaged(bytes: &[u8], words: &str) {
    match Image::read(bytes) {
        Err(ImageError::Damaged(why)) => assert!(why.contains(words), "{why:?} lacks {words:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ptx_is_read_by_its_directives() {
    let image = Image::read(b"// by a compiler\n.version 7.8\n.target sm_90a, debug\n").unwrap();
    assert_eq!(image.to_string(), "PTX 7.8 for sm_90a");
    assert!(image.runs_on(OF_90) && !image.runs_on(of(10, 0)));
    assert_eq!(image.least_driver(OF_90), Some(Version::new(11, 8)));
    assert_eq!(image.newest_ptx(), Some(("7.8", Some(Version::new(11, 8)))));
    assert!(image.parts[0].is_empty);
    let variable =
        Image::read(b".version 7.8\n.target sm_90\n.global .b32 x[2] = {1, 2};\n.pragma \"x\";").unwrap();
    assert!(variable.parts[0].is_empty);
    assert!(!Image::read(PTX.as_bytes()).unwrap().parts[0].is_empty);
    for other in [&b"__global__ void k() {}"[..], b"", b"// .version 8.4"] {
        assert_eq!(Image::read(other), Err(ImageError::Unknown));
    }
}

/// The flags that `ptxas` of CUDA 13.0 and NVRTC of CUDA 11.7 write.
#[test]
fn the_architecture_of_machine_code_is_among_its_flags() {
    for (revision, flags, text, older, same) in [
        (8, 0x0600_5a04, "machine code for sm_90", false, true),
        (8, 0x0600_6402, "machine code for sm_100", false, false),
        (7, 0x0050_0550, "machine code for sm_80", false, false),
    ] {
        let image = Image::read(&elf(revision, flags)).unwrap();
        assert_eq!(image.to_string(), text);
        assert_eq!((image.runs_on(of(7, 0)), image.runs_on(OF_90)), (older, same));
        assert_eq!(image.least_driver(OF_90), None);
    }
    let mut program = elf(8, 0x5a04);
    program[18] = 62;
    assert_eq!(Image::read(&program), Err(ImageError::Unknown));
}

#[test]
fn containers_are_read_one_after_another_and_no_further_than_they_are() {
    let first = fatbin(&[(2, 0, 0, 80), (1, 8, 5, 80), (8, 0, 0, 90)]);
    let second = fatbin(&[(2, 0, 0, 80), (2, 0, 0, 86)]);
    let both = [&first[..], &[0; 8], &second].concat();
    let image = Image::read(&both).unwrap();
    assert_eq!(image.to_string(), "machine code for sm_80, PTX 8.5 for sm_80, machine code for sm_86");
    assert!(image.runs_on(of(8, 9)) && image.runs_on(OF_90) && !image.runs_on(of(7, 5)));
    assert_eq!(image.least_driver(of(8, 9)), None);
    assert_eq!(image.least_driver(OF_90), Some(Version::new(12, 5)));
    // Zeros after the last container are padding.
    assert_eq!(Image::read(&[&both[..], &[0; 9]].concat()), Ok(image));
}

/// Every truncation is detected, and no size in an image leads outside of it.
#[test]
fn every_truncation_is_noticed() {
    let fatbin = fatbin(&[(2, 0, 0, 80), (1, 8, 5, 80), (8, 0, 0, 90)]);
    for whole in [&elf(8, 0x5a04), &fatbin] {
        assert!(Image::read(whole).is_ok());
        for end in 4..whole.len() {
            let cut = Image::read(&whole[..end]);
            assert!(matches!(cut, Err(ImageError::Damaged(_))), "{end} of {}: {cut:?}", whole.len());
        }
    }
    // Truncated PTX may be complete, up to a statement's end.
    let ends: Vec<usize> =
        (0..PTX.len()).filter(|end| Image::read(&PTX.as_bytes()[..*end]).is_ok()).collect();
    let shown = |end: &usize| PTX[..*end].trim_end().lines().last().unwrap_or_default();
    let mut last: Vec<_> = ends.iter().map(shown).collect();
    last.dedup();
    let expected = [
        ".target sm_80",
        ".address_size 64",
        ".file 1 \"a.cu\"",
        ".global .align 4 .b8 table[4] = {1, 2, 3, 4};",
        "}",
        "/* { */",
        "}",
    ];
    assert_eq!(last, expected);
}

#[test]
fn every_flipped_bit_ends_in_an_answer() {
    let fatbin = fatbin(&[(2, 0, 0, 80), (1, 8, 5, 80)]);
    for whole in [&elf(8, 0x5a04)[..], &fatbin, PTX.as_bytes()] {
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = Image::read(&flipped);
            // Half of an image is damaged. Half of a text may be complete.
            let half = Image::read(&flipped[..whole.len() / 2]);
            assert!(half.is_err() || whole.is_ascii(), "bit {bit} of {}: {half:?}", whole.len());
        }
    }
}

#[test]
fn contradictions_are_named() {
    let whole = fatbin(&[(2, 0, 0, 80)]);
    let mut longer = whole.clone();
    longer[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_damaged(&longer, "claims 18446744073709551615 bytes");
    let mut endless = whole.clone();
    endless[20..32].fill(0);
    assert_damaged(&endless, "an entry of a container claims 0 bytes");
    assert_damaged(&[&whole[..], b"more"].concat(), "4 bytes after a container");
    let mut inner = whole;
    inner[16 + 64 + 40] = 0xff;
    assert_damaged(&inner, "in a container, machine code for sm_80: its table of sections is beyond its end");

    let mut section = elf(8, 0x5a04);
    section[144 + 33] = 1;
    assert_damaged(&section, "a section is beyond its end: 272 bytes at 64 of 208 bytes");
    let mut odd = elf(8, 0x5a04);
    odd[58] = 63;
    assert_damaged(&odd, "entries of its table of sections have 63 bytes");

    let with = |text: &str| format!(".version 8.5\n.target sm_80\n{text}").into_bytes();
    assert_damaged(&with(".entry f() {}\n\0.entry g() {}"), "a NUL at byte 41");
    assert!(Image::read(&with(".entry f() {}\n\0\0")).is_ok(), "a C string");
    assert_damaged(&with(".entry f() {)}"), "a `)` closes nothing");
    assert_damaged(&with(".entry f() {} \x1b[2J"), "byte 0x1b is no character");
    assert_damaged(&with(&format!(".entry f() {}", "{".repeat(1000))), "nested more than 256 deep");
    assert_damaged(b".version 8\n.target sm_80\n", "`.version` has no number");
    assert_damaged(b".version 8.5\n.target sm_8", "`.target` has no architecture");
}

/// PTX of which anything is cut off is damaged, or code that a driver loads: none is called whole
/// for nothing.
#[test]
fn every_truncation_of_ptx_is_noticed_or_loads() {
    in_context(|cx| {
        for ptx in [
            include_str!("../../kernels/saxpy.ptx"),
            include_str!("../../kernels/reduce_shared.ptx"),
            include_str!("../../kernels/signatures.ptx"),
        ] {
            assert!(!Image::read(ptx.as_bytes()).unwrap().parts[0].is_empty);
            let (mut whole, mut loaded) = (0, "");
            for end in 0..ptx.len() {
                match Image::read(&ptx.as_bytes()[..end]) {
                    // Comments and blanks that follow are cut off one by one.
                    Ok(_) if ptx[..end].trim_end() == loaded => whole += 1,
                    Ok(_) => {
                        loaded = ptx[..end].trim_end();
                        Module::load_ptx(cx, loaded).unwrap_or_else(|error| panic!("{loaded}\n{error}"));
                        whole += 1;
                    }
                    Err(ImageError::Damaged(why)) => assert!(!why.is_empty()),
                    Err(other) => assert!(!ptx[..end].contains(".version "), "{end}: {other}"),
                }
            }
            assert!(whole > 0 && whole < ptx.len() / 2, "{whole} of {}", ptx.len());
        }
    });
}
