//! Forms of PTX that NVIDIA's assembler takes and compilers write, however rare: they load, and both modes compute
//! what they say.

mod device;

use cuprum_emulator::exec::Mode;
use cuprum_emulator::program::PtxErrorKind;
use device::{Args, Device};

/// Runs a kernel `k` of one parameter `out` in both modes, with one warp, and gives what it left there.
fn words(text: &str) -> Vec<u32> {
    let mut device = Device::load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [plain, vector] = [Mode::Plain, Mode::Vector].map(|mode| {
        device.options.mode = mode;
        let out = device.buffer(&[0xcccc_ccccu32; 32]);
        let args = Args::default().buffer(&out);
        device.launch("k", 1, 32, &args).unwrap_or_else(|fault| panic!("{mode:?}: {fault}\n{text}"));
        out.read::<u32>()
    });
    assert_eq!(plain, vector, "{text}");
    plain
}

/// A module for `sm_90` whose kernel stores `%d` for each thread; `%t` is its number.
fn module(declarations: &str, body: &str) -> String {
    format!(
        ".version 8.7
.target sm_90
.address_size 64
{declarations}
.visible .entry k(.param .u64 out)
{{
.reg .b32 %d, %t, %r<10>;
.reg .b64 %o, %at, %l<10>;
.reg .b16 %h<10>;
.reg .f32 %f<4>;
.reg .pred %p<4>;
mov.u32 %t, %tid.x;
mov.u32 %d, 0;
{body}
ld.param.u64 %o, [out];
mul.wide.u32 %at, %t, 4;
add.s64 %at, %o, %at;
st.global.u32 [%at], %d;
ret;
}}
"
    )
}

fn by_lane(of: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(of).collect()
}

#[track_caller]
fn refused(declarations: &str, body: &str) {
    let error = Device::load(&module(declarations, body)).err().expect("refused");
    assert_ne!(error.kind, PtxErrorKind::Unsupported, "{error}");
}

#[test]
fn brain_floats_become_bytes_and_back() {
    // In registers of 8 bits, as the header for this type has them, and in no others.
    let body = |ty: &str| {
        format!(
            "cvt.rn.f32.u32 %f0, %t; fma.rn.f32 %f0, %f0, 0f41180000, 0fC1A00000; cvt.rn.bf16.f32 %h0, %f0;
             {{ .reg .b8 byte; cvt.rzi.{ty}.bf16 byte, %h0; mov.b16 %h1, {{byte, 0}}; cvt.rn.bf16.{ty} %h2, byte; }}
             mov.b32 %d, {{%h1, %h2}};"
        )
    };
    let brain = |value: f32| {
        f32::from_bits(value.to_bits().wrapping_add(0x7fff + (value.to_bits() >> 16 & 1)) & !0xffff)
    };
    let result = |lane: u32, low: f32, high: f32| {
        let byte = brain((lane as f32).mul_add(9.5, -20.0)).trunc().clamp(low, high);
        u32::from(byte as i32 as u8) | brain(byte).to_bits()
    };
    assert_eq!(words(&module("", &body("s8"))), by_lane(|lane| result(lane, -128.0, 127.0)));
    assert_eq!(words(&module("", &body("u8"))), by_lane(|lane| result(lane, 0.0, 255.0)));
    refused("", "cvt.rzi.s8.bf16 %h1, %h0;");
    refused("", "cvt.rn.bf16.u8 %h1, %r0;");
}
