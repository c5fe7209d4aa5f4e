//! Arguments and results of the driver's tools: core dumps, checkpoints and notices, over a driver
//! that stands in for one that has them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::sys::CUresult;
use cuprum::tools::{CheckpointProcess, CoredumpFlags, CoredumpSetting, ProcessState};

use crate::tracer::{BUSY_MILLISECONDS, Backing, OVER_BUDGET};

#[test]
fn settings_of_core_dumps_are_per_context_or_global() {
    let driver = Backing::Emulator.driver();
    let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let (here, all) = (cx.coredump(), driver.coredump_defaults());
    for which in [CoredumpSetting::OF_HOST, CoredumpSetting::LIGHTWEIGHT, CoredumpSetting::ON_REQUEST] {
        here.set(which, true).unwrap();
        assert!(here.get(which).unwrap() && !all.get(which).unwrap(), "{which:?}");
        here.set(which, false).unwrap();
        assert!(!here.get(which).unwrap());
    }
    let flags = CoredumpFlags::CU_COREDUMP_SKIP_ABORT | CoredumpFlags::CU_COREDUMP_LOG_ONLY;
    all.set(CoredumpSetting::FLAGS, flags).unwrap();
    assert_eq!(all.get(CoredumpSetting::FLAGS).unwrap(), flags);
    let longest = "x".repeat(1023);
    all.set(CoredumpSetting::FILE, "core.%h.%p").unwrap();
    all.set(CoredumpSetting::PIPE, &longest).unwrap();
    assert_eq!(
        (all.get(CoredumpSetting::FILE).unwrap(), all.get(CoredumpSetting::PIPE).unwrap()),
        ("core.%h.%p".into(), longest)
    );
}

#[test]
fn listeners_are_called_and_may_panic() {
    let driver = Backing::Emulator.driver();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (to, as_well) = (told.clone(), told.clone());
    let start = driver.on_coredump_start(move |process, device| {
        to.lock().unwrap().push(format!("{process} {:?}", device.as_raw()));
        std::panic::resume_unwind(Box::new("told"));
    });
    let device = driver.device(0).unwrap();
    let notice = device.on_over_budget(move |bytes| as_well.lock().unwrap().push(bytes.to_string()));
    start.unwrap().close().unwrap();
    notice.unwrap().close().unwrap();
    let told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    assert_eq!(told, [format!("1234 {:?}", device.as_raw()), OVER_BUDGET.to_string()]);
}

#[test]
fn a_process_is_locked_saved_and_goes_on() {
    let this = CheckpointProcess { driver: Backing::Emulator.driver(), pid: 4321 };
    assert_eq!(this.restore_thread().unwrap(), 4321);
    let busy = Duration::from_millis(BUSY_MILLISECONDS.into());
    assert_eq!(this.lock(Some(busy)).unwrap_err().code(), CUresult::CUDA_ERROR_NOT_READY);
    this.lock(Some(Duration::from_micros(1))).unwrap();
    assert_eq!(this.state().unwrap(), ProcessState::CU_PROCESS_STATE_LOCKED);
    // SAFETY: nothing is saved, as the driver only stands in for one that does.
    unsafe { this.checkpoint() }.unwrap();
    assert_eq!(this.state().unwrap(), ProcessState::CU_PROCESS_STATE_CHECKPOINTED);
    let (one, other) = ([1; 16], [2; 16]);
    // SAFETY: likewise.
    let refused = unsafe { this.restore(&[(one, other), (one, one)]) }.unwrap_err();
    assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    // SAFETY: likewise.
    unsafe { this.restore(&[]) }.unwrap();
    this.unlock().unwrap();
    assert_eq!(this.state().unwrap(), ProcessState::CU_PROCESS_STATE_RUNNING);
}
