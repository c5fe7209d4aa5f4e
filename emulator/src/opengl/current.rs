//! The context that is current on the calling thread.

use super::context::Context;
use super::stand_in;

/// Returns the context that is current; `None` without one, and an error with the reason if one may
/// be current that is not supported.
pub(crate) fn current() -> Result<Option<Box<dyn Context>>, &'static str> {
    match stand_in::current() {
        Some(context) => Ok(Some(Box::new(context))),
        None => found(),
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn found() -> Result<Option<Box<dyn Context>>, &'static str> {
    let found = super::found::current()?;
    Ok(found.map(|context| -> Box<dyn Context> { Box::new(context) }))
}

#[cfg(any(not(target_os = "linux"), miri))]
fn found() -> Result<Option<Box<dyn Context>>, &'static str> {
    Err(
        "the software device finds OpenGL on Linux alone, by EGL or GLX: elsewhere cuprum_emulator::opengl::StandIn stands in \
         for it",
    )
}
