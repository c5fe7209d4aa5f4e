//! Cooperative launches: a barrier of the whole grid, as in the headers of cooperative groups.
//!
//! The kernel is our own. It accesses memory like those headers: `%envreg1` and `%envreg2` are the
//! upper and the lower half of the address of a workspace, which only cooperative launches have.
//! The barrier is the word at offset 4: the first thread of the first block adds a number such that
//! the highest bit flips after all others have added one, and each waits for this.

use core::ffi::c_void;
use core::ptr::null_mut;
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const PTX: &core::ffi::CStr = c"
.version 7.0
.target sm_70
.address_size 64

.func grid_barrier(.param .b64 workspace)
{
.reg .pred %first, %zero, %waits;
.reg .b32 %r<12>;
.reg .b64 %word;
ld.param.b64 %word, [workspace];
add.s64 %word, %word, 4;
barrier.sync 0;
mov.u32 %r0, %tid.x;
setp.ne.u32 %first, %r0, 0;
@%first bra DONE;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ctaid.y;
add.u32 %r1, %r1, %r2;
setp.eq.u32 %zero, %r1, 0;
mov.u32 %r3, %nctaid.x;
mov.u32 %r4, %nctaid.y;
mul.lo.u32 %r3, %r3, %r4;
sub.u32 %r3, 0x80000001, %r3;
selp.b32 %r5, %r3, 1, %zero;
atom.add.release.gpu.u32 %r6, [%word], %r5;
AGAIN:
ld.acquire.gpu.u32 %r7, [%word];
xor.b32 %r8, %r7, %r6;
setp.gt.s32 %waits, %r8, -1;
@%waits bra AGAIN;
DONE:
barrier.sync 0;
ret;
}

.visible .entry rounds(.param .u64 data, .param .u32 count)
{
.reg .pred %p;
.reg .b32 %r<16>;
.reg .b64 %rd<8>;
mov.u32 %r0, %envreg2;
mov.u32 %r1, %envreg1;
mov.b64 %rd0, {%r0, %r1};
ld.param.u64 %rd1, [data];
ld.param.u32 %r2, [count];
setp.ne.s64 %p, %rd0, 0;
@%p bra VALID;
trap;
VALID:
mov.u32 %r3, %ctaid.y;
mov.u32 %r4, %nctaid.x;
mov.u32 %r5, %ctaid.x;
mad.lo.u32 %r3, %r3, %r4, %r5;
mov.u32 %r5, %ntid.x;
mov.u32 %r6, %tid.x;
mad.lo.u32 %r3, %r3, %r5, %r6;
mov.u32 %r7, %nctaid.y;
mul.lo.u32 %r4, %r4, %r7;
mul.lo.u32 %r4, %r4, %r5;
mul.wide.u32 %rd2, %r3, 4;
add.s64 %rd2, %rd1, %rd2;
add.u32 %r8, %r3, 7;
rem.u32 %r8, %r8, %r4;
mul.wide.u32 %rd3, %r8, 4;
add.s64 %rd3, %rd1, %rd3;
mov.u32 %r9, 0;
LOOP:
ld.global.u32 %r10, [%rd2];
add.u32 %r10, %r10, %r9;
st.global.u32 [%rd2], %r10;
{ .param .b64 w; st.param.b64 [w], %rd0; call.uni grid_barrier, (w); }
ld.global.u32 %r11, [%rd3];
{ .param .b64 w; st.param.b64 [w], %rd0; call.uni grid_barrier, (w); }
ld.global.u32 %r10, [%rd2];
add.u32 %r10, %r10, %r11;
st.global.u32 [%rd2], %r10;
add.u32 %r9, %r9, 1;
setp.lt.u32 %p, %r9, %r2;
@%p bra LOOP;
ret;
}
";

const GRID: (u32, u32) = (3, 4);
const THREADS: u32 = 40;
const ROUNDS: u32 = 5;

fn expected() -> Vec<u32> {
    let count = (GRID.0 * GRID.1 * THREADS) as usize;
    let mut data: Vec<u32> = (0..count as u32).collect();
    for round in 0..ROUNDS {
        data.iter_mut().for_each(|value| *value = value.wrapping_add(round));
        let before = data.clone();
        for (at, value) in data.iter_mut().enumerate() {
            *value = value.wrapping_add(before[(at + 7) % count]);
        }
    }
    data
}

#[test]
fn the_blocks_of_a_grid_meet_at_the_barrier_of_its_workspace() {
    let _context = TestContext::new();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, c"rounds".as_ptr()));
    let expected = expected();
    let mut data = alloc(4 * expected.len());
    let mut rounds = ROUNDS;
    // The workspace of the second launch is clean.
    for _ in 0..2 {
        write(data, &(0..expected.len() as u32).collect::<Vec<_>>());
        let mut arguments: [*mut c_void; 2] = [(&raw mut data).cast(), (&raw mut rounds).cast()];
        ok!(cuLaunchCooperativeKernel(
            function,
            GRID.0,
            GRID.1,
            1,
            THREADS,
            1,
            1,
            0,
            CUstream::null(),
            arguments.as_mut_ptr(),
        ));
        ok!(cuCtxSynchronize());
        assert_eq!(read::<u32>(data, expected.len()), expected);
    }
    // Other launches have no workspace, which the kernel treats as an error.
    let mut arguments: [*mut c_void; 2] = [(&raw mut data).cast(), (&raw mut rounds).cast()];
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), arguments.as_mut_ptr(), null_mut(),));
    assert_ne!(code!(cuCtxSynchronize()), CUresult::CUDA_SUCCESS);
}
