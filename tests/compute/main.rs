//! Every kernel of `kernels/` through the safe layer, compared with plain Rust, in both dialects of
//! PTX; and plain Rust compared with the results of a GPU.
//!
//! A program of its own: the emulator poses as the newest device, which is set up for the process.

mod goldens;

use cuprum_testing::{common, kernels};
use std::ffi::c_void;

use common::in_context;
use cuprum::{Buffer, Current, LaunchConfig, Module, Stream};
use kernels::{Argument, Case, cases};

/// Launches the case from `ptx` and returns the bytes of its outputs.
fn run(cx: &Current<'_, '_>, case: &Case, ptx: &str) -> Vec<Vec<u8>> {
    let module = Module::load_ptx(cx, ptx).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    for (name, bytes) in &case.globals {
        cx.copy(&mut module.global::<u8>(name).unwrap(), bytes).unwrap();
    }
    let buffers: Vec<Option<Buffer<'_, u8>>> = case
        .arguments
        .iter()
        .map(|argument| match argument {
            Argument::Value(_) => None,
            Argument::Input(bytes) | Argument::Output { before: bytes, .. } => {
                Some(Buffer::from_slice(cx, bytes).unwrap())
            }
        })
        .collect();
    let mut addresses: Vec<u64> =
        buffers.iter().map(|buffer| buffer.as_ref().map_or(0, Buffer::as_raw)).collect();
    let mut pointers: Vec<*mut c_void> = case
        .arguments
        .iter()
        .zip(&mut addresses)
        .map(|(argument, address)| match argument {
            Argument::Value(bytes) => bytes.as_ptr().cast_mut().cast(),
            _ => (&raw mut *address).cast(),
        })
        .collect();
    let (grid, block) = (case.grid.into(), case.block.into());
    let config = LaunchConfig { grid, block, shared_bytes: case.shared_bytes };
    let function = module.function(case.kernel).unwrap();
    // SAFETY: the case has the arguments and geometry of the kernel's launch contract.
    unsafe { function.launch_pointers(cx, &Stream::default_in(cx), config, pointers.as_mut_ptr()) }
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    case.arguments
        .iter()
        .zip(&buffers)
        .filter(|(argument, _)| matches!(argument, Argument::Output { .. }))
        .filter_map(|(_, buffer)| buffer.as_ref())
        .map(|buffer| buffer.to_vec(cx).unwrap_or_else(|error| panic!("{}: {error}", case.name)))
        .collect()
}

fn check(case: &Case, ptx: &str, dialect: &str) {
    in_context(|cx| {
        let outputs = run(cx, case, ptx);
        for (output, (actual, expected)) in outputs.iter().zip(case.expected()).enumerate() {
            expected
                .check(actual)
                .unwrap_or_else(|error| panic!("{} ({dialect}), output {output}: {error}", case.name));
        }
        assert_eq!(outputs.len(), case.expected().count());
    });
}

#[test]
fn all_kernels_compute_what_plain_rust_computes() {
    pose_as_the_newest();
    let all = cases::all();
    assert!(all.len() >= 12, "{} cases", all.len());
    for case in &all {
        check(case, case.ptx, "compute_75");
    }
}

/// Poses as a device that takes both dialects, where the device is the emulator. Call before the
/// first use.
fn pose_as_the_newest() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        cuprum_emulator::Settings::default().compute_capability(10, 0).install().expect("the first use");
    });
}

#[test]
fn the_dialect_of_compute_100_computes_the_same() {
    pose_as_the_newest();
    let mut checked = 0;
    let newest = common::on_gpu() && common::device().compute_capability().unwrap().major < 10;
    for case in cases::all() {
        let Some(ptx) = case.ptx_dialect_100 else { continue };
        if newest {
            // The hardware is older than the code. That it is refused is all there is to see.
            in_context(|cx| assert!(Module::load_ptx(cx, ptx).is_err(), "{}", case.name));
        } else {
            check(&case, ptx, "compute_100");
        }
        checked += 1;
    }
    assert!(checked > 0);
}
