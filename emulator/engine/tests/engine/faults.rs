//! Kernel bugs are found, with the thread and the line.

use crate::device::{Args, Device};
use cuprum_engine::memory::Position;
use cuprum_engine::report::{Fault, FaultKind};

fn assert_line(fault: &Fault, ptx: &str, instruction: &str) {
    let line = ptx.lines().nth(fault.ptx_line as usize - 1).unwrap();
    assert!(line.contains(instruction), "line {} is `{line}`, not `{instruction}`", fault.ptx_line);
    assert_eq!(fault.ptx_text.trim(), line.trim());
}

#[test]
fn a_store_past_the_end_names_thread_line_source_and_allocation() {
    let (device, ptx) = Device::load_file("faults");
    let out = device.buffer(&[0u32; 100]);
    let args = Args::default().buffer(&out).push(102u64).push(1u32);
    let fault = device.launch("oob_write", 2, 64, &args).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert_eq!((fault.block, fault.thread, fault.lanes), ([0; 3], [0; 3], 1));
    assert_line(&fault, &ptx, "st.global");
    let (file, line) = fault.source.clone().unwrap();
    assert!(file.ends_with("faults.cu"), "{file}");
    let source =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/faults.cu")).unwrap();
    assert!(source.lines().nth(line as usize - 1).unwrap().contains("out[index] = value"));
    let access = fault.access.unwrap();
    assert_eq!((access.space, access.size, access.is_write), ("global", 4, true));
    assert_eq!(access.address, out.address() + 408);
    assert_eq!(access.allocation.unwrap().position, Position::After(8));
}

#[test]
fn a_load_past_the_end_is_a_load() {
    let (device, ptx) = Device::load_file("faults");
    let (input, out) = (device.buffer(&[0u32; 4]), device.buffer(&[0u32]));
    let args = Args::default().buffer(&input).push(4u64).buffer(&out);
    let fault = device.launch("oob_read", 1, 1, &args).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert!(!fault.access.as_ref().unwrap().is_write);
    assert_line(&fault, &ptx, "ld.global");
    assert_eq!(out.read::<u32>(), [0]);
}

#[test]
fn addresses_are_told_apart() {
    let (device, _) = Device::load_file("faults");
    let out = device.buffer(&[0u32; 2]);
    let fault = device.launch("misaligned_write", 1, 1, &Args::default().buffer(&out)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Misaligned);
    assert_eq!(fault.access.unwrap().address, out.address() + 1);

    let fault = device.launch("null_write", 1, 1, &Args::default()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::NullPointer);

    let freed = out.address();
    device.memory.free(freed).unwrap();
    let args = Args::default().push(freed).push(0u64).push(1u32);
    let fault = device.launch("oob_write", 1, 1, &args).unwrap_err();
    assert_eq!(fault.kind, FaultKind::UseAfterFree);
    assert!(fault.access.unwrap().allocation.unwrap().freed);

    let on_host = Box::new([0u32; 4]);
    let args = Args::default().push(on_host.as_ptr().addr() as u64).push(0u64).push(1u32);
    let fault = device.launch("oob_write", 1, 1, &args).unwrap_err();
    assert_eq!(fault.kind, FaultKind::HostPointer);

    // The heap of a thread can end where the device's range begins.
    let before = device.memory.windows().range - 4096;
    let fault =
        device.launch("oob_write", 1, 1, &Args::default().push(before).push(0u64).push(1u32)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::HostPointer);
}

#[test]
fn an_access_next_to_registered_bytes_names_them() {
    let (device, _) = Device::load_file("faults");
    let mut on_host = Box::new([0u32; 64]);
    let (start, own) = (on_host.as_ptr().addr() as u64, on_host.as_mut_ptr().wrapping_add(16).cast());
    // SAFETY: the box outlives the device, which stores nothing there.
    unsafe { device.memory.register(own, 64, 0, 0, 0) }.unwrap();
    for (index, position) in [(14, Position::Before(8)), (34, Position::After(8))] {
        let args = Args::default().push(start).push(index as u64).push(1u32);
        let fault = device.launch("oob_write", 1, 1, &args).unwrap_err();
        assert_eq!(fault.kind, FaultKind::HostPointer);
        assert_eq!(fault.access.unwrap().allocation.unwrap().position, position);
    }
    drop(device);
    assert_eq!(*on_host, [0; 64]);
}

#[test]
fn trap_and_assert_stop_the_kernel() {
    let (device, ptx) = Device::load_file("faults");
    let clear = device.buffer(&[0u32]);
    device.launch("trap_if", 1, 32, &Args::default().buffer(&clear)).unwrap();
    let set = device.buffer(&[1u32]);
    let fault = device.launch("trap_if", 1, 32, &Args::default().buffer(&set)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Trap);
    assert_eq!(fault.lanes, u32::MAX);
    assert_line(&fault, &ptx, "trap;");

    let mut values = vec![0u32; 100];
    values[70] = 9;
    let values = device.buffer(&values);
    let args = |limit: u32| Args::default().buffer(&values).push(100u32).push(limit);
    device.launch("assert_below", 2, 64, &args(10)).unwrap();
    let fault = device.launch("assert_below", 2, 64, &args(9)).unwrap_err();
    let FaultKind::Assert { expression, .. } = &fault.kind else { panic!("{fault}") };
    assert_eq!(expression, "values[i] < limit");
    assert_eq!((fault.block, fault.thread), ([1, 0, 0], [6, 0, 0]));
    assert!(fault.source.unwrap().0.ends_with("faults.cu"));
}

#[test]
fn recursion_works_until_the_stack_is_full() {
    let (device, _) = Device::load_file("faults");
    let out = device.buffer(&[0u32; 32]);
    device.launch("recurse", 1, 32, &Args::default().buffer(&out).push(5u32)).unwrap();
    // The result of `descend`, with a frame of 256 numbers per level.
    fn descend(depth: u32, seed: u32) -> u32 {
        let frame = |i: u32| seed.wrapping_add(i % 256);
        if depth == 0 {
            return frame(seed);
        }
        let below = descend(depth - 1, frame(depth));
        below.wrapping_add(frame(below))
    }
    let expected: Vec<u32> = (0..32).map(|thread| descend(5, thread)).collect();
    assert_eq!(out.read::<u32>(), expected);

    let fault = device.launch("recurse", 1, 32, &Args::default().buffer(&out).push(100_000u32)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::StackOverflow);
}

#[test]
fn an_endless_loop_ends_with_the_budget() {
    let (mut device, _) = Device::load_file("faults");
    device.options.budget = Some(300_000);
    let flag = device.buffer(&[0u32]);
    let fault = device.launch("spin", 1, 32, &Args::default().buffer(&flag)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_eq!(fault.kernel, "spin");
    let set = device.buffer(&[1u32]);
    device.launch("spin", 1, 32, &Args::default().buffer(&set)).unwrap();
}

#[test]
fn off_by_one_is_found_and_its_correction_is_clean() {
    let (device, _) = Device::load_file("bugs");
    let out = device.buffer(&[0f32; 63]);
    let args = Args::default().buffer(&out).push(63u32);
    let fault = device.launch("off_by_one", 1, 64, &args).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert_eq!((fault.thread, fault.lanes), ([63, 0, 0], 1 << 31));
    device.launch("off_by_one_fixed", 1, 64, &args).unwrap();
}

#[test]
fn all_lanes_that_miss_are_named() {
    let (device, _) = Device::load_file("vector_add");
    let (short, long) = (device.buffer(&[0f32; 40]), device.buffer(&[0f32; 64]));
    let args = Args::default().buffer(&long).buffer(&short).buffer(&long).push(64u32);
    let fault = device.launch("vector_add", 1, 64, &args).unwrap_err();
    assert_eq!((fault.thread, fault.lanes), ([40, 0, 0], u32::MAX << 8));
}

fn checked(name: &str) -> (Device, String) {
    let (mut device, ptx) = Device::load_file(name);
    device.options.check_init = true;
    device.options.check_races = true;
    device.options.check_barriers = true;
    (device, ptx)
}

#[test]
fn reading_what_nobody_wrote_is_found() {
    let (device, _) = checked("bugs");
    let out = device.buffer(&[0u32; 64]);
    let args = Args::default().buffer(&out);
    let fault = device.launch("uninitialized_shared", 1, 64, &args).unwrap_err();
    assert_eq!(fault.kind, FaultKind::UninitializedRead);
    assert_eq!((fault.thread, fault.lanes), ([1, 0, 0], 0xaaaa_aaaa));
    device.launch("uninitialized_shared_fixed", 1, 64, &args).unwrap();
}

/// Returns the lanes for which a kernel with this body is stopped with the check on.
fn unwritten(body: &str) -> Option<u32> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
        .func (.param .b32 r) same(.param .b32 a) {{ .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }}
        .visible .entry k(.param .u64 out) {{
        .reg .pred %p, %q; .reg .b32 %t, %r<10>; .reg .b64 %o, %x<4>; .local .b32 own;
        mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mul.wide.u32 %x0, %t, 4; add.u64 %o, %o, %x0;
        setp.lt.u32 %p, %t, 5; {body} ret; }}"
    );
    let mut device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
    device.options.check_init = true;
    let args = Args::default().buffer(&device.buffer(&[0u32; 32]));
    device.launch("k", 1, 32, &args).err().map(|fault| {
        assert_eq!(fault.kind, FaultKind::UninitializedRegister, "{body}");
        assert_eq!(fault.thread, [fault.lanes.trailing_zeros(), 0, 0], "{body}");
        fault.lanes
    })
}

#[test]
fn using_a_register_that_nobody_wrote_is_found() {
    let bad = [
        ("st.global.u32 [%o], %r0;", u32::MAX),
        ("@%p mov.u32 %r0, 1; st.global.u32 [%o], %r0;", !31),
        ("add.u32 %r1, %r0, 1; mul.lo.u32 %r1, %r1, %t; st.global.u32 [%o], %r1;", u32::MAX),
        ("@%p bra L; mov.u32 %r0, 1; L: st.global.u32 [%o], %r0;", 31),
        ("ld.global.u32 %r1, [%x1];", u32::MAX),
        ("@%q st.global.u32 [%o], %t;", u32::MAX),
        ("@%p setp.eq.u32 %q, %t, %t; @!%q bra L; L:", !31),
        ("setp.lt.u32 %q, %r0, 3; @%q bra L; L:", u32::MAX),
        ("selp.u32 %r1, %t, %r0, %p; st.global.u32 [%o], %r1;", !31),
        ("atom.global.add.u32 %r1, [%o], %r0;", u32::MAX),
        ("vote.sync.any.pred %p, %q, -1;", u32::MAX),
        ("addc.u32 %r1, %t, %t; st.global.u32 [%o], %r1;", u32::MAX),
        ("{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t; call.uni (r), same, (a); ld.param.b32 %r1, [r]; }
          add.u32 %r1, %r1, %r0; st.global.u32 [%o], %r1;", u32::MAX),
    ];
    for (body, lanes) in bad {
        assert_eq!(unwritten(body), Some(lanes), "{body}");
    }
    let good = [
        // Copied and computed with, but not used.
        "mov.u32 %r1, %r0; add.u32 %r2, %r1, %r0; setp.lt.u32 %q, %r2, 3; selp.u32 %r3, %t, %r0, %q;",
        "@%p mov.u32 %r0, 1; @%p st.global.u32 [%o], %r0;",
        "@%p mov.u32 %r0, 1; selp.u32 %r1, %r0, %t, %p; st.global.u32 [%o], %r1;",
        "add.cc.u32 %r1, %t, %t; addc.u32 %r1, %r1, %t; st.global.u32 [%o], %r1;",
        "st.local.u32 [own], %t; ld.local.u32 %r1, [own]; st.global.u32 [%o], %r1;",
        "{ .param .b32 a; .param .b32 r; st.param.b8 [a+1], %t; call.uni (r), same, (a); ld.param.b32 %r1, [r]; }
         st.global.u32 [%o], %r1;",
    ];
    for body in good {
        assert_eq!(unwritten(body), None, "{body}");
    }
}

#[test]
fn a_barrier_that_odd_lanes_go_past_is_found() {
    let (device, ptx) = checked("bugs");
    let out = device.buffer(&[0u32; 64]);
    let args = Args::default().buffer(&out);
    let fault = device.launch("divergent_barrier", 1, 64, &args).unwrap_err();
    assert_eq!((&fault.kind, fault.lanes), (&FaultKind::BarrierDivergence, 0x5555_5555));
    assert_line(&fault, &ptx, "bar.sync");
    assert_eq!(fault.related[0].thread, [1, 0, 0]);
    device.launch("divergent_barrier_fixed", 1, 64, &args).unwrap();
}

#[test]
fn correct_kernels_pass_every_check() {
    let (device, _) = checked("reduce_shared");
    let (input, out) = (device.buffer(&[1f32; 1000]), device.buffer(&[0f32; 2]));
    let args = Args::default().buffer(&input).buffer(&out).push(1000u32);
    device.launch("reduce_shared", 2, 256, &args).unwrap();
    assert_eq!(out.read::<f32>().iter().sum::<f32>(), 1000.0);

    let (device, _) = checked("histogram");
    let (input, out) = (device.buffer(&[3u8; 1000]), device.buffer(&[0u32; 256]));
    let args = Args::default().buffer(&input).buffer(&out).push(1000u32);
    device.launch("histogram", 3, 128, &args).unwrap();
    assert_eq!(out.read::<u32>()[3], 1000);

    let (device, _) = checked("transpose");
    let values: Vec<f32> = (0..35 * 50).map(|i| i as f32).collect();
    let (input, out) = (device.buffer(&values), device.buffer(&vec![0f32; 35 * 50]));
    let args = Args::default().buffer(&input).buffer(&out).push(35u32).push(50u32);
    device.launch("transpose", (2, 2), (32, 8), &args).unwrap();
    let out = out.read::<f32>();
    assert!((0..35).all(|row| (0..50).all(|column| out[column * 35 + row] == values[row * 50 + column])));
}
