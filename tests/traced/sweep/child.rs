//! The process that makes the runs.

use std::io::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuprum::Library;
use cuprum::sys::{CUmemoryPool, CUresult};

use super::MARK;
use super::plan::{Plan, Run};
use super::verdict::{self, Finding};
use crate::program;
use crate::tracer::Session;

/// Makes the runs and reports its findings.
pub(super) fn work(plan: &Plan, runs: Range<usize>) {
    // Swallowed errors belong to the session of the thread that dropped.
    cuprum::swallowed::set_hook(|error| {
        if let Some(session) = Session::current() {
            session.swallowed(error);
        }
    })
    .expect("the first hook");
    for index in runs {
        say(format_args!("run {index}"));
        for finding in one(plan.run(index)) {
            say(format_args!("finding {finding}"));
        }
    }
    say(format_args!("end"));
}

fn say(what: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARK}{what}").expect("the parent listens");
    out.flush().expect("the parent listens");
}

fn one(run: Run) -> Vec<Finding> {
    let session = Session::watched();
    session.on_flight(|ranges| say(format_args!("flight {ranges}")));
    session.inject(std::iter::once(run.injection).chain(run.second));
    let result = std::thread::scope(|scope| {
        let body = || catch_unwind(AssertUnwindSafe(|| program::run_in(run.library, &session, run.rooms).0));
        scope.spawn(body).join().expect("panics are caught")
    });
    session.inject(None);
    let findings = match result {
        Ok(steps) => verdict::of(&run, &steps, &session),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned()));
            vec![Finding::new("Panic", "", text.unwrap_or_default())]
        }
    };
    clear(run.library, &session);
    findings
}

/// Destroys the remains of a run, so that later runs have the memory.
fn clear(library: Library, session: &Session) {
    for context in session.live_contexts() {
        // SAFETY: the remains of the run use nothing; the emulator refuses a handle that is none.
        let _: CUresult = unsafe { (library.fns().cuCtxDestroy_v2)(context) };
    }
    let [pools, physical] = session.left_without_context();
    for pool in pools {
        let pool = CUmemoryPool(std::ptr::without_provenance_mut(pool as usize));
        // SAFETY: as above.
        let _: CUresult = unsafe { (library.fns().cuMemPoolDestroy)(pool) };
    }
    for handle in physical {
        // SAFETY: as above.
        let _: CUresult = unsafe { (library.fns().cuMemRelease)(handle) };
    }
    while session.release_primary(0) {
        // SAFETY: a retain that the run has left.
        let _: CUresult = unsafe { (library.fns().cuDevicePrimaryCtxRelease_v2)(0) };
    }
}
