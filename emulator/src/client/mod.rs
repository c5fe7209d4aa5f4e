//! Places in the client: the lines from which it calls the driver.
//!
//! For a thread that runs Python, these are lines of Python; else frames of the stack, as far as the program has names and
//! lines. Linux only: elsewhere no place is known.

mod native;
mod python;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::report::Frame;
use crate::served::Site;

/// Most frames of a place, the innermost first.
const MOST_FRAMES: usize = 12;

/// The largest number of places that are distinguished. The places of further calls stay unknown.
const MOST_SITES: usize = 1 << 16;

/// The key that distinguishes a place from others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Python(Vec<Frame>),
    /// Addresses of return.
    Native(Vec<usize>),
}

/// A place, whose names and lines are looked up when a report needs them.
#[derive(Debug)]
enum Captured {
    Python(Vec<Frame>),
    Native(native::Stack, OnceLock<Vec<Frame>>),
}

#[derive(Debug, Default)]
struct Sites {
    numbers: HashMap<Key, Site>,
    captured: Vec<Arc<Captured>>,
}

static SITES: Mutex<Option<Sites>> = Mutex::new(None);

/// The place from which the client called: the same number for the same place. Waits for Python's lock if the thread gave
/// it up for the call, so no lock of the driver may be held.
pub(crate) fn here() -> Option<Site> {
    let key = match python::frames(MOST_FRAMES) {
        Some(frames) => Key::Python(frames),
        None => Key::Native(native::returns()?),
    };
    let mut sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
    let sites = sites.get_or_insert_default();
    if let Some(site) = sites.numbers.get(&key) {
        return Some(*site);
    }
    if sites.captured.len() >= MOST_SITES {
        return None;
    }
    let captured = match &key {
        Key::Python(frames) => Captured::Python(frames.clone()),
        Key::Native(_) => Captured::Native(native::Stack::capture(), OnceLock::new()),
    };
    let site = Site::new(sites.captured.len() as u32);
    sites.captured.push(Arc::new(captured));
    sites.numbers.insert(key, site);
    Some(site)
}

/// The frames of a place, the innermost first; none if it is not known.
pub(crate) fn frames(site: Option<Site>) -> Vec<Frame> {
    let Some(site) = site else { return Vec::new() };
    let captured = {
        let sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
        sites.as_ref().and_then(|sites| sites.captured.get(site.number() as usize).cloned())
    };
    match captured.as_deref() {
        Some(Captured::Python(frames)) => frames.clone(),
        Some(Captured::Native(stack, frames)) => frames.get_or_init(|| stack.frames(MOST_FRAMES)).clone(),
        None => Vec::new(),
    }
}
