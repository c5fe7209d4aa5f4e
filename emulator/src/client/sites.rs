//! Call sites of the program: captured at each call, named when they are reported.

use super::{native, python};
use crate::report::Frame;
use crate::served::Site;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Maximum number of frames per call site, the innermost first.
const MOST_FRAMES: usize = 12;

/// Maximum number of call sites that are distinguished. Further ones stay unknown.
const MOST_SITES: usize = 1 << 16;

/// Identifies a call site.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Python(Vec<Frame>),
    /// Return addresses.
    Native(Vec<usize>),
}

/// A call site. Its names and lines are looked up when a report needs them.
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

/// Returns the call site of the client; the same number for the same site. Waits for Python's lock
/// if the thread released it for the call, so the caller must hold no lock of the driver.
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

/// Returns the frames of a call site, the innermost first; empty if it is unknown.
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
