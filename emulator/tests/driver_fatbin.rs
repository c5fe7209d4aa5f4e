//! Modules from fat binaries. The three in `data/` hold the PTX of `kernels/saxpy.cu` for compute
//! capability 7.5 and that of `kernels/fill.cu` for 5.2; they were made by NVIDIA's `fatbinary` with
//! `--compress-mode=none`, `speed` and `size`.

mod common;

use core::ffi::c_void;
use core::ptr::null;

use common::*;
use cuprum_sys::*;

const PLAIN: &[u8] = include_bytes!("data/plain.fatbin");
const LZ4: &[u8] = include_bytes!("data/lz4.fatbin");
const ZSTD: &[u8] = include_bytes!("data/zstd.fatbin");

/// Offsets in the container: its first entry, and what an entry's header has where.
const FIRST_ENTRY: usize = 16;
const KIND: usize = 0;
const HEADER_BYTES: usize = 4;
const PAYLOAD_BYTES: usize = 8;
const ARCHITECTURE: usize = 28;

/// What a C compiler puts around a fat binary.
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

/// The offsets of both entries.
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
        // Machine code instead of the newer one: the older PTX serves.
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
            // Not a crash; by luck it may still be PTX.
            let _ = load(&broken);
        }
        let mut cut = container.to_vec();
        cut[payload..payload + 16].fill(0xff);
        assert_eq!(load(&cut), Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
    }
}
