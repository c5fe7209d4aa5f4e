//! Graphs: built node by node and captured, executed, updated, and the values that they keep.
//!
//! A program of its own, since a global capture refuses calls of all threads; one test at a time
//! has the process. The last test runs all the others anew on devices that work as late as they
//! may, and in any order that is allowed.

mod beside;
mod capture;
mod changes;
mod drops;
mod inside;
mod keeps;
mod nodes;
mod numbers;
mod panics;
mod rows;
#[cfg(target_os = "linux")]
mod semaphores;

use cuprum_testing::{common, itself};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum::graph::{Graph, GraphExec, InstantiateFlags};
use cuprum::module::Function;
use cuprum::{Buffer, Current, In, InOut, Module};

/// saxpy(n, alpha, x, y).
type Saxpy = (u32, f32, In<f32>, InOut<f32>);

fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_context(test: impl FnOnce(&mut Current<'_, '_>)) {
    let _alone = alone();
    common::in_context(test);
}

fn saxpy<'ctx>(cx: &Current<'_, 'ctx>) -> Module<'ctx> {
    common::kernels!(cx, "saxpy")
}

fn function<'m>(module: &'m Module<'_>) -> Function<'m> {
    module.function("saxpy").unwrap()
}

fn executable<'a>(cx: &Current<'_, 'a>, graph: Graph<'a>) -> GraphExec<'a> {
    graph.instantiate(cx, InstantiateFlags::empty()).unwrap()
}

fn zeros<'ctx>(cx: &Current<'_, 'ctx>, len: usize) -> Buffer<'ctx, u32> {
    Buffer::zeroed(cx, len).unwrap()
}

#[test]
fn all_of_it_holds_on_devices_that_work_late_and_in_any_order() {
    if common::on_gpu() {
        // A GPU has one way to work, which the other tests see.
        return;
    }
    for mode in ["async", "deferred", "shuffled:1", "shuffled:2", "shuffled:3"] {
        let mut tests = itself::itself();
        tests.env("CUPRUM_EMULATOR_MODE", mode).args(["--skip", "all_of_it_holds"]);
        let output = tests.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(" passed"), "{mode}:\n{text}");
        assert!(!text.contains(" 0 passed"), "{mode}: nothing ran");
    }
}
