//! Contents of freed memory, for allocations of the same size to find there.
//!
//! Addresses are not given out again before all were, and fresh bytes are zeros. On hardware, memory that shares a page
//! may be given out again with its old content, since nobody promises zeros; an H100 that was asked clears pages
//! that become free as a whole. The modes that bring out mistakes show this too; the eager mode keeps zeros.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::memory::{Region, RegionKind};

/// The contents of memory that was freed last.
#[derive(Debug)]
pub(super) struct Leftovers(Mutex<VecDeque<Box<[u8]>>>);

pub(super) static LEFTOVERS: Leftovers = Leftovers(Mutex::new(VecDeque::new()));

/// Largest allocation that is remembered: larger ones have pages of their own.
const LARGEST: u64 = 64 << 10;

/// Number of contents that are remembered.
const MOST: usize = 64;

impl Leftovers {
    /// Remembers memory that is being freed, and that nobody uses any more.
    pub(super) fn keep(&self, region: &Region) {
        if !is_remembered(region) {
            return;
        }
        let mut content = vec![0u8; region.len as usize];
        // SAFETY: the region holds its bytes, of which there are as many as the vector has.
        unsafe { region.host.copy_to_nonoverlapping(content.as_mut_ptr(), content.len()) };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front(content.into());
        kept.truncate(MOST);
    }

    /// Fills memory that is not handed out yet with the contents of freed memory of the same size.
    pub(super) fn leave_in(&self, region: &Region) {
        if !is_remembered(region) {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|content| content.len() as u64 == region.len);
        let found = place.and_then(|at| kept.remove(at));
        drop(kept);
        if let Some(content) = found {
            // SAFETY: the region holds its bytes, of which there are as many as the content has.
            unsafe { content.as_ptr().copy_to_nonoverlapping(region.host, content.len()) };
        }
    }
}

fn is_remembered(region: &Region) -> bool {
    matches!(region.kind, RegionKind::Device | RegionKind::Pooled) && region.len <= LARGEST
}
