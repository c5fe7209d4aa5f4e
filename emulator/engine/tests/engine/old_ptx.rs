//! Forms that only some versions and targets of PTX have, and directives of functions only.

use crate::accepted::{by_lane, module, words};
use crate::device::Device;
use cuprum_ptx::program::PtxErrorKind;

#[test]
fn kernels_take_no_directives_of_functions() {
    for directive in [".noreturn", ".abi_preserve 4", ".abi_preserve_control 4"] {
        let text = module("", "").replace("u64 out)", &format!("u64 out) {directive}")).replace("8.7", "9.0");
        let error = Device::load(&text).err().expect(directive);
        assert_eq!(error.kind, PtxErrorKind::Syntax, "{error}");
    }
}

/// Before PTX 6.4, and for targets before `sm_70`, shuffles and votes are among the active lanes.
#[test]
fn shuffles_and_votes_need_no_mask_in_old_ptx() {
    let odd = "and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, 1; setp.lt.u32 %p1, %t, 20;";
    type Form = (&'static str, fn(u32) -> u32);
    let forms: [Form; 9] = [
        ("shfl.up.b32 %d, %t, 1, 0;", |lane| lane.saturating_sub(1)),
        ("shfl.bfly.b32 %d|%p2, %t, 3, 31; @!%p2 mov.b32 %d, 99;", |lane| lane ^ 3),
        (
            "shfl.down.b32 %d|%p2, %t, 4, 31; @!%p2 mov.b32 %d, 99;",
            |lane| if lane < 28 { lane + 4 } else { 99 },
        ),
        ("vote.ballot.b32 %d, %p1;", |_| 0xf_ffff),
        ("vote.ballot.b32 %d, !%p1;", |_| 0xfff0_0000),
        // Only the odd lanes take part.
        ("@%p0 vote.ballot.b32 %d, %p1;", |lane| if lane % 2 == 1 { 0xa_aaaa } else { 0 }),
        ("@!%p0 bra EVEN; vote.ballot.b32 %d, %p1; EVEN:", |lane| if lane % 2 == 1 { 0xa_aaaa } else { 0 }),
        ("@!%p0 bra EVEN; vote.all.pred %p2, %p0; selp.b32 %d, 1, 2, %p2; EVEN:", |lane| lane % 2),
        (
            "vote.any.pred %p2, %p0; vote.uni.pred %p3, %p0; selp.b32 %d, 1, 2, %p2; @%p3 mov.b32 %d, 3;",
            |_| 1,
        ),
    ];
    for (body, expected) in forms {
        let text = module("", &format!("{odd}\n{body}"));
        for old in [text.replace("8.7", "6.3").replace("sm_90", "sm_70"), text.replace("sm_90", "sm_60")] {
            assert_eq!(words(&old), by_lane(expected), "{body}");
        }
        let error = Device::load(&text.replace("8.7", "6.4").replace("sm_90", "sm_70")).err().expect(body);
        assert!(error.message.contains(".sync"), "{error}");
    }
}
