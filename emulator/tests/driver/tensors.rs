//! Copies of parts of tensors, by tensor maps of the driver, against those of an H100: the lines of
//! `tests/data/goldens/hopper.txt`, which `tests/gpu/hopper.cpp` printed.

use core::ffi::{c_uint, c_void};
use std::ptr::null_mut;

use cuprum_sys::*;

use crate::common::{TestContext, alloc, code, ok, read, write};
use crate::hopper::{Random, fill, fingerprint, lines};

const TENSOR_BYTES: usize = 65536;
const TILE_BYTES: usize = 24576;

/// Cases that are refused, by the interleave of their maps.
const NOT_YET: [u32; 2] = [1, 2];

/// A line of the recording.
struct Case {
    operation: String,
    element: u32,
    fill: String,
    sizes: Vec<u64>,
    strides: Vec<u64>,
    tile: Vec<u32>,
    steps: Vec<u32>,
    interleave: u32,
    swizzle: u32,
    outside: u32,
    lower: Vec<i32>,
    upper: Vec<i32>,
    at: Vec<i32>,
    offsets: Vec<i32>,
    start: usize,
}

fn numbers<T: std::str::FromStr>(word: &str) -> Vec<T> {
    let parts = word.split(',').filter(|part| *part != "-");
    parts.map(|part| part.parse().ok().unwrap_or_else(|| panic!("no number: {part}"))).collect()
}

impl Case {
    fn parse(line: &str) -> Case {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| words[index].parse().unwrap();
        Case {
            operation: words[0].to_owned(),
            element: number(1),
            fill: words[2].to_owned(),
            sizes: numbers(words[3]),
            strides: numbers(words[4]),
            tile: numbers(words[5]),
            steps: numbers(words[6]),
            interleave: number(7),
            swizzle: number(8),
            outside: number(9),
            lower: numbers(words[10]),
            upper: numbers(words[11]),
            at: numbers(words[12]),
            offsets: numbers(words[13]),
            start: number(14) as usize,
        }
    }

    fn is_columns(&self) -> bool {
        !self.lower.is_empty()
    }

    /// The map of a tensor that lies here, or the code of its refusal.
    fn map(&self, memory: CUdeviceptr) -> Result<CUtensorMap, CUresult> {
        let mut map = CUtensorMap::default();
        let strides: Vec<u64> = self.strides.iter().copied().chain([0]).collect();
        let address = std::ptr::without_provenance_mut::<c_void>(memory as usize);
        let (element, rank) = (CUtensorMapDataType(self.element), self.sizes.len() as u32);
        let (interleave, swizzle) =
            (CUtensorMapInterleave(self.interleave), CUtensorMapSwizzle(self.swizzle));
        let (promotion, fill) = (CUtensorMapL2promotion(0), CUtensorMapFloatOOBfill(self.outside));
        let (sizes, steps, tile) = (self.sizes.as_ptr(), self.steps.as_ptr(), self.tile.as_ptr());
        let (strides, lower, upper) = (strides.as_ptr(), self.lower.as_ptr(), self.upper.as_ptr());
        let result = if self.is_columns() {
            code!(cuTensorMapEncodeIm2col(
                &mut map,
                element,
                rank,
                address,
                sizes,
                strides,
                lower,
                upper,
                self.tile[0],
                self.tile[1],
                steps,
                interleave,
                swizzle,
                promotion,
                fill,
            ))
        } else {
            code!(cuTensorMapEncodeTiled(
                &mut map, element, rank, address, sizes, strides, tile, steps, interleave, swizzle,
                promotion, fill,
            ))
        };
        if result == CUresult::CUDA_SUCCESS { Ok(map) } else { Err(result) }
    }

    /// Bytes that arrive.
    fn bytes(&self) -> u32 {
        let element = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4][self.element as usize];
        let count = |axis: usize| match self.is_columns() || axis == 0 {
            true => self.tile[axis],
            false => self.tile[axis].div_ceil(self.steps[axis]),
        };
        (0..self.tile.len()).map(count).product::<u32>() * element
    }

    /// A kernel that fills shared memory, copies, and tells what is there then.
    fn kernel(&self) -> String {
        let list = |values: &[i32]| values.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
        let rank = self.sizes.len();
        let mode = if self.is_columns() { ".im2col" } else { ".tile" };
        let place = format!("[%m, {{{}}}]", list(&self.at));
        let copy = match self.operation.as_str() {
            "load" => {
                let offsets = match self.offsets.as_slice() {
                    [] => String::new(),
                    offsets => format!(", {{{}}}", list(offsets)),
                };
                format!(
                    "mbarrier.arrive.expect_tx.shared.b64 _, [%b], {};
                    cp.async.bulk.tensor.{rank}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes [%s], {place},
                        [%b]{offsets};
                    W: mbarrier.test_wait.parity.shared.b64 %more, [%b], 0; @!%more bra W;",
                    self.bytes()
                )
            }
            operation => {
                let (opcode, operation) = match operation {
                    "store" => ("cp", String::new()),
                    operation => ("cp.reduce", format!(".{operation}")),
                };
                let mode = if self.is_columns() { ".im2col_no_offs" } else { mode };
                format!(
                    "{opcode}.async.bulk.tensor.{rank}d.global.shared::cta{operation}{mode}.bulk_group {place}, [%s];
                    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                )
            }
        };
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64
            .visible .entry k(.param .align 64 .b8 map[128], .param .u64 tile, .param .u64 out) {{
            .reg .b32 %t, %s, %i, %b, %w<4>; .reg .b64 %p, %q, %x, %m; .reg .pred %first, %more;
            .shared .align 1024 .b8 tiles[{TILE_BYTES}]; .shared .align 8 .b64 barrier;
            mov.b64 %m, map; cvta.param.u64 %m, %m; mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0;
            ld.param.u64 %p, [tile]; mul.wide.u32 %x, %t, 16; add.u64 %q, %p, %x;
            mov.u32 %s, tiles; mad.lo.u32 %s, %t, 16, %s; mov.u32 %i, 0;
            L: ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%q]; st.shared.v4.b32 [%s], {{%w0, %w1, %w2, %w3}};
            add.u64 %q, %q, 2048; add.u32 %s, %s, 2048; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 12; @%more bra L;
            mov.u32 %b, barrier; @%first mbarrier.init.shared.b64 [%b], 1; fence.proxy.async; bar.sync 0;
            mov.u32 %s, tiles; add.u32 %s, %s, {}; @!%first bra E; {copy}
            E: bar.sync 0; ld.param.u64 %p, [out]; add.u64 %q, %p, %x;
            mov.u32 %s, tiles; mad.lo.u32 %s, %t, 16, %s; mov.u32 %i, 0;
            M: ld.shared.v4.b32 {{%w0, %w1, %w2, %w3}}, [%s]; st.global.v4.b32 [%q], {{%w0, %w1, %w2, %w3}};
            add.u64 %q, %q, 2048; add.u32 %s, %s, 2048; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 12; @%more bra M;
            ret; }}\0",
            self.start
        )
    }

    /// What the recording has for it, on this device.
    fn run(&self) -> String {
        let mut random = Random(7);
        let (mut memory, mut tile) = (vec![0u8; TENSOR_BYTES], vec![0u8; TILE_BYTES]);
        fill(&mut memory, &self.fill, &mut random);
        let loads = self.operation == "load";
        fill(&mut tile, if loads { "any" } else { &self.fill }, &mut random);
        let [on_device, tile_at, mut out] = [TENSOR_BYTES, TILE_BYTES, TILE_BYTES].map(alloc);
        write(on_device, &memory);
        let mut tile_at = {
            write(tile_at, &tile);
            tile_at
        };
        let mut map = match self.map(on_device) {
            Ok(map) => map,
            Err(code) => return format!("not encoded {}", code.0),
        };
        let image = self.kernel();
        let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
        assert_eq!(
            code!(cuModuleLoadData(&mut module, image.as_ptr().cast())),
            CUresult::CUDA_SUCCESS,
            "{image}"
        );
        ok!(cuModuleGetFunction(&mut function, module, c"k".as_ptr()));
        let mut args: [*mut c_void; 3] =
            [(&raw mut map).cast(), (&raw mut tile_at).cast(), (&raw mut out).cast()];
        let [one, threads]: [c_uint; 2] = [1, 128];
        ok!(cuLaunchKernel(
            function,
            one,
            one,
            one,
            threads,
            one,
            one,
            0,
            CUstream::null(),
            args.as_mut_ptr(),
            null_mut()
        ));
        ok!(cuCtxSynchronize());
        let word = self.start / 4;
        let text = match loads {
            true => {
                let places = [0, 1, 4, 8, 32, 64].map(|place| word + place);
                fingerprint(&read::<u8>(out, TILE_BYTES), &places)
            }
            false => fingerprint(&read::<u8>(on_device, TENSOR_BYTES), &[0, 1, 4, 8, 32, 64]),
        };
        ok!(cuModuleUnload(module));
        [on_device, tile_at, out].into_iter().for_each(|pointer| ok!(cuMemFree_v2(pointer)));
        text
    }
}

#[test]
fn copies_of_tensors_are_those_of_a_gpu() {
    let _context = TestContext::new();
    let mut wrong = Vec::new();
    let cases: Vec<_> =
        lines("tensor ").into_iter().map(|(line, wanted)| (Case::parse(&line), line, wanted)).collect();
    assert!(cases.len() >= 60, "{} cases: the recording is cut off", cases.len());
    for (case, line, wanted) in cases.iter().filter(|(case, ..)| !NOT_YET.contains(&case.interleave)) {
        let ours = case.run();
        if ours != *wanted {
            wrong.push(format!("{line}\n    {ours}\n    {wanted}, recorded"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
