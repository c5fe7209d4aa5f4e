//! Compares the modes on every committed kernel.

use crate::device::{Buffer, Device, MODES, Noted};
use crate::kernels::{Case, cases};
use cuprum_engine::exec::{ExecOptions, Execution, LaunchStats};
use cuprum_ptx::program::PtxError;

pub(crate) type Outcome = Result<(Vec<Vec<u8>>, LaunchStats, Noted), String>;

pub(crate) fn run_case(case: &Case, ptx: &str, mode: Execution) -> Outcome {
    run_with(case, ptx, Device::load_noting, |options| options.mode = mode)
}

/// Correct kernels stay correct when each register and each byte is checked.
pub(crate) fn run_checked(case: &Case, ptx: &str) -> Outcome {
    run_with(case, ptx, Device::load_noting, |options| options.check_init = true)
}

fn run_with(
    case: &Case,
    ptx: &str,
    load: fn(&str) -> Result<Device, PtxError>,
    choose: impl FnOnce(&mut ExecOptions),
) -> Outcome {
    let mut device = load(ptx).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    choose(&mut device.options);
    for (name, bytes) in &case.globals {
        let index = device.program.globals().iter().position(|global| global.name == *name).unwrap();
        let map = device.memory.snapshot();
        let region = map.find(device.globals[index]).unwrap();
        assert!(bytes.len() as u64 <= region.len);
        // SAFETY: the region is live and long enough.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), region.host, bytes.len()) };
    }
    let (args, buffers) = device.arguments(case);
    let [x, y, z] = case.grid;
    let [bx, by, bz] = case.block;
    let stats = device
        .launch_with(case.kernel, (x, y, z), (bx, by, bz), &args, |launch| {
            launch.dynamic_shared = case.shared_bytes;
        })
        .map_err(|fault| fault.to_string())?;
    Ok((buffers.iter().map(Buffer::read::<u8>).collect(), stats, device.take_noted()))
}

#[test]
fn committed_kernels_agree() {
    for case in cases::all() {
        for ptx in std::iter::once(case.ptx).chain(case.ptx_dialect_100) {
            let plain = run_case(&case, ptx, Execution::Plain);
            assert!(plain.is_ok(), "{}: {plain:?}", case.name);
            let vector = run_case(&case, ptx, Execution::Vector);
            let stats = |outcome: &Outcome| outcome.as_ref().map(|(_, stats, _)| *stats).ok();
            assert_eq!(stats(&plain), stats(&vector), "{}", case.name);
            assert!(plain == vector, "{}: the modes differ", case.name);
            let results = |outcome: Outcome| outcome.map(|(buffers, ..)| buffers);
            for mode in MODES {
                let other = run_with(&case, ptx, Device::load, |options| options.mode = mode);
                assert!(results(plain.clone()) == results(other), "{}: {mode:?}", case.name);
            }
            assert!(plain == run_checked(&case, ptx), "{}: with the check of what was written", case.name);
        }
    }
}
