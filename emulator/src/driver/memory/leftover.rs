//! Contents of freed memory, which later allocations of the same size may contain.
//!
//! No address is reused before all have been used, and fresh bytes are zeros. On hardware, memory
//! that shares a page may be reused with its old contents, because zeros are not guaranteed; an
//! H100 clears pages that become entirely free. The modes that reveal mistakes imitate this; the
//! eager mode keeps zeros.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::memory::{Region, RegionKind};

/// The contents of the memory freed last.
#[derive(Debug)]
pub(super) struct Leftovers(Mutex<VecDeque<Box<[u8]>>>);

pub(super) static LEFTOVERS: Leftovers = Leftovers(Mutex::new(VecDeque::new()));

/// Maximum size of a remembered allocation. Larger ones have their own pages.
const LARGEST: u64 = 64 << 10;

/// Maximum number of remembered contents.
const MOST: usize = 64;

impl Leftovers {
    /// Remembers the contents of memory that is being freed and is no longer in use.
    pub(super) fn keep(&self, region: &Region) {
        if !is_remembered(region) {
            return;
        }
        let mut content = vec![0u8; region.len as usize];
        // SAFETY: the region keeps its bytes alive, and the vector has the same length.
        unsafe { region.host.copy_to_nonoverlapping(content.as_mut_ptr(), content.len()) };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front(content.into());
        kept.truncate(MOST);
    }

    /// Fills memory of a new allocation with the contents of freed memory of the same size.
    pub(super) fn leave_in(&self, region: &Region) {
        if !is_remembered(region) {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|content| content.len() as u64 == region.len);
        let found = place.and_then(|at| kept.remove(at));
        drop(kept);
        if let Some(content) = found {
            // SAFETY: the region keeps its bytes alive, and the contents have the same length.
            unsafe { content.as_ptr().copy_to_nonoverlapping(region.host, content.len()) };
        }
    }
}

fn is_remembered(region: &Region) -> bool {
    matches!(region.kind, RegionKind::Device | RegionKind::Pooled) && region.len <= LARGEST
}
