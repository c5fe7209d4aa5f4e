//! A program that uses every method of the safe layer that calls the driver, over a traced driver.
//!
//! It goes on after a failure as far as it can, as a careful user would: it does not use objects
//! whose creation failed. Each use is a [`Step`], with the name of its method as `Type::method`.

mod arrays;
mod capturer;
mod captures;
mod code;
mod contexts;
mod devices;
#[cfg(unix)]
mod external;
mod foreign;
mod graphs;
mod greens;
mod libraries;
mod memory;
mod numbers;
mod opengl;
mod pools;
mod processes;
mod regions;
mod requests;
mod scopes;
mod steps;
mod streams;
mod textures;
mod tools;
mod virtual_memory;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cuprum::{Driver, Library};

pub(crate) use contexts::AFTER_FORGOTTEN;
pub(crate) use steps::{Outcome, Room, Rooms, Step, Steps, by_step};

use crate::tracer::Session;

/// Methods that the program does not use, and why.
pub(crate) const NOT_USED: &[(&str, &str)] =
    &[("Driver::load", "it opens the machine's own driver; what it does then is `Driver::init`")];

/// The methods that document driver calls, and of which the program has no step.
pub(crate) fn unused_methods(steps: &[Step]) -> Vec<String> {
    let used = |name: &str| {
        steps.iter().any(|step| step.name == name) || NOT_USED.iter().any(|(unused, _)| *unused == name)
    };
    crate::source::documented().into_keys().filter(|name| !used(name)).collect()
}

/// Runs the program on this thread, which must be a fresh one because the effects of a failure stay
/// with the thread.
pub(crate) fn run(library: Library, session: &Session) -> Vec<Step> {
    run_in(library, session, Rooms::All).0
}

/// Runs the named rooms, and returns their places in the log.
///
/// Runs in one process meet in the primary context, which each of them resets, so that there is one
/// at a time.
pub(crate) fn run_in(library: Library, session: &Session, rooms: Rooms) -> (Vec<Step>, Vec<Room>) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let steps = Steps::new(session, rooms);
    session.enter(|| whole(&steps, library));
    steps.finish()
}

/// Runs all of it, with another thread that captures while something is freed. Returns the captures
/// that this ended, and in which steps there was one.
pub(crate) fn run_beside_captures(
    library: Library,
    session: &Session,
) -> (Vec<Step>, Vec<String>, BTreeSet<&'static str>) {
    let (capturer, ends) = capturer::Capturer::new(library);
    let steps = Steps::beside_captures(session, capturer);
    session.enter(|| whole(&steps, library));
    let (steps, _) = steps.finish();
    let (tried, spoiled) = ends.finish();
    (steps, spoiled, tried)
}

fn whole(steps: &Steps, library: Library) {
    let Some(driver) = steps.attempt("Driver::init", || Driver::init(library)) else { return };
    let Some(device) = steps.attempt("Driver::device", || driver.device(0)) else { return };
    steps.room("devices", || devices::all(steps, driver, device));
    contexts::created(steps, device);
    steps.room("shared", || contexts::shared(steps, device));
    steps.room("regions", || regions::all(steps, device));
    steps.room("greens", || greens::all(steps, driver));
    steps.room("primary", || contexts::primary(steps, device));
}
