//! Settings of core dumps, callbacks, and checkpoints of a process: over a driver that stands in
//! for them.

use std::time::Duration;

use cuprum::sys::CUresult;
use cuprum::tools::{CheckpointProcess, Coredump, CoredumpFlags, CoredumpSetting};
use cuprum::{Current, Device};

use super::Steps;
use crate::tracer::BUSY_MILLISECONDS;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    settings(steps, cx.coredump());
    let device = cx.context().device();
    steps.expect_nothing();
    settings(steps, device.driver().coredump_defaults());
    callbacks(steps, device);
    checkpoints(steps, device);
    steps.expect(cx.context());
}

fn settings(steps: &Steps, settings: Coredump<'_>) {
    steps.attempt("Coredump::set", || settings.set(CoredumpSetting::ON_FAULT, true));
    steps.attempt("Coredump::get", || settings.get(CoredumpSetting::ON_FAULT));
    let flags = CoredumpFlags::CU_COREDUMP_SKIP_GLOBAL_MEMORY;
    steps.attempt("Coredump::set", || settings.set(CoredumpSetting::FLAGS, flags));
    steps.attempt("Coredump::get", || settings.get(CoredumpSetting::FLAGS));
    steps.attempt("Coredump::set", || settings.set(CoredumpSetting::FILE, "core.%p"));
    steps.attempt("Coredump::get", || settings.get(CoredumpSetting::FILE));
}

fn callbacks(steps: &Steps, device: Device) {
    let driver = device.driver();
    for dropped in [false, true] {
        let start = steps.attempt("Driver::on_coredump_start", || driver.on_coredump_start(|_, _| {}));
        let complete =
            steps.attempt("Driver::on_coredump_complete", || driver.on_coredump_complete(|_, _| {}));
        let budget = steps.attempt("Device::on_over_budget", || device.on_over_budget(|_| {}));
        for callback in [start, complete, budget].into_iter().flatten() {
            if dropped {
                steps.done("Callback::drop", || drop(callback));
            } else {
                steps.attempt("Callback::close", || callback.close());
            }
        }
    }
}

fn checkpoints(steps: &Steps, device: Device) {
    let process = CheckpointProcess { driver: device.driver(), pid: std::process::id() };
    steps.attempt("CheckpointProcess::state", || process.state());
    steps.attempt("CheckpointProcess::restore_thread", || process.restore_thread());
    let busy = Duration::from_millis(BUSY_MILLISECONDS.into());
    steps.may_refuse("CheckpointProcess::lock", CUresult::CUDA_ERROR_NOT_READY, || process.lock(Some(busy)));
    steps.attempt("CheckpointProcess::lock", || process.lock(None));
    // SAFETY: nothing is saved, as the driver only stands in for one that does.
    steps.attempt("CheckpointProcess::checkpoint", || unsafe { process.checkpoint() });
    // SAFETY: likewise.
    steps.attempt("CheckpointProcess::restore", || unsafe { process.restore(&[([1; 16], [2; 16])]) });
    steps.attempt("CheckpointProcess::unlock", || process.unlock());
}
