//! Core dumps, checkpoints and notices. The software device has none of them, and reports so.
//! `tests/traced/tools.rs` tests the arguments and effects of the calls, over a driver that stands
//! in for one that has them.

use std::time::Duration;

use cuprum::sys::CUresult;
use cuprum::tools::{CheckpointProcess, CoredumpFlags, CoredumpSetting, ProcessState};

use crate::common::{driver, in_context, on_gpu};

const NOT_SUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;

#[test]
fn settings_of_core_dumps_are_remembered_or_refused() {
    in_context(|cx| {
        let here = cx.coredump();
        if !on_gpu() {
            let all = driver().coredump_defaults();
            for settings in [here, all] {
                let refused = settings.set(CoredumpSetting::ON_FAULT, true).unwrap_err();
                assert_eq!(refused.code(), NOT_SUPPORTED);
                assert_eq!(settings.get(CoredumpSetting::FILE).unwrap_err().code(), NOT_SUPPORTED);
            }
            return;
        }
        here.set(CoredumpSetting::FILE, "/tmp/cuprum.core").unwrap();
        assert_eq!(here.get(CoredumpSetting::FILE).unwrap(), "/tmp/cuprum.core");
        here.set(CoredumpSetting::FLAGS, CoredumpFlags::CU_COREDUMP_SKIP_GLOBAL_MEMORY).unwrap();
        assert_eq!(here.get(CoredumpSetting::FLAGS).unwrap(), CoredumpFlags::CU_COREDUMP_SKIP_GLOBAL_MEMORY);
        here.set(CoredumpSetting::OF_HOST, false).unwrap();
        assert!(!here.get(CoredumpSetting::OF_HOST).unwrap());
        let refused = here.get(CoredumpSetting::ON_REQUEST).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        assert!(here.get(CoredumpSetting::PIPE).is_err());
    });
}

#[test]
fn a_name_that_is_none_is_refused_on_the_host() {
    in_context(|cx| {
        for name in ["a\0b", &"x".repeat(1024)] {
            let refused = cx.coredump().set(CoredumpSetting::FILE, name).unwrap_err();
            assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE, "{name}");
        }
    });
}

#[test]
fn without_checkpoints_and_budgets_it_is_said() {
    if on_gpu() {
        // Its own checkpoint would stop the other tests of this process.
        let state = CheckpointProcess { driver: driver(), pid: std::process::id() }.state().unwrap();
        assert_eq!(state, ProcessState::CU_PROCESS_STATE_RUNNING);
        let refused = CheckpointProcess { driver: driver(), pid: 999_999 }.state().unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_OPERATING_SYSTEM);
        driver().device(0).unwrap().on_over_budget(|_| {}).unwrap().close().unwrap();
        return;
    }
    let this = CheckpointProcess { driver: driver(), pid: std::process::id() };
    assert_eq!(this.state().unwrap_err().code(), NOT_SUPPORTED);
    assert_eq!(this.lock(Some(Duration::from_millis(1))).unwrap_err().code(), NOT_SUPPORTED);
    let refused = driver().device(0).unwrap().on_over_budget(|_| {}).unwrap_err();
    assert_eq!(refused.code(), NOT_SUPPORTED);
    assert_eq!(driver().on_coredump_start(|_, _| {}).unwrap_err().code(), NOT_SUPPORTED);
}
