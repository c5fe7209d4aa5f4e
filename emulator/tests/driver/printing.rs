//! `printf` beyond its buffer: the newest lines appear, no kernel waits, memory stays bounded.

use std::io::Read;
use std::process::Stdio;

use core::ffi::c_void;
use core::ptr::null_mut;
use cuprum_sys::*;

use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::itself;

/// Environment variable of a child: buffer size, number of lines, mask of the printed numbers.
const CHILD: &str = "CUPRUM_TEST_PRINTS";

/// Prints numbers from 0 on, one per line, under the mask.
const PTX: &core::ffi::CStr = c"
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 format[4] = {37, 117, 10, 0};
.visible .entry numbers(.param .u32 count, .param .u32 mask)
{
.local .align 8 .b8 values[8];
.reg .pred %more;
.reg .b32 %r<4>;
.reg .b64 %format, %values;
ld.param.u32 %r1, [count];
ld.param.u32 %r3, [mask];
mov.u64 %format, format;
cvta.global.u64 %format, %format;
mov.u64 %values, values;
cvta.local.u64 %values, %values;
mov.u32 %r0, 0;
AGAIN:
and.b32 %r2, %r0, %r3;
st.local.u32 [values], %r2;
{ .param .b64 f; .param .b64 v; .param .b32 result;
  st.param.b64 [f], %format; st.param.b64 [v], %values;
  call.uni (result), vprintf, (f, v);
  ld.param.b32 %r2, [result]; }
add.u32 %r0, %r0, 1;
setp.lt.u32 %more, %r0, %r1;
@%more bra AGAIN;
ret;
}
";

fn numbers(buffer: usize, mut count: u32, mut mask: u32) {
    ok!(cuCtxSetLimit(CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, buffer));
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut function, module, c"numbers".as_ptr()));
    let mut args: [*mut c_void; 2] = [(&raw mut count).cast(), (&raw mut mask).cast()];
    let stream = CUstream::null();
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, args.as_mut_ptr(), null_mut()));
    ok!(cuCtxSynchronize());
    // The buffer is fixed once kernels have begun to print, as on an H100.
    let fifo = CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE;
    assert_eq!(code!(cuCtxSetLimit(fifo, buffer)), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuModuleUnload(module));
}

/// Returns the output of a child that printed so many numbers, and its peak memory in KiB if known.
fn printed(test: &str, buffer: usize, count: u32, mask: u32) -> (Vec<u32>, Option<u64>) {
    let mut child = itself()
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{buffer} {count} {mask}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut output = child.stdout.take().unwrap();
    if mask < 10 {
        // The output is only read after the child's end: two bytes per line fit into the pipe.
        assert!(child.wait().unwrap().success());
    }
    output.read_to_string(&mut said).unwrap();
    let end = child.wait_with_output().unwrap();
    let told = String::from_utf8(end.stderr).unwrap();
    assert!(end.status.success(), "{told}");
    let most = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.map(|text| text.trim().trim_end_matches(" kB").trim().parse().unwrap());
    // The first number follows the name of the test on its line.
    let last = |line: &str| line.rsplit(' ').next()?.parse().ok();
    (said.lines().filter_map(last).collect(), most)
}

/// In the child, prints, and reports the memory used. Returns `None` in the test itself.
fn in_child() -> Option<()> {
    let what = std::env::var(CHILD).ok()?;
    let words: Vec<usize> = what.split(' ').map(|word| word.parse().unwrap()).collect();
    let _context = TestContext::new();
    numbers(words[0], words[1] as u32, words[2] as u32);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(line) = status.lines().find(|line| line.starts_with("VmHWM:")) {
        eprintln!("{line}");
    }
    Some(())
}

#[test]
fn a_flood_leaves_the_newest_lines_and_nobody_waits() {
    const THIS: &str = "printing::a_flood_leaves_the_newest_lines_and_nobody_waits";
    if in_child().is_some() {
        return;
    }
    // One line more and one less than fit, and a flood, which must use as little memory.
    let count = 300_000;
    for (buffer, mask) in [(512 << 10, 7), (1 << 20, u32::MAX)] {
        let numbers = |range: std::ops::Range<u32>| range.map(|number| number & mask).collect::<Vec<_>>();
        let kept = buffer as u32 / 32;
        let (few, before) = printed(THIS, buffer, kept - 1, mask);
        assert!(few == numbers(0..kept - 1), "{} lines of {}", few.len(), kept - 1);
        let (most, _) = printed(THIS, buffer, kept + 1, mask);
        assert!(most == numbers(1..kept + 1), "{} lines of {kept}", most.len());
        let (flood, after) = printed(THIS, buffer, count, mask);
        assert!(flood == numbers(count - kept..count), "{} lines of {kept}", flood.len());
        if let (Some(before), Some(after)) = (before, after) {
            // All of them would take more than 9 MiB.
            assert!(after < before + 4096, "{before} KiB for few lines, {after} KiB for a flood");
        }
    }
}
