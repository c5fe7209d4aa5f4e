//! Matrix products of a warp group, compared with an H100's: `tests/data/goldens/hopper.txt`, which
//! `tests/gpu/hopper.cpp` printed.

use crate::device::{Args, Device};
use crate::hopper::{Random, fill, fingerprint, lines};
use cuprum_engine::exec::Execution;
use cuprum_engine::report::FaultKind;
use cuprum_ptx::program::PtxErrorKind;
use cuprum_sys::CUresult;

const HEADER: &str = ".version 8.4\n.target sm_90a\n.address_size 64\n";

/// Size of the shared memory that products read; the part for `b` begins at the second constant.
const IMAGE: usize = 49152;
const B_START: usize = 16384;

fn list(name: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|index| format!("%{name}{index}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Returns a kernel that computes one product of the data at `in`. The registers with `a` and `d`
/// follow the image. `between` precedes the wait for the product.
fn kernel(form: &str, registers: usize, in_registers: bool, rest: &str, between: &str) -> String {
    kernel_of(form, None, registers, in_registers, rest, between)
}

/// Like `kernel`; with a selector, the left factor is sparse. Its positions follow `d`.
fn kernel_of(
    form: &str,
    selector: Option<&str>,
    registers: usize,
    in_registers: bool,
    rest: &str,
    between: &str,
) -> String {
    let each = |text: &dyn Fn(usize) -> String| (0..registers).map(text).collect::<String>();
    let left = if in_registers { list("a", 4) } else { "%da".to_owned() };
    let row = 4 * registers;
    format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 a, .param .u64 b, .param .u32 old) {{
        .reg .b32 %t, %s, %i, %e, %a<4>, %d<{registers}>; .reg .b64 %p, %q, %x, %da, %db; .reg .pred %more, %scale;
        .shared .align 1024 .b8 image[{IMAGE}];
        mov.u32 %t, %tid.x; ld.param.u64 %p, [in]; mul.wide.u32 %x, %t, 16; add.u64 %q, %p, %x;
        mov.u32 %s, image; mad.lo.u32 %s, %t, 16, %s; mov.u32 %i, 0;
        L: ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%q]; st.shared.v4.b32 [%s], {{%a0, %a1, %a2, %a3}};
        add.u64 %q, %q, 2048; add.u32 %s, %s, 2048; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 24; @%more bra L;
        ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%q]; add.u64 %q, %p, 51200;
        mul.wide.u32 %x, %t, {row}; add.u64 %q, %q, %x; {loads} {places}
        mov.u32 %s, image; shr.u32 %s, %s, 4; cvt.u64.u32 %x, %s; ld.param.u64 %da, [a]; ld.param.u64 %db, [b];
        add.u64 %da, %da, %x; add.u64 %db, %db, %x; ld.param.u32 %i, [old]; setp.ne.u32 %scale, %i, 0;
        ld.param.u64 %q, [out]; mul.wide.u32 %x, %t, {row}; add.u64 %q, %q, %x;
        bar.sync 0; fence.proxy.async; wgmma.fence.sync.aligned;
        wgmma.mma_async{sp}.sync.aligned.{form} {d}, {left}, %db, {chosen}%scale{comma}{rest};
        wgmma.commit_group.sync.aligned; {between} wgmma.wait_group.sync.aligned 0; {stores} ret; }}",
        loads = each(&|index| format!("ld.global.b32 %d{index}, [%q+{}]; ", 4 * index)),
        stores = each(&|index| format!("st.global.b32 [%q+{}], %d{index}; ", 4 * index)),
        d = list("d", registers),
        sp = if selector.is_some() { ".sp" } else { "" },
        chosen = selector.map_or(String::new(), |selector| format!("%e, {selector}, ")),
        places = match selector {
            Some(_) => format!(
                "mul.wide.u32 %x, %t, 4; add.u64 %q, %p, %x; ld.global.b32 %e, [%q+{}];",
                51200 + 512 * registers
            ),
            None => String::new(),
        },
        comma = if rest.is_empty() { "" } else { ", " },
    )
}

/// Fills in the positions of the elements of a sparse factor: two in order of each four (`pairs`),
/// one of each two (`ones`), or any bits.
fn fill_places(bytes: &mut [u8], kind: &str, random: &mut Random) {
    for word in bytes.chunks_exact_mut(4) {
        let bits = (0..32).step_by(4).fold(0, |bits, at| {
            let next = random.next();
            let nibble = match kind {
                "pairs" => [0x4, 0x8, 0xc, 0x9, 0xd, 0xe][next as usize % 6],
                "ones" => [0x4, 0xe][next as usize % 2],
                _ => next & 15,
            };
            bits | nibble << at
        });
        word.copy_from_slice(&bits.to_le_bytes());
    }
}

/// Returns a kernel's inputs: the image, `a` in registers, `d`, positions of sparse elements.
fn inputs(types: &str, registers: usize, places: &str) -> Vec<u8> {
    let types: Vec<&str> = types.split(',').collect();
    let behind = 51200 + 512 * registers;
    let mut bytes = vec![0; behind + 512];
    let mut random = Random(1);
    fill(&mut bytes[..B_START], types[0], &mut random);
    fill(&mut bytes[B_START..IMAGE], types[1], &mut random);
    fill(&mut bytes[IMAGE..51200], types[0], &mut random);
    fill(&mut bytes[51200..behind], types[2], &mut random);
    fill_places(&mut bytes[behind..], places, &mut random);
    bytes
}

/// Returns devices with settings that must not affect results.
fn devices(text: &str) -> Vec<Device> {
    let load = || Device::load_for(text, 90).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let mut devices = [(); 5].map(|()| load());
    devices[1].options.mode = Execution::Plain;
    devices[2].options.seed = Some(7);
    devices[3].options.check_races = true;
    devices[3].options.check_barriers = true;
    devices[4].options.mode = Execution::Compiled;
    devices.into()
}

/// Compares the cases that begin with a word, and returns their number.
fn compare(kind: &str) -> usize {
    let mut count = 0;
    for (case, wanted) in lines(kind) {
        let is_sparse = kind == "sparse ";
        let mut words = case.splitn(if is_sparse { 9 } else { 7 }, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (form, registers, types) = (word(), word().parse().unwrap(), word());
        let [a, b] = [word(), word()].map(|word| u64::from_str_radix(word, 16).unwrap());
        let old = u32::from(word() == "1");
        let (selector, places) = if is_sparse { (Some(word()), word()) } else { (None, "") };
        let rest = word();
        for device in devices(&kernel_of(form, selector, registers, a == 0, rest, "")) {
            let input = device.buffer(&inputs(types, registers, places));
            let out = device.buffer(&vec![0u8; 512 * registers]);
            let args = Args::default().buffer(&input).buffer(&out).push(a).push(b).push(old);
            device.launch("k", 1, 128, &args).unwrap_or_else(|fault| panic!("{case}\n{fault}"));
            let places = [0, 1, 2, 3, 33, 66, 99, 127].map(|thread| match thread {
                0..=3 => thread,
                66 => 66 * registers + 1,
                127 => 127 * registers + registers - 1,
                _ => thread * registers,
            });
            assert_eq!(fingerprint(&out.read::<u8>(), &places), wanted, "{case} {:?}", device.options);
        }
        count += 1;
    }
    count
}

#[test]
fn products_are_those_of_a_gpu() {
    let count = compare("wgmma ");
    assert!(count >= 60, "{count} cases: the recording is cut off");
}

#[test]
fn sparse_products_are_those_of_a_gpu() {
    let count = compare("sparse ");
    assert!(count >= 43, "{count} cases: the recording is cut off");
}

#[test]
fn elements_of_a_sparse_factor_count_where_they_belong() {
    // Columns of `b` are 2^k for each k modulo 4: a sum counts the selections of each position.
    let text = kernel_of("m64n8k32.f32.f16.f16", Some("1"), 4, false, "1, 1, 0, 0", "");
    let device = Device::load_for(&text, 90).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = vec![0u8; 53248 + 512];
    bytes[..B_START].chunks_exact_mut(2).for_each(|half| half.copy_from_slice(&[0, 0x3c]));
    for (index, half) in bytes[B_START..IMAGE].chunks_exact_mut(2).enumerate() {
        half.copy_from_slice(&(0x3c00u16 + 0x400 * (index as u16 % 4)).to_le_bytes());
    }
    // Positions 0 and 1 for the upper rows, 2 and 3 for the eight rows below. The last two lanes of
    // each four provide them; the first two contain wrong ones.
    for lane in 0..128 {
        let places = if lane % 4 < 2 { 0u32 } else { 0xeeee_4444 };
        bytes[53248 + 4 * lane..][..4].copy_from_slice(&places.to_le_bytes());
    }
    let (input, out) = (device.buffer(&bytes), device.buffer(&[0f32; 512]));
    let args = Args::default().buffer(&input).buffer(&out);
    let args = args.push(0x10_0008_0000u64).push(0x20_0008_0400u64).push(0u32);
    device.launch("k", 1, 128, &args).unwrap_or_else(|fault| panic!("{fault}"));
    // Eight groups of four: 1 + 2 each, and 4 + 8.
    assert_eq!(out.read::<f32>()[..4], [24.0, 24.0, 96.0, 96.0]);
}

/// 32-bit elements have a position for each half. Positions that do not belong to one element mix
/// the halves of two numbers of the other factor, as on an H100.
#[test]
fn halves_of_sparse_elements_have_places_of_their_own() {
    let text = kernel_of("m64n8k16.f32.tf32.tf32", Some("0"), 4, false, "1, 1", "");
    let device = Device::load_for(&text, 90).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = vec![0u8; 53248 + 512];
    let whole = |bytes: &mut [u8], number: &dyn Fn(usize) -> f32| {
        for (index, word) in bytes.chunks_exact_mut(4).enumerate() {
            word.copy_from_slice(&number(index).to_le_bytes());
        }
    };
    whole(&mut bytes[..B_START], &|_| 1.0);
    whole(&mut bytes[B_START..IMAGE], &|index| if index % 2 == 0 { 1.0 } else { 2.0 });
    // The numbers are 0x3f800000 and 0x40000000, whose lowest 13 bits are ignored.
    for (places, number) in [
        (0b0100, 1.0),
        (0b1110, 2.0),
        (0b0110, 1.0),
        (0b1100, 2.0),
        (0b0101, f32::from_bits(0x3f80_2000)),
        (0b1111, f32::from_bits(0x4000_4000)),
        (0b1101, f32::from_bits(0x4000_2000)),
        (0b0111, f32::from_bits(0x3f80_4000)),
        (0b0000, 0.0),
        (0b1010, 0.0),
    ] {
        bytes[53248..].chunks_exact_mut(4).for_each(|word| {
            word.copy_from_slice(&(0x1111_1111u32 * places).to_le_bytes());
        });
        let (input, out) = (device.buffer(&bytes), device.buffer(&[0f32; 512]));
        let args = Args::default().buffer(&input).buffer(&out);
        let args = args.push(0x10_0008_0000u64).push(0x20_0008_0400u64).push(0u32);
        device.launch("k", 1, 128, &args).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(out.read::<f32>(), [8.0 * number; 512], "{places:04b}");
    }
}

#[test]
fn sparse_products_have_shapes_and_selectors_of_their_own() {
    let good = kernel_of("m64n8k32.f32.f16.f16", Some("1"), 4, false, "1, 1, 0, 0", "");
    assert!(Device::load_for(&good, 90).is_ok());
    let wrong = [
        ("%e, 1,", "%e, 2,"),
        ("%e, 1,", "%e, %i,"),
        ("%e, 1,", "%e,"),
        ("%e, 1,", "5, 1,"),
        ("%e, 1,", "%da, 1,"),
        ("%e, 1,", "%more, 1,"),
        ("m64n8k32", "m64n8k16"),
        ("k32.f32.f16.f16", "k64.f32.e4m3.e4m3"),
        ("k32.f32.f16.f16", "k512.s32.b1.b1.and.popc"),
        ("mma_async.sp.", "mma_async.sp::ordered_metadata."),
        ("mma_async.sp.", "mma_async."),
    ];
    for (old, new) in wrong {
        assert!(Device::load_for(&good.replace(old, new), 90).is_err(), "{new}");
    }
}

/// Returns the first result of a product of ones, with `between` before the wait, or the fault.
fn of_ones(between: &str, threads: u32, seed: Option<u64>) -> Result<Vec<f32>, FaultKind> {
    let text = kernel("m64n8k16.f32.f16.f16", 4, false, "1, 1, 0, 0", between);
    let mut device = Device::load_for(&text, 90).unwrap();
    device.options.seed = seed;
    let mut bytes = vec![0u8; 51200 + 16 * threads as usize];
    bytes[..IMAGE].chunks_exact_mut(2).for_each(|half| half.copy_from_slice(&[0, 0x3c]));
    let (input, out) = (device.buffer(&bytes), device.buffer(&vec![0f32; 4 * threads as usize]));
    let args = Args::default()
        .buffer(&input)
        .buffer(&out)
        .push(0x10_0008_0000u64)
        .push(0x10_0008_0400u64)
        .push(1u32);
    match device.launch("k", 1, threads, &args) {
        Ok(_) => Ok(out.read::<f32>()),
        Err(fault) => Err(fault.kind),
    }
}

#[test]
fn a_product_ends_where_its_registers_are_touched() {
    // As with NVIDIA's assembler, which inserts a wait.
    for seed in [None, Some(1), Some(2)] {
        assert_eq!(of_ones("", 128, seed).unwrap()[..4], [16.0; 4]);
        assert_eq!(of_ones("add.f32 %d0, %d0, 0f42C80000;", 128, seed).unwrap()[..2], [116.0, 16.0]);
        assert_eq!(of_ones("mov.f32 %d0, 0f42C80000;", 128, seed).unwrap()[..2], [100.0, 16.0]);
    }
}

#[test]
fn a_nan_of_infinities_and_zeros_is_found_where_it_is_stored() {
    let text = kernel("m64n8k16.f32.f16.f16", 4, false, "1, 1, 0, 0", "");
    for (factor, seed) in [(0x7c00u16, None), (0x7c00, Some(1)), (0x3c00, None), (0x7e00, None)] {
        let mut device = Device::load_for(&text, 90).unwrap();
        (device.options.check_nans, device.options.seed) = (true, seed);
        let mut bytes = vec![0u8; 51200 + 16 * 128];
        let halves = bytes[..B_START].chunks_exact_mut(2);
        halves.for_each(|half| half.copy_from_slice(&factor.to_le_bytes()));
        let (input, out) = (device.buffer(&bytes), device.buffer(&[0f32; 4 * 128]));
        let args = Args::default().buffer(&input).buffer(&out);
        let args = args.push(0x10_0008_0000u64).push(0x10_0008_0400u64).push(1u32);
        let faults = device.launch("k", 1, 128, &args).err();
        if factor != 0x7c00 {
            assert!(faults.is_none(), "numbers, or NaNs from memory: {faults:?}");
            continue;
        }
        let fault = faults.expect("infinities times zeros");
        assert_eq!(fault.kind, FaultKind::NanMade);
        assert_eq!(fault.related[0].note, "made of matrices of numbers");
        assert!(fault.related[0].ptx_line < fault.ptx_line, "{fault}");
    }
}

#[test]
fn factors_are_needed_until_the_wait() {
    let overwrites = "st.shared.b32 [image], 0;";
    assert_eq!(of_ones(overwrites, 128, None).unwrap()[0], 16.0);
    // With a seed, the product is computed as late as possible.
    assert_eq!(of_ones(overwrites, 128, Some(1)).unwrap()[0], 14.0);
}

#[test]
fn all_warps_of_a_group_take_part() {
    for threads in [32, 96] {
        let fault = of_ones("", threads, None).unwrap_err();
        assert_eq!(fault, FaultKind::IncompleteGroup, "{threads}");
        assert_eq!(fault.code(), CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION);
    }
    // An exited lane has no effect.
    let leaves = ".reg .pred %x0; setp.eq.u32 %x0, %t, 5; @%x0 exit;";
    let text = kernel("m64n8k16.f32.f16.f16", 4, false, "1, 1, 0, 0", "");
    let text = text.replace("bar.sync 0;", &format!("{leaves} bar.sync 0;"));
    let device = Device::load_for(&text, 90).unwrap();
    let (input, out) = (device.buffer(&vec![0u8; 53248]), device.buffer(&vec![1f32; 512]));
    let args = Args::default()
        .buffer(&input)
        .buffer(&out)
        .push(0x10_0008_0000u64)
        .push(0x10_0008_0400u64)
        .push(0u32);
    device.launch("k", 1, 128, &args).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!((out.read::<f32>()[16], out.read::<f32>()[20]), (0.0, 1.0));
}

#[test]
fn a_factor_outside_of_shared_memory_is_a_fault() {
    let text = kernel("m64n8k16.f32.f16.f16", 4, false, "1, 1, 0, 0", "");
    let device = Device::load_for(&text, 90).unwrap();
    let (input, out) = (device.buffer(&vec![0u8; 53248]), device.buffer(&vec![0f32; 512]));
    let args = Args::default()
        .buffer(&input)
        .buffer(&out)
        .push(0x10_0008_3ff0u64)
        .push(0x10_0008_0400u64)
        .push(1u32);
    assert_eq!(device.launch("k", 1, 128, &args).unwrap_err().kind, FaultKind::OutOfBounds);
}

/// Descriptors, positions and factors of any bits: early and late products have the same outcome.
#[test]
fn no_descriptor_does_more_than_fault() {
    let forms = [
        ("m64n8k16.f32.f16.f16", None, 4, "1, 1, 1, 1"),
        ("m64n8k32.f32.bf16.bf16", Some("1"), 4, "1, -1, 0, 1"),
        ("m64n24k64.s32.u8.s8.satfinite", Some("0"), 12, ""),
        ("m64n16k16.f32.tf32.tf32", Some("0"), 8, "-1, 1"),
    ];
    let mut random = Random(3);
    let mut faults = 0;
    for (form, selector, registers, rest) in forms {
        let devices = devices(&kernel_of(form, selector, registers, false, rest, ""));
        let input = inputs("any,any,any", registers, "any");
        for turn in 0..50 {
            // Every second one stays in the shared memory of the block.
            let within = if turn % 2 == 0 { 0xc00e_003f_003f_07ff } else { u64::MAX };
            let mut bits = || (u64::from(random.next()) << 33 ^ u64::from(random.next())) & within;
            let [a, b] = [bits(), bits()];
            let results = devices.iter().map(|device| {
                let input = device.buffer(&input);
                let out = device.buffer(&vec![0u32; 128 * registers]);
                let args = Args::default().buffer(&input).buffer(&out).push(a).push(b).push(1u32);
                let done = device.launch("k", 1, 128, &args);
                done.map(|_| out.read::<u32>()).map_err(|fault| fault.kind)
            });
            let results: Vec<_> = results.collect();
            assert!(results.iter().all(|result| *result == results[0]), "{form} {a:x} {b:x}: {results:?}");
            faults += usize::from(results[0].is_err());
        }
    }
    assert!((50..150).contains(&faults), "{faults} faults");
}

#[test]
fn only_the_target_with_these_instructions_has_them() {
    let good = kernel("m64n8k16.f32.f16.f16", 4, false, "1, 1, 0, 0", "");
    for (target, kind, needed) in
        [("sm_90", PtxErrorKind::Unsupported, "sm_90a"), ("sm_80", PtxErrorKind::Syntax, "sm_90")]
    {
        let error = Device::load_for(&good.replace("sm_90a", target), 90).err().unwrap();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(needed), "{error}");
    }
    let known = ["m64n8k16.f32.f16.f16", "1, 1, 0, 0", "wait_group.sync.aligned 0"];
    let wrong = [
        (known[0], "m64n12k16.f32.f16.f16"),
        (known[0], "m64n8k8.f32.f16.f16"),
        (known[0], "m64n8k16.f16.bf16.bf16"),
        (known[0], "m64n16k16.f32.f16.f16"),
        (known[0], "m64n264k16.f32.f16.f16"),
        (known[1], "2, 1, 0, 0"),
        (known[1], "1, 1, 0, 2"),
        (known[1], "1, 1, 0"),
        (known[2], "wait_group.sync.aligned %t"),
        ("mma_async.sync.aligned", "mma_async.sp.sync.aligned"),
    ];
    for (old, new) in wrong {
        assert!(Device::load_for(&good.replace(old, new), 90).is_err(), "{new}");
    }
}
