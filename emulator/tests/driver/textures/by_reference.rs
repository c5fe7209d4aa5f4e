//! Textures and surfaces compared with references in plain Rust; misuse and refusals.

use crate::textures::{self, Resource};
use core::ffi::c_void;
use cuprum_engine::exec::texture::{AddressMode, Channel, Format, Handle, Level, Object, Sampler, Shape};
use cuprum_engine::exec::{ExecOptions, Execution, Hooks, LaunchArgs, launch};
use cuprum_engine::report::FaultKind;
use cuprum_ptx::program::{LoadOptions, Program, PtxErrorKind};
use cuprum_sys::*;
use cuprum_testing::device::{Args, Device};
use cuprum_testing::driver_calls::{TestContext, code, ok};
use cuprum_testing::processes::in_child;
use std::sync::Arc;

/// Hooks with one object, whose handle is 7.
struct OneObject(Arc<Object>);

impl Hooks for OneObject {
    fn print(&self, _: &str) {}
    fn malloc(&self, _: u64) -> u64 {
        0
    }
    fn free(&self, _: u64) -> bool {
        false
    }
    fn object(&self, handle: u64, surface: bool) -> Handle {
        let known = handle == 7 && surface == self.0.sampler.is_none();
        if known { Handle::Live(Arc::clone(&self.0)) } else { Handle::Unknown }
    }
}

/// Returns the texel that the reference reads; `None` for the border.
fn wrapped(index: i64, size: i64, mode: AddressMode) -> Option<i64> {
    match mode {
        AddressMode::Wrap => Some((index % size + size) % size),
        AddressMode::Mirror => {
            let turn = (index % (2 * size) + 2 * size) % (2 * size);
            Some(if turn < size { turn } else { 2 * size - 1 - turn })
        }
        AddressMode::Border => (0..size).contains(&index).then_some(index),
        _ => Some(index.max(0).min(size - 1)),
    }
}

/// Tests the engine alone in both modes: all address modes, unfiltered and with exact weights.
#[test]
fn both_modes_sample_as_the_definition_says() {
    const SIZE: [i64; 2] = [5, 3];
    let texels: Vec<f32> = (0..15).map(|i| (i * i) as f32).collect();
    // Multiples of 1/64 of a texel in normalized coordinates whose steps are exact enough.
    let places: Vec<(i64, i64)> = (-700..700).map(|i| (i * 37 % 900, i * 53 % 700)).collect();
    let mut ptx = ".version 7.7 .target sm_75 .address_size 64\n".to_owned();
    ptx += &textures::kernel("sample", "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];");
    let device = Device::load(&ptx).unwrap();
    let image = device.buffer(&texels);
    for mode in [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border] {
        for linear in [false, true] {
            let normalized = matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
            let scale = |axis: usize| if normalized { 1.0 / SIZE[axis] as f32 } else { 1.0 };
            let mut words = Vec::new();
            for (x, y) in &places {
                let place = [*x as f32 / 64.0 * scale(0), *y as f32 / 64.0 * scale(1)];
                words.extend(place.map(f32::to_bits));
                words.extend([0; 10]);
            }
            let object = Object {
                format: Format { channel: Channel::Float, channels: 1, normalized: false },
                shape: Shape { dimensions: 2, layered: false, cube: false },
                levels: vec![Level { address: image.address(), size: [5, 3, 1], pitch: 20, slice: 60 }],
                sampler: Some(Sampler {
                    modes: [mode; 3],
                    linear,
                    normalized,
                    integer: false,
                    srgb: false,
                    seamless: false,
                    mip_linear: false,
                    anisotropy: 0,
                    steep: true,
                    bias: 0.0,
                    least: 0.0,
                    most: 0.0,
                    border: [0.5, 0.0, 0.0, 0.0],
                }),
                linear_memory: false,
            };
            let texel = |x: i64, y: i64| match (wrapped(x, SIZE[0], mode), wrapped(y, SIZE[1], mode)) {
                (Some(x), Some(y)) => texels[(y * SIZE[0] + x) as usize],
                _ => 0.5,
            };
            let expected = places.iter().map(|(x, y)| {
                if !linear {
                    return texel(x.div_euclid(64), y.div_euclid(64));
                }
                let (x, y) = (x - 32, y - 32);
                let (i, j) = (x.div_euclid(64), y.div_euclid(64));
                let (a, b) = (x.rem_euclid(64) as f32 / 64.0, y.rem_euclid(64) as f32 / 64.0);
                let row = |j| texel(i, j) * (1.0 - a) + texel(i + 1, j) * a;
                row(j) * (1.0 - b) + row(j + 1) * b
            });
            let expected: Vec<f32> = expected.collect();
            let hooks = OneObject(Arc::new(object));
            for execution in [Execution::Plain, Execution::Vector] {
                let (from, to) = (device.buffer(&words), device.buffer(&vec![0f32; 4 * places.len()]));
                let count = places.len() as u32;
                let args = Args::default().push(7u64).buffer(&from).buffer(&to).push(count);
                let launched = LaunchArgs {
                    kernel: device.program.kernel("sample").unwrap(),
                    globals: &[],
                    grid: [count.div_ceil(64), 1, 1],
                    block: [64, 1, 1],
                    dynamic_shared: 0,
                    params: args.bytes(),
                    cluster: None,
                    cooperative: false,
                    grid_workspace: 0,
                };
                let options = ExecOptions { mode: execution, ..ExecOptions::default() };
                launch(&launched, &device.memory.snapshot(), &options, &hooks).unwrap();
                let ours: Vec<f32> = to.read::<f32>().into_iter().step_by(4).collect();
                for ((x, y), (ours, expected)) in places.iter().zip(ours.iter().zip(&expected)) {
                    // Weights are multiples of 1/4096 in the reference, of 1/256 in hardware.
                    let most = if linear { 196.0 * 1.5 / 256.0 } else { 0.0 };
                    // A step of the coordinate may move an edge to the previous texel.
                    if normalized && !linear && (x % 64 == 0 || y % 64 == 0) {
                        continue;
                    }
                    assert!(
                        (ours - expected).abs() <= most,
                        "{execution:?} {mode:?} linear {linear} at {x}/64 {y}/64: {ours}, not {expected}"
                    );
                }
            }
        }
    }
}

fn shape(
    width: usize,
    height: usize,
    format: CUarray_format,
    channels: u32,
    flags: u32,
) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: 0,
        Format: format,
        NumChannels: channels,
        Flags: flags,
    }
}

/// Returns modules of a kernel in both dialects.
fn dialects(name: &str) -> Vec<CUmodule> {
    ["", "dialect_100/"]
        .into_iter()
        .filter_map(|folder| {
            let path = format!("{}/../kernels/{folder}{name}.ptx", env!("CARGO_MANIFEST_DIR"));
            let mut text = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            text.push(0);
            let mut module = CUmodule::null();
            match code!(cuModuleLoadData(&mut module, text.as_ptr().cast::<c_void>())) {
                CUresult::CUDA_SUCCESS => Some(module),
                // The emulated device is older than the dialect.
                CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU | CUresult::CUDA_ERROR_INVALID_PTX
                    if !folder.is_empty() =>
                {
                    None
                }
                other => panic!("{path}: {other:?}"),
            }
        })
        .collect()
}

fn launch_on(function: CUfunction, grid: [u32; 2], arguments: &mut [*mut c_void]) -> CUresult {
    let (arguments, stream) = (arguments.as_mut_ptr(), CUstream::null());
    let extra = core::ptr::null_mut();
    ok!(cuLaunchKernel(function, grid[0], grid[1], 1, 8, 8, 1, 0, stream, arguments, extra));
    code!(cuCtxSynchronize())
}

fn argument<T>(value: &T) -> *mut c_void {
    core::ptr::from_ref(value).cast::<c_void>().cast_mut()
}

fn picture(width: usize, height: usize) -> Vec<u8> {
    (0..width * height * 4).map(|i| (i * 97 + i / 7 * 31) as u8).collect()
}

fn resized(from: &[u8], [width, height]: [usize; 2], to: [usize; 2]) -> Vec<f64> {
    let mut out = Vec::new();
    for y in 0..to[1] {
        for x in 0..to[0] {
            let place =
                |at: usize, count: usize, size: usize| (at as f64 + 0.5) / count as f64 * size as f64 - 0.5;
            let (u, v) = (place(x, to[0], width), place(y, to[1], height));
            for channel in 0..4 {
                let pixel = |i: f64, j: f64| {
                    let i = i.clamp(0.0, width as f64 - 1.0) as usize;
                    let j = j.clamp(0.0, height as f64 - 1.0) as usize;
                    f64::from(from[(j * width + i) * 4 + channel])
                };
                let (a, b) = (u - u.floor(), v - v.floor());
                let row = |j: f64| pixel(u.floor(), j) * (1.0 - a) + pixel(u.floor() + 1.0, j) * a;
                out.push(row(v.floor()) * (1.0 - b) + row(v.floor() + 1.0) * b);
            }
        }
    }
    out
}

fn linear_sampling() -> CUDA_TEXTURE_DESC {
    CUDA_TEXTURE_DESC {
        addressMode: [CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP; 3],
        filterMode: CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        mipmapFilterMode: CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        flags: CU_TRSF_NORMALIZED_COORDINATES,
        maxMipmapLevelClamp: 99.0,
        ..CUDA_TEXTURE_DESC::zeroed()
    }
}

/// Tolerance of pixels: weights are multiples of 1/256 in each direction and the result is rounded.
const PIXEL_TOLERANCE: f64 = 255.0 / 256.0 + 0.5;

#[test]
fn a_kernel_from_cuda_c_resizes_a_picture() {
    let _context = TestContext::new();
    let bytes = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
    let (from, to) = ([19, 13], [30, 21]);
    let source = Resource::array(shape(from[0], from[1], bytes, 4, 0), &picture(from[0], from[1]));
    let blank = vec![0; to[0] * to[1] * 4];
    let target = Resource::array(shape(to[0], to[1], bytes, 4, CUDA_ARRAY3D_SURFACE_LDST), &blank);
    let expected = resized(&source.texels, from, to);
    let modules = dialects("resize");
    assert!(!modules.is_empty());
    for module in modules {
        let (source, target) = (source.create().unwrap(), target.create().unwrap());
        let texture = source.texture(&linear_sampling(), None).unwrap();
        let surface = target.surface().unwrap();
        let (width, height) = (to[0] as u32, to[1] as u32);
        let function = textures::function(module, "resize");
        let mut arguments = [argument(&texture), argument(&surface), argument(&width), argument(&height)];
        assert_eq!(launch_on(function, [4, 3], &mut arguments), CUresult::CUDA_SUCCESS);
        for (i, (ours, expected)) in target.read().into_iter().zip(&expected).enumerate() {
            let off = (f64::from(ours) - expected).abs();
            assert!(off <= PIXEL_TOLERANCE, "byte {i}: {ours}, not {expected}");
        }
        ok!(cuTexObjectDestroy(texture));
        ok!(cuSurfObjectDestroy(surface));
    }
}

#[test]
fn a_level_between_two_is_a_mix_of_both() {
    let _context = TestContext::new();
    let bytes = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
    // Levels of 8, 4, 2 and 1 pixels, each of one value.
    let values = [200u8, 100, 40, 8];
    let texels: Vec<u8> =
        values.iter().zip([64, 16, 4, 1]).flat_map(|(value, count)| vec![*value; count * 4]).collect();
    let kind = CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    let source = Resource { kind, shape: shape(8, 8, bytes, 4, 0), levels: 4, texels };
    let target = Resource::array(shape(8, 8, bytes, 4, CUDA_ARRAY3D_SURFACE_LDST), &[0; 256]);
    let (source, target) = (source.create().unwrap(), target.create().unwrap());
    let texture = source.texture(&linear_sampling(), None).unwrap();
    let surface = target.surface().unwrap();
    let function = textures::function(dialects("resize")[0], "downscale");
    for (level, expected) in [(0.0f32, 200.0), (0.5, 150.0), (1.25, 85.0), (2.0, 40.0), (7.0, 8.0)] {
        let side = 8u32;
        let mut arguments =
            [argument(&texture), argument(&surface), argument(&side), argument(&side), argument(&level)];
        assert_eq!(launch_on(function, [1, 1], &mut arguments), CUresult::CUDA_SUCCESS);
        for ours in target.read() {
            assert!(
                (f64::from(ours) - expected).abs() <= PIXEL_TOLERANCE,
                "level {level}: {ours}, not {expected}"
            );
        }
    }
}

/// Runs an instruction in one thread on a texture or surface of 16 by 8 numbers. Returns the fault.
fn fault_of(
    instruction: &str,
    row: [u32; 2],
    handle: impl FnOnce(u64, u64) -> u64,
) -> (CUresult, FaultKind, u32, u32) {
    let _context = TestContext::new();
    let float = CUarray_format::CU_AD_FORMAT_FLOAT;
    let plane = Resource::array(shape(16, 8, float, 1, CUDA_ARRAY3D_SURFACE_LDST), &[0; 512]);
    let memory = plane.create().unwrap();
    let texture = memory.texture(&CUDA_TEXTURE_DESC::zeroed(), None).unwrap();
    let surface = memory.surface().unwrap();
    let module = textures::load([textures::kernel("sample", instruction)]).unwrap();
    let rows = [vec![0, 0], row.to_vec()];
    let object = handle(texture, surface);
    let code = textures::run(textures::function(module, "sample"), object, &rows).unwrap_err();
    let fault = cuprum_emulator::last_fault().unwrap();
    assert!(fault.ptx_text.contains(instruction.split(' ').next().unwrap()), "{fault}");
    (code, fault.kind, fault.thread[0], fault.ptx_line)
}

const LOAD: &str = "suld.b.2d.b32.trap %d0, [%t, {%c0, %c1}];";
const STORE: &str = "sust.b.2d.b32.trap [%t, {%c0, %c1}], %d0;";
const TEX: &str = "tex.2d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];";

// `last_fault` belongs to the whole process.
#[test]
fn wrong_use_is_reported_with_thread_and_line() {
    const THIS: &str = "textures::by_reference::wrong_use_is_reported_with_thread_and_line";
    in_child(THIS, &[], wrong_use);
}

fn wrong_use() {
    let text = |kind: FaultKind| match kind {
        FaultKind::Object(text) => text,
        other => panic!("{other:?}"),
    };
    let illegal = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    for instruction in [LOAD, STORE] {
        let (code, kind, thread, line) = fault_of(instruction, [64, 1], |_, surface| surface);
        assert_eq!((code, thread), (illegal, 1));
        assert!(line > 0);
        let text = text(kind);
        assert!(text.contains("byte 64, row 1") && text.contains("64 bytes, 8 rows"), "{text}");
        let (code, kind, thread, _) = fault_of(instruction, [2, 1], |_, surface| surface);
        assert_eq!((code, kind, thread), (CUresult::CUDA_ERROR_MISALIGNED_ADDRESS, FaultKind::Misaligned, 1));
    }
    let (code, kind, thread, _) = fault_of(TEX, [0, 0], |texture, _| {
        ok!(cuTexObjectDestroy(texture));
        texture
    });
    assert_eq!((code, thread), (illegal, 0));
    assert!(text(kind).contains("destroyed"));
    let (_, kind, ..) = fault_of(TEX, [0, 0], |_, surface| surface);
    assert!(text(kind).contains("surface object"));
    let (_, kind, ..) = fault_of(LOAD, [0, 0], |texture, _| texture);
    assert!(text(kind).contains("as a surface object"));
    let (_, kind, ..) = fault_of(TEX, [0, 0], |_, _| 0);
    assert!(text(kind).contains("no texture object"));
    let (code, kind, ..) = fault_of(TEX, [1, 1], |texture, _| {
        let mut resource = CUDA_RESOURCE_DESC::zeroed();
        ok!(cuTexObjectGetResourceDesc(&mut resource, texture));
        // SAFETY: the object was created from an array.
        let array = unsafe { resource.res.array };
        ok!(cuArrayDestroy(array.hArray));
        texture
    });
    assert_eq!((code, kind), (illegal, FaultKind::UseAfterFree));
}

/// No GPU executes these: drivers load no such kernel. The numbers are documented for PTX.
#[test]
fn objects_say_what_they_are() {
    let _context = TestContext::new();
    let half = CUarray_format::CU_AD_FORMAT_HALF;
    let layers = CUDA_ARRAY3D_DESCRIPTOR {
        Depth: 3,
        ..shape(6, 4, half, 2, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST)
    };
    let kind = CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    let layered = Resource { kind, shape: layers, levels: 2, texels: vec![0; (24 + 6) * 3 * 4] };
    let memory = layered.create().unwrap();
    let texture = memory.texture(&linear_sampling(), None).unwrap();
    let ask = |object: u64, text: &str| {
        let module = textures::load([textures::kernel("sample", text)]).unwrap();
        textures::run(textures::function(module, "sample"), object, &[vec![1]]).unwrap()[0]
    };
    let queries = "{ txq.width.b32 %d0, [%t]; txq.height.b32 %d1, [%t]; txq.depth.b32 %d2, [%t];
                     txq.array_size.b32 %d3, [%t]; }";
    // On an H200 too, the depth of layers is their number.
    assert_eq!(ask(texture, queries), [6, 4, 3, 3]);
    let queries = "{ txq.num_mipmap_levels.b32 %d0, [%t]; txq.channel_data_type.b32 %d1, [%t];
                     txq.channel_order.b32 %d2, [%t]; txq.normalized_coords.b32 %d3, [%t]; }";
    assert_eq!(ask(texture, queries), [2, 0x10dd, 0x10b2, 1]);
    let queries = "{ txq.level.width.b32 %d0, [%t], %c0; txq.level.height.b32 %d1, [%t], %c0; }";
    assert_eq!(ask(texture, queries)[..2], [3, 2]);

    let plane = Resource::array(shape(7, 5, half, 4, CUDA_ARRAY3D_SURFACE_LDST), &[0; 280]);
    let memory = plane.create().unwrap();
    let surface = memory.surface().unwrap();
    let queries = "{ suq.width.b32 %d0, [%t]; suq.height.b32 %d1, [%t]; suq.channel_data_type.b32 %d2, [%t];
                     suq.channel_order.b32 %d3, [%t]; }";
    assert_eq!(ask(surface, queries), [7, 5, 0x10dd, 0x10b5]);
    // Recorded on an H200: a query for a size takes objects of both kinds.
    let queries = "{ txq.width.b32 %d0, [%t]; txq.height.b32 %d1, [%t]; txq.depth.b32 %d2, [%t]; }";
    assert_eq!(ask(surface, queries)[..3], [7, 5, 0]);
    let queries = "{ suq.width.b32 %d0, [%t]; suq.height.b32 %d1, [%t]; suq.depth.b32 %d2, [%t]; }";
    assert_eq!(ask(texture, queries)[..3], [6, 4, 3]);
    let kinds =
        "{ .reg .pred %k<3>; istypep.texref %k0, %t; istypep.samplerref %k1, %t; istypep.surfref %k2, %t;
                   selp.b32 %d0, 1, 0, %k0; selp.b32 %d1, 1, 0, %k1; selp.b32 %d2, 1, 0, %k2; }";
    assert_eq!(ask(texture, kinds)[..3], [1, 0, 0]);
    assert_eq!(ask(surface, kinds)[..3], [0, 0, 1]);
}

#[test]
fn what_does_not_run_is_refused_by_line() {
    let refused = |text: &str| Program::load(text, &LoadOptions::default()).unwrap_err();
    let header = ".version 7.7\n.target sm_75\n.address_size 64\n";
    let body = "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}]";
    for (instruction, why) in [
        (format!("{body}, {{%c2, %c3}}, %c4;"), "comparison with a depth"),
        (format!("{body}, %c4;"), "comparison with a depth"),
        ("tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, %t, {%c0, %c1}];".to_owned(), "separate sampler"),
        ("suld.b.cube.b32.trap %d0, [%t, {%c0, %c1, %c2, %c2}];".to_owned(), "a cube"),
        ("tex.2dms.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c0, %c1, %c1}];".to_owned(), "geometry"),
        ("txq.squery.b32 %d0, [%t];".to_owned(), "unknown"),
    ] {
        let text = format!("{header}{}", textures::kernel("sample", &instruction));
        let line = 1 + text.lines().position(|line| line.contains(&instruction)).unwrap();
        let error = refused(&text);
        assert_eq!(error.kind, PtxErrorKind::Unsupported, "{instruction}: {error}");
        assert!(error.message.contains(why), "{instruction}: {error}");
        assert_eq!(error.line as usize, line, "{instruction}: {error}");
    }
    for variable in [
        ".texref image",
        ".surfref image",
        ".samplerref image = { addr_mode_0 = wrap, filter_mode = linear }",
    ] {
        let error = refused(&format!("{header}.global {variable};\n"));
        assert_eq!((error.kind, error.line), (PtxErrorKind::Unsupported, 4), "{error}");
        for part in [
            variable.split(' ').next().unwrap(),
            "CUDA 12 took texture and surface references",
            "cuTexObjectCreate",
        ] {
            assert!(error.message.contains(part), "{error}");
        }
    }
    for broken in ["{ addr_mode_0 = wrap", "{", "", "{ addr_mode_0 = wrap } }", "5"] {
        let error = refused(&format!("{header}.global .samplerref image = {broken};\n"));
        assert_eq!(error.kind, PtxErrorKind::Syntax, "{broken}: {error}");
    }
}
