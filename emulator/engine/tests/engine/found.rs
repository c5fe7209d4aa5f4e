//! Bugs found by the fuzzers: wrong results, or crashes.

use crate::device::{Args, Device, MODES};
use cuprum_ptx::program::{LoadOptions, Program};

const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Returns the values that 64 threads of `k` write, in all modes.
fn in_all_modes(text: &str) -> [Vec<u32>; MODES.len()] {
    MODES.map(|mode| {
        let mut device = Device::load(text).unwrap_or_else(|error| panic!("{error}"));
        device.options.mode = mode;
        let out = device.buffer(&[0u32; 64]);
        device.launch("k", 2, 32, &Args::default().buffer(&out)).unwrap();
        out.read()
    })
}

#[test]
fn offsets_of_parameters_do_not_overflow() {
    for offset in ["0x7fffffffffffffff", "0xffffffff", "4294967292", "-1"] {
        for access in ["ld.param.u64 %rd0, [p+O];", "ld.param.v2.u64 {%rd0, %rd1}, [p+O];"] {
            let text = format!(
                "{HEADER}.visible .entry k(.param .u64 q, .param .u64 p)\n{{\n.reg .b64 %rd<2>;\n{}\nret;\n}}\n",
                access.replace('O', offset)
            );
            // Refused or ignored, without a panic.
            let _ = Program::load(&text, &LoadOptions::default());
            let call = format!(
                "{HEADER}.visible .entry k()\n{{\n.reg .b64 %rd<2>;\n.param .b64 p;\n{}\nret;\n}}\n",
                access.replace('O', offset)
            );
            assert!(Program::load(&call, &LoadOptions::default()).is_err(), "{call}");
        }
    }
}

/// The second write makes the address irregular, but not the index from which it is computed.
#[test]
fn an_index_without_a_row_is_not_folded_into_an_access() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<5>;\n.reg .b64 %rd<4>;\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r2, %tid.x;\n\
         mad.lo.s32 %r1, %r3, %r4, %r2;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
         st.global.u32 [%rd3], %r1;\nret;\nshr.u64 %rd3, %rd1, 56;\n}}\n"
    );
    let expected: Vec<u32> = (0..64).collect();
    assert!(in_all_modes(&text).iter().all(|found| *found == expected));
}
