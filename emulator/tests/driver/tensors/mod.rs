//! Copies of parts of tensors by the driver's tensor maps, compared element by element with their
//! definition, and with an H100's: `tests/data/goldens/hopper.txt`, printed by
//! `tests/gpu/hopper.cpp`.

mod damaged;
mod interleaved;

use core::ffi::c_void;
use std::ptr::null_mut;

use cuprum_sys::*;

use cuprum_testing::driver_calls::{TestContext, alloc, code, ok, read, write};
use cuprum_testing::hopper::{Random, fill, fingerprint, lines};

const TENSOR_BYTES: usize = 65536;
const TILE_BYTES: usize = 24576;

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
    /// True if the kernel waits for all bytes of a load.
    waits: bool,
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
            waits: true,
        }
    }

    fn is_columns(&self) -> bool {
        !self.lower.is_empty()
    }

    /// Encodes the map of a tensor at this address. Fails with the code of its refusal.
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

    fn bytes(&self) -> u32 {
        if self.interleave != 0 {
            return self.slices() * (8 << self.interleave);
        }
        let element = self.element_bytes() as u32;
        let count = |axis: usize| match self.is_columns() || axis == 0 {
            true => self.tile[axis],
            false => self.tile[axis].div_ceil(self.steps[axis]),
        };
        (0..self.tile.len()).map(count).product::<u32>() * element
    }

    /// Returns the number of slices of an interleaved tensor that arrive: one per pixel.
    fn slices(&self) -> u32 {
        if self.is_columns() {
            return self.tile[1];
        }
        let rank = self.sizes.len();
        let axes = (0..rank).filter(|axis| axis + 2 != rank);
        axes.map(|axis| self.tile[axis].div_ceil(self.steps[axis])).product()
    }

    /// Returns a kernel that fills shared memory, copies, and outputs the contents.
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
                        [%b]{offsets}; {}",
                    self.bytes(),
                    if self.waits { "W: mbarrier.test_wait.parity.shared.b64 %more, [%b], 0; @!%more bra W;" } else { "" }
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

    /// Runs its kernel, and returns the code of the wait for it. After a fault the context's end
    /// unloads the module.
    fn launch(&self, map: &mut CUtensorMap, tile: &mut CUdeviceptr, out: &mut CUdeviceptr) -> CUresult {
        let image = self.kernel();
        let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
        let loaded = code!(cuModuleLoadData(&mut module, image.as_ptr().cast()));
        assert_eq!(loaded, CUresult::CUDA_SUCCESS, "{image}");
        ok!(cuModuleGetFunction(&mut function, module, c"k".as_ptr()));
        let [map, tile, out] = [(&raw mut *map).cast(), (&raw mut *tile).cast(), (&raw mut *out).cast()];
        let (stream, mut args): (_, [*mut c_void; 3]) = (CUstream::null(), [map, tile, out]);
        ok!(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, args.as_mut_ptr(), null_mut()));
        let done = code!(cuCtxSynchronize());
        if done == CUresult::CUDA_SUCCESS {
            ok!(cuModuleUnload(module));
        }
        done
    }

    /// Returns its result in the format of the recording, on this device.
    fn run(&self) -> String {
        let mut random = Random(7);
        let (mut memory, mut tile) = (vec![0u8; TENSOR_BYTES], vec![0u8; TILE_BYTES]);
        fill(&mut memory, &self.fill, &mut random);
        let loads = self.operation == "load";
        fill(&mut tile, if loads { "any" } else { &self.fill }, &mut random);
        let [on_device, mut tile_at, mut out] = [TENSOR_BYTES, TILE_BYTES, TILE_BYTES].map(alloc);
        write(on_device, &memory);
        write(tile_at, &tile);
        let mut map = match self.map(on_device) {
            Ok(map) => map,
            Err(code) => return format!("not encoded {}", code.0),
        };
        let done = self.launch(&mut map, &mut tile_at, &mut out);
        if done != CUresult::CUDA_SUCCESS {
            return format!("failed {}", done.0);
        }
        let word = self.start / 4;
        let text = match loads {
            true => {
                let places = [0, 1, 4, 8, 32, 64].map(|place| word + place);
                fingerprint(&read::<u8>(out, TILE_BYTES), &places)
            }
            false => fingerprint(&read::<u8>(on_device, TENSOR_BYTES), &[0, 1, 4, 8, 32, 64]),
        };
        [on_device, tile_at, out].into_iter().for_each(|pointer| ok!(cuMemFree_v2(pointer)));
        text
    }

    fn element_bytes(&self) -> usize {
        [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4][self.element as usize]
    }

    /// Returns each element of the part: its offset in shared memory, and in the tensor if inside.
    fn pairs(&self) -> Vec<(usize, Option<usize>)> {
        let size = self.element_bytes();
        let rank = self.sizes.len();
        let inner = self.tile[0] as usize;
        let pitch = if self.swizzle == 0 { inner * size } else { 16 << self.swizzle };
        let mut pairs = Vec::new();
        for (row, point) in self.rows().into_iter().enumerate() {
            for x in 0..inner {
                let at: Vec<i64> =
                    std::iter::once(point[0] + x as i64).chain(point[1..].iter().copied()).collect();
                let inside = at.iter().zip(&self.sizes).all(|(at, size)| (0..*size as i64).contains(at));
                let strides = std::iter::once(size as u64).chain(self.strides.iter().copied());
                let place = inside
                    .then(|| at.iter().zip(strides).map(|(at, step)| *at as usize * step as usize).sum());
                let mut shared = self.start + row * pitch + x * size;
                // Rows of 128 bytes are counted in eighths, from the start of shared memory.
                let chunk = shared / 16 % 8;
                shared = shared / 128 * 128
                    + (chunk ^ ((shared / 128) & ((1 << self.swizzle) - 1))) * 16
                    + shared % 16;
                pairs.push((shared, place));
            }
        }
        assert_eq!(rank, self.at.len());
        pairs
    }

    fn rows(&self) -> Vec<Vec<i64>> {
        let start: Vec<i64> = self.at.iter().map(|at| i64::from(*at)).collect();
        let rank = start.len();
        if !self.is_columns() {
            let mut rows = vec![start];
            for axis in 1..rank {
                let steps = (0..i64::from(self.tile[axis])).step_by(self.steps[axis] as usize);
                let moved = |step: i64| {
                    rows.iter().cloned().map(move |mut row| {
                        row[axis] += step;
                        row
                    })
                };
                rows = steps.flat_map(moved).collect();
            }
            return rows;
        }
        let mut pixel = start;
        let mut rows = Vec::new();
        for _ in 0..self.tile[1] {
            let mut row = pixel.clone();
            row[1..rank - 1].iter_mut().zip(&self.offsets).for_each(|(at, offset)| *at += i64::from(*offset));
            rows.push(row);
            let mut axis = 1;
            pixel[axis] += i64::from(self.steps[axis]);
            while axis < rank - 1 && pixel[axis] >= self.sizes[axis] as i64 + i64::from(self.upper[axis - 1])
            {
                pixel[axis] = self.lower[axis - 1].into();
                axis += 1;
                pixel[axis] += if axis < rank - 1 { i64::from(self.steps[axis]) } else { 1 };
            }
        }
        rows
    }

    /// Returns the defined result of a copy without an operation.
    fn by_definition(&self) -> String {
        let mut random = Random(7);
        let (mut memory, mut tile) = (vec![0u8; TENSOR_BYTES], vec![0u8; TILE_BYTES]);
        fill(&mut memory, &self.fill, &mut random);
        let loads = self.operation == "load";
        fill(&mut tile, if loads { "any" } else { &self.fill }, &mut random);
        let size = self.element_bytes();
        for (shared, place) in self.pairs() {
            match (loads, place) {
                (true, Some(place)) => {
                    tile[shared..shared + size].copy_from_slice(&memory[place..place + size])
                }
                (true, None) => tile[shared..shared + size].fill(0),
                (false, Some(place)) => {
                    memory[place..place + size].copy_from_slice(&tile[shared..shared + size])
                }
                (false, None) => {}
            }
        }
        let word = if loads { self.start / 4 } else { 0 };
        fingerprint(if loads { &tile } else { &memory }, &[0, 1, 4, 8, 32, 64].map(|place| word + place))
    }
}

/// Cases in the format of the recording: operation, type, contents, sizes, strides, part, steps,
/// interleave, swizzle, fill, corners, coordinates, offsets, start in shared memory.
const CASES: [&str; 26] = [
    "load 2 any 100 - 64 1 0 0 0 - - 40 - 0",
    "load 0 any 100 - 64 1 0 0 0 - - -16 - 0",
    "load 1 any 64,32 128 16,8 1,1 0 0 0 - - 8,4 - 0",
    "load 1 any 60,30 128 16,8 1,1 0 0 0 - - 48,25 - 0",
    "load 1 any 60,30 128 16,8 1,1 0 0 0 - - -8,-2 - 0",
    "load 1 any 60,30 128 16,8 1,1 0 0 0 - - -16,100 - 0",
    "load 7 any 10,9,8 48,480 4,3,5 1,1,1 0 0 0 - - 8,-1,5 - 0",
    "load 4 any 6,5,4,3 48,240,1024 4,2,3,2 1,1,1,1 0 0 0 - - 2,4,-1,2 - 0",
    "load 2 any 5,4,3,3,3 32,128,512,1536 4,2,3,2,2 1,1,1,1,1 0 0 0 - - 4,3,1,-1,2 - 0",
    "load 6 any 256,64 512 64,32 1,1 0 3 0 - - 64,8 - 0",
    "load 6 any 256,64 512 32,32 1,1 0 2 0 - - 64,8 - 0",
    "load 6 any 256,64 512 16,32 1,1 0 1 0 - - 64,8 - 0",
    "load 6 any 256,64 512 64,32 1,1 0 3 0 - - 64,8 - 896",
    "load 6 any 256,64 512 32,32 1,1 0 2 0 - - 64,8 - 128",
    "load 0 any 64,16,8 64,1024 64,4,4 1,1,1 0 2 0 - - 16,3,6 - 0",
    "load 1 any 64,32 128 16,8 1,2 0 0 0 - - 8,5 - 0",
    "load 1 any 64,16,8 128,2048 32,7,5 1,3,2 0 2 0 - - 0,-2,4 - 0",
    "store 6 any 256,64 512 64,32 1,1 0 3 0 - - 64,8 - 0",
    "store 6 any 256,64 512 32,32 1,1 0 2 0 - - 240,50 - 1024",
    "store 1 any 60,30 128 16,8 1,1 0 0 0 - - -8,-2 - 0",
    "store 2 any 5,4,3,3,3 32,128,512,1536 4,2,3,2,2 1,1,1,1,1 0 0 0 - - 4,3,1,-1,2 - 0",
    "load 1 any 16,9,7,3 32,512,4096 16,20 1,1,1,1 0 0 0 0,0 0,0 0,2,1,0 0,0 0",
    "load 1 any 16,9,7,3 32,512,4096 16,20 1,1,1,1 0 0 0 -1,-1 -1,-1 0,5,4,1 2,1 0",
    "load 1 any 16,9,7,3 32,512,4096 8,20 1,2,2,1 0 0 0 -1,-1 -1,-1 8,-1,1,2 1,2 0",
    "load 2 any 8,20,5 64,2048 8,30 1,1,1 0 0 0 -2 -1 0,15,1 1 0",
    "store 1 any 16,9,7,3 32,512,4096 16,20 1,1,1,1 0 0 0 0,0 0,0 0,2,1,0 0,0 0",
];

#[test]
fn copies_of_tensors_are_what_they_are_by_definition() {
    let _context = TestContext::new();
    for line in CASES {
        let case = Case::parse(line);
        assert_eq!(case.run(), case.by_definition(), "{line}");
    }
}

#[test]
fn reductions_of_tensors_combine_element_by_element() {
    let _context = TestContext::new();
    let case = |operation: &str, element: u32| {
        Case::parse(&format!("{operation} {element} any 64,32 256 16,8 1,1 0 0 0 - - 0,0 - 0"))
    };
    let [sum, or, xor] = ["add", "or", "xor"].map(|operation| case(operation, 2).run());
    let all = [&sum, &or, &xor];
    assert!(all.iter().enumerate().all(|(index, one)| !all[..index].contains(one)), "{all:?}");
    // The type affects the order of numbers.
    assert_ne!(case("min", 2).run(), case("min", 3).run());
    assert_eq!(case("add", 2).run(), case("add", 3).run());
}

#[test]
fn copies_of_tensors_are_those_of_a_gpu() {
    let mut wrong = Vec::new();
    let cases: Vec<_> =
        lines("tensor ").into_iter().map(|(line, wanted)| (Case::parse(&line), line, wanted)).collect();
    assert!(cases.len() >= 71, "{} cases: the recording is cut off", cases.len());
    for (case, line, wanted) in &cases {
        let mut context = CUcontext::null();
        ok!(cuCtxCreate_v2(&mut context, 0, 0));
        let ours = case.run();
        // It returns the fault of the context, if any.
        let _ = code!(cuCtxDestroy_v2(context));
        if ours != *wanted {
            wrong.push(format!("{line}\n    {ours}\n    {wanted}, recorded"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
