//! Sums and differences of several words by the carry flag, in all modes and in some lanes only.

use crate::device::{Args, Device, MODES};

/// A kernel that adds or subtracts numbers of 96 and of 128 bits in the lanes whose number and
/// `KEPT` have common bits; the flag of the others has to survive.
const KERNEL: &str = "
.version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .b64 %i, %o, %w, %x<6>; .reg .b32 %a<6>, %t, %f; .reg .pred %p;
    ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, 32; add.u64 %i, %i, %w; add.u64 %o, %o, %w;
    ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%i]; ld.global.v2.u32 {%a4, %a5}, [%i+16];
    ld.global.v2.u64 {%x0, %x1}, [%i]; ld.global.v2.u64 {%x2, %x3}, [%i+16];
    and.b32 %f, %t, KEPT; setp.ne.u32 %p, %f, 0;
    // The flag of each lane is set by its number's first bit.
    and.b32 %f, %t, 1; add.cc.u32 %f, %f, -1;
    @%p OP.cc.u32 %a0, %a0, %a3; @%p OPc.cc.u32 %a1, %a1, %a4; @%p OPc.u32 %a2, %a2, %a5;
    @!%p addc.u32 %a0, 0, 0;
    OP.cc.u64 %x0, %x0, %x2; OPc.u64 %x1, %x1, %x3;
    st.global.v2.u32 [%o], {%a0, %a1}; st.global.u32 [%o+8], %a2; st.global.v2.u64 [%o+16], {%x0, %x1};
    ret;
}";

/// Words that make carries run through others, and random ones.
fn words(count: usize) -> Vec<u32> {
    let mut state = 7u32;
    let mut word = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        [0, u32::MAX, state, state >> 31][state as usize >> 13 & 3]
    };
    (0..count).map(|_| word()).collect()
}

fn number(words: &[u32]) -> u128 {
    words.iter().rev().fold(0, |number, word| number << 32 | u128::from(*word))
}

#[test]
fn words_are_joined_by_the_carry_flag_of_each_lane() {
    let input = words(8 * 64);
    for (operation, kept) in [("add", 255), ("sub", 255), ("add", 5), ("sub", 5), ("sub", 32)] {
        let text = KERNEL.replace("OP", operation).replace("KEPT", &kept.to_string());
        let mut device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
        let result = |a: u128, b: u128| {
            if operation == "add" { a.wrapping_add(b) } else { a.wrapping_sub(b) }
        };
        for mode in MODES {
            device.options.mode = mode;
            let (from, to) = (device.buffer(&input), device.buffer(&vec![0u32; input.len()]));
            device.launch("k", 1, 64, &Args::default().buffer(&from).buffer(&to)).unwrap();
            let output: Vec<u32> = to.read();
            for (lane, (own, got)) in input.chunks(8).zip(output.chunks(8)).enumerate() {
                let (a, b) = (number(&own[..3]), number(&own[3..6]));
                let expected = match lane & kept {
                    0 => a >> 32 << 32 | (lane as u128 & 1),
                    _ => result(a, b) << 32 >> 32,
                };
                assert_eq!(number(&got[..3]), expected, "{operation} {kept} {mode:?} {lane}");
                let expected = result(number(&own[..4]), number(&own[4..]));
                assert_eq!(number(&got[4..]), expected, "{operation} {kept} {mode:?} {lane}");
            }
        }
    }
}
