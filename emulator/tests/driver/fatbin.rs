//! Modules from fat binaries. The three in `data/` contain the PTX of `kernels/saxpy.cu` for
//! compute capability 7.5 and of `kernels/fill.cu` for 5.2. NVIDIA's `fatbinary` created them with
//! `--compress-mode=none`, `speed` and `size`.

use core::ffi::c_void;
use core::ptr::null;

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const PLAIN: &[u8] = include_bytes!("../data/plain.fatbin");
const LZ4: &[u8] = include_bytes!("../data/lz4.fatbin");
const ZSTD: &[u8] = include_bytes!("../data/zstd.fatbin");

/// Offsets in the container: the first entry, and the fields of an entry's header.
const FIRST_ENTRY: usize = 16;
const KIND: usize = 0;
const HEADER_BYTES: usize = 4;
const PAYLOAD_BYTES: usize = 8;
const ARCHITECTURE: usize = 28;
const COMPRESSED_BYTES: usize = 16;
const UNCOMPRESSED_BYTES: usize = 56;

/// Wrapper that a C compiler puts around a fat binary.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const c_void,
    unused: *const c_void,
}

fn load_at(image: *const c_void) -> Result<Vec<&'static str>, CUresult> {
    let mut module = CUmodule::null();
    match code!(cuModuleLoadData(&mut module, image)) {
        CUresult::CUDA_SUCCESS => {
            let mut function = CUfunction::null();
            let has = |name: &&str| {
                let name = std::ffi::CString::new(*name).unwrap();
                let result = code!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
                result == CUresult::CUDA_SUCCESS
            };
            Ok(["saxpy", "fill_f32"].into_iter().filter(has).collect())
        }
        code => Err(code),
    }
}

fn load(image: &[u8]) -> Result<Vec<&'static str>, CUresult> {
    load_at(image.as_ptr().cast())
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn entries(container: &[u8]) -> [usize; 2] {
    let first = FIRST_ENTRY;
    let length = number(container, first + HEADER_BYTES) + number(container, first + PAYLOAD_BYTES);
    [first, first + length]
}

#[test]
fn the_best_ptx_is_found_however_it_is_packed() {
    let _context = TestContext::new();
    for container in [PLAIN, LZ4, ZSTD] {
        assert_eq!(load(container).unwrap(), ["saxpy"]);
        // With machine code in place of the newer PTX, the older PTX is used.
        let mut changed = container.to_vec();
        changed[FIRST_ENTRY + KIND] = 2;
        assert_eq!(load(&changed).unwrap(), ["fill_f32"]);
    }
    let wrapper = Wrapper { magic: 0x4662_43b1, version: 1, data: ZSTD.as_ptr().cast(), unused: null() };
    assert_eq!(load_at((&raw const wrapper).cast()).unwrap(), ["saxpy"]);
}

#[test]
fn nothing_that_fits_is_an_error_of_its_own() {
    let _context = TestContext::new();
    let no_binary = Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
    let mut machine_code = PLAIN.to_vec();
    let mut too_new = PLAIN.to_vec();
    for entry in entries(PLAIN) {
        machine_code[entry + KIND] = 2;
        too_new[entry + ARCHITECTURE] = 120;
    }
    assert_eq!(load(&machine_code), no_binary);
    assert_eq!(load(&too_new), no_binary);
}

#[test]
fn broken_containers_are_refused() {
    let _context = TestContext::new();
    for container in [LZ4, ZSTD] {
        let payload = FIRST_ENTRY + number(container, FIRST_ENTRY + HEADER_BYTES);
        let mut seed = 1u32;
        for _ in 0..500 {
            let mut broken = container.to_vec();
            for _ in 0..4 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = payload + seed as usize / 7 % (container.len() - payload);
                broken[at] ^= (seed >> 16) as u8 | 1;
            }
            // Must not crash; it may still be valid PTX by chance.
            let _ = load(&broken);
        }
        let mut cut = container.to_vec();
        cut[payload..payload + 16].fill(0xff);
        assert_eq!(load(&cut), Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
    }
}

/// Loads on another thread, so that the test of an endless load ends.
fn load_soon(image: Vec<u8>) -> Result<Vec<&'static str>, CUresult> {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let _context = TestContext::new();
        send.send(load(&image)).unwrap();
    });
    receive.recv_timeout(std::time::Duration::from_secs(20)).expect("the answer within 20 s")
}

#[test]
fn entries_without_length_end_the_list() {
    let mut endless = PLAIN.to_vec();
    let entry = &mut endless[FIRST_ENTRY..];
    entry[KIND] = 2;
    entry[HEADER_BYTES..HEADER_BYTES + 4].fill(0);
    entry[PAYLOAD_BYTES..PAYLOAD_BYTES + 8].fill(0);
    assert_eq!(load_soon(endless), Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU));
}

#[test]
fn a_wrapper_around_a_wrapper_is_refused() {
    let mut bytes = Box::new([0u64; 3]);
    bytes[0] = 1 << 32 | 0x4662_43b1;
    bytes[1] = bytes.as_ptr().addr() as u64;
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let _context = TestContext::new();
        send.send(load_at(bytes.as_ptr().cast())).unwrap();
    });
    let answer = receive.recv_timeout(std::time::Duration::from_secs(20)).expect("the answer within 20 s");
    assert_eq!(answer, Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
}

#[test]
fn a_file_is_never_read_beyond_its_end() {
    let _context = TestContext::new();
    let folder = std::env::temp_dir();
    let mut too_long = PLAIN.to_vec();
    too_long[8..16].copy_from_slice(&(1u64 << 40).to_le_bytes());
    // A wrapper contains an address of the process that created it.
    let mut wrapper = 0x4662_43b1_u32.to_le_bytes().to_vec();
    wrapper.extend([1, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]);
    for (name, bytes) in [("long", too_long), ("cut", PLAIN[..8].to_vec()), ("wrapper", wrapper)] {
        let path = folder.join(format!("cuprum-{}-{name}.fatbin", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let text = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        let mut module = CUmodule::null();
        let code = code!(cuModuleLoad(&mut module, text.as_ptr()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(code, CUresult::CUDA_ERROR_INVALID_IMAGE, "{name}");
    }
}

/// Returns a container with one entry, compressed with Zstandard, that claims this size.
fn packed(frame: &[u8], claims: u64) -> Vec<u8> {
    let header = number(ZSTD, FIRST_ENTRY + HEADER_BYTES);
    let mut container = ZSTD[..FIRST_ENTRY + header].to_vec();
    let padded = frame.len().next_multiple_of(8);
    let entry = &mut container[FIRST_ENTRY..];
    entry[PAYLOAD_BYTES..PAYLOAD_BYTES + 8].copy_from_slice(&(padded as u64).to_le_bytes());
    entry[COMPRESSED_BYTES..COMPRESSED_BYTES + 4].copy_from_slice(&(frame.len() as u32).to_le_bytes());
    entry[UNCOMPRESSED_BYTES..UNCOMPRESSED_BYTES + 8].copy_from_slice(&claims.to_le_bytes());
    container.extend(frame);
    container.resize(FIRST_ENTRY + header + padded, 0);
    let files = (container.len() - FIRST_ENTRY) as u64;
    container[8..16].copy_from_slice(&files.to_le_bytes());
    container
}

/// Returns a frame of 12-byte blocks that each repeat four bytes about a hundred thousand times.
fn bomb(blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    // A raw block of eight bytes, to repeat.
    frame.extend([8 << 3, 0, 0]);
    frame.extend([b'x'; 8]);
    for block in 0..blocks {
        let body = [0, 0xff, 0xff, 0xff, 0x54, 0, 0, 31, 1];
        let header = body.len() << 3 | 2 << 1 | usize::from(block + 1 == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(body);
    }
    frame
}

/// The most memory that this process ever had, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[test]
#[cfg(target_os = "linux")]
fn a_small_container_does_not_become_a_huge_one() {
    let _context = TestContext::new();
    let frame = bomb(140);
    assert!(frame.len() < 1700);
    let before = peak();
    assert_eq!(load(&packed(&frame, u64::MAX)), Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    assert_eq!(load(&packed(&frame, 1 << 32)), Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    assert_eq!(load(&packed(&frame, 200 << 20)), Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
    let grown = peak() - before;
    assert!(grown < 64 << 20, "{grown} bytes");
}
