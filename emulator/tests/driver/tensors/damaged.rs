//! Copies by tensor maps with damaged bits: they end, with or without a fault.

use super::*;

/// Maps of all kinds, in the format of the recording.
const MAPS: [&str; 6] = [
    "load 2 any 100 - 64 1 0 0 0 - - 40 - 0",
    "load 6 any 256,64 512 64,32 1,1 0 3 0 - - 64,8 - 0",
    "load 1 any 24,20,10 512,6144 16,6,5 1,1,1 1 0 0 - - 0,1,2 - 0",
    "store 2 any 5,4,3,3,3 32,128,512,1536 4,2,3,2,2 1,1,1,1,1 0 0 0 - - 4,3,1,-1,2 - 0",
    "load 1 any 16,9,7,3 32,512,4096 16,20 1,1,1,1 0 0 0 -1,-1 -1,-1 0,5,4,1 2,1 0",
    "add 2 any 64,32 256 16,8 1,1 0 0 0 - - 0,0 - 0",
];

/// Runs a copy by a map, in a separate context.
fn copied(case: &Case, change: impl FnOnce(&mut CUtensorMap)) -> CUresult {
    let mut context = CUcontext::null();
    ok!(cuCtxCreate_v2(&mut context, 0, 0));
    let [memory, mut tile, mut out] = [TENSOR_BYTES, TILE_BYTES, TILE_BYTES].map(alloc);
    let mut map = case.map(memory).unwrap();
    change(&mut map);
    let code = case.launch(&mut map, &mut tile, &mut out);
    // It returns the fault of the context, if any.
    let _ = code!(cuCtxDestroy_v2(context));
    code
}

#[test]
fn copies_by_damaged_maps_end() {
    // Loads would wait for all bytes of their undamaged maps, so the kernels do not wait.
    let mut random = Random(42);
    let mut faults = 0;
    let turns = 60;
    for line in MAPS {
        let mut case = Case::parse(line);
        case.waits = false;
        assert_eq!(copied(&case, |_| {}), CUresult::CUDA_SUCCESS, "{line}");
        for _ in 0..turns {
            let code = copied(&case, |map| {
                for _ in 0..1 + random.next() % 3 {
                    let (word, bit) = (random.next() as usize % 16, random.next() % 64);
                    // The word that identifies the encoder stays, so that the others are read.
                    match (word, random.next() % 4) {
                        (1, _) => {}
                        (_, 0) => map.opaque[word] = u64::MAX << bit,
                        _ => map.opaque[word] ^= 1 << bit,
                    }
                }
            });
            faults += u32::from(code != CUresult::CUDA_SUCCESS);
        }
    }
    let all = turns * MAPS.len() as u32;
    assert!((all / 10..all).contains(&faults), "{faults} faults of {all}");
}

#[test]
fn a_map_that_nobody_encoded_or_of_another_mode_is_a_fault() {
    let [tiles, columns] = [MAPS[2], MAPS[4]].map(Case::parse);
    assert_ne!(copied(&tiles, |map| map.opaque = [0; 16]), CUresult::CUDA_SUCCESS);
    assert_ne!(copied(&tiles, |map| map.opaque = [u64::MAX; 16]), CUresult::CUDA_SUCCESS);
    let other = Case::parse("load 1 any 16,9,7 32,512 16,20 1,1,1 0 0 0 -1 -1 0,5,4 2 0");
    let context = TestContext::new();
    let map = other.map(ANYWHERE).unwrap();
    let wide = encode_wide();
    drop(context);
    assert_ne!(copied(&tiles, |to| *to = map), CUresult::CUDA_SUCCESS, "columns by an instruction for tiles");
    let map = wide;
    assert_ne!(copied(&tiles, |to| *to = map), CUresult::CUDA_SUCCESS, "a mode of later devices");
    assert_ne!(copied(&columns, |to| *to = map), CUresult::CUDA_SUCCESS, "a mode of later devices");
}

/// A valid address for a map.
const ANYWHERE: CUdeviceptr = 1 << 20;

/// Returns a map of a mode for instructions from 10.0 on, which the driver also encodes for 9.0.
fn encode_wide() -> CUtensorMap {
    let mut map = CUtensorMap::default();
    let address = core::ptr::without_provenance_mut::<c_void>(ANYWHERE as usize);
    let (sizes, strides, steps) = ([16u64, 9, 7], [32u64, 512], [1u32; 3]);
    ok!(cuTensorMapEncodeIm2colWide(
        &mut map,
        CUtensorMapDataType(1),
        3,
        address,
        sizes.as_ptr(),
        strides.as_ptr(),
        0,
        0,
        16,
        20,
        steps.as_ptr(),
        CUtensorMapInterleave(0),
        CUtensorMapIm2ColWideMode(0),
        CUtensorMapSwizzle(3),
        CUtensorMapL2promotion(0),
        CUtensorMapFloatOOBfill(0),
    ));
    map
}
