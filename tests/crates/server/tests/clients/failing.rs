//! Clients of servers whose calls of the driver fail at random, done or not.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cuprum::sys::hook::{Call, Hook};
use cuprum::sys::{CUresult, FnId, Fns};

use crate::{Outcome, run};

/// One of so many calls fails; none if 0.
static ODDS: AtomicU64 = AtomicU64::new(0);
static STATE: AtomicU64 = AtomicU64::new(0x1234_5678);
static FAILED: AtomicUsize = AtomicUsize::new(0);

struct Failing;

/// Contexts can be entered: a server that cannot enter its context refuses a message unread, and a
/// recording whose end is refused in that way goes on, which the model does not follow.
fn may_fail(function: FnId) -> bool {
    use FnId::{
        cuCtxCreate_v2, cuCtxDestroy_v2, cuCtxGetCurrent, cuCtxPopCurrent_v2, cuCtxPushCurrent_v2, cuInit,
    };

    ![cuCtxGetCurrent, cuCtxCreate_v2, cuCtxDestroy_v2, cuCtxPopCurrent_v2, cuCtxPushCurrent_v2, cuInit]
        .contains(&function)
}

impl Hook for Failing {
    fn target() -> &'static Fns {
        cuprum_emulator::library().fns()
    }

    fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
        let odds = ODDS.load(Ordering::Relaxed);
        let step = |state: u64| {
            Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
        };
        let dice = STATE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).unwrap_or(0) >> 33;
        if odds == 0 || dice % odds != 0 || !may_fail(call.function()) {
            return pass_on();
        }
        FAILED.fetch_add(1, Ordering::Relaxed);
        if (dice / odds) % 2 == 0 {
            let _ = pass_on();
        }
        let codes = [CUresult::CUDA_ERROR_UNKNOWN, CUresult::CUDA_ERROR_OUT_OF_MEMORY];
        codes[(dice / odds / 2) as usize % codes.len()]
    }
}

#[test]
fn reads_are_right_regardless_of_failures() {
    let modes = ["eager", "async", "deferred", "shuffled:1"];
    let environments = modes.map(|mode| [("CUPRUM_EMULATOR_MODE", mode)]);
    let environments: Vec<&[(&str, &str)]> = environments.iter().map(|mode| &mode[..]).collect();
    let name = concat!(module_path!(), "::reads_are_right_regardless_of_failures");
    crate::child::in_children(name, &environments, || {
        // SAFETY: the hook passes calls on to the library's own functions, and never says success
        // of one that it does not.
        let library =
            unsafe { cuprum_emulator::library().hooked::<Failing>("calls that fail at random") }.unwrap();
        let mut sum = Outcome::default();
        for (seed, odds) in [(1, 200), (2, 40), (3, 8)] {
            let outcome = run(
                library,
                seed,
                100,
                Some(&|fails| {
                    ODDS.store(if fails { odds } else { 0 }, Ordering::Relaxed);
                }),
            );
            sum.compared += outcome.compared;
            sum.refused += outcome.refused;
        }
        let failed = FAILED.load(Ordering::Relaxed);
        println!("{failed} calls failed, {} pieces of work were refused", sum.refused);
        assert!(failed > 250 && sum.refused > 100 && sum.compared > 5000, "{failed} {sum:?}");
    });
}
