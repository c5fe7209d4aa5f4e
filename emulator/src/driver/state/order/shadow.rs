//! The last operations that accessed each byte.

use std::collections::HashMap;
use std::sync::Arc;

use crate::exec::touched::{Manner, PAGE};
use crate::memory::Neighbor;
use crate::report::{Line, Work};

use super::clocks::{Clock, Moment};
use super::mask::Mask;
use super::nodes::Place;

/// An act of an operation on one allocation.
#[derive(Debug)]
pub(super) struct Touch {
    pub(super) work: Arc<Work>,
    pub(super) moment: Moment,
    pub(super) clock: Arc<Clock>,
    pub(super) place: Place,
    pub(super) memory: Option<Arc<Neighbor>>,
    pub(super) manner: Manner,
    pub(super) lines: Arc<[Line]>,
    /// The value that it wrote, if streams can wait for this number.
    pub(super) value: Option<u64>,
}

/// The order between an earlier act and a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Over,
    Before,
    Unordered,
}

#[derive(Debug)]
struct Layer {
    touch: Arc<Touch>,
    mask: Mask,
}

/// A page of an allocation, by its number; 0 for pageable host memory.
pub(super) type PageKey = (u64, u64);

/// Maximum number of layers per page; beyond it, the oldest are dropped.
const MOST: usize = 64;

/// The recorded acts of all memory.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: HashMap<PageKey, Vec<Layer>>,
    /// Number of pages at which unneeded ones are dropped.
    many: usize,
}

/// An earlier act that accesses the same bytes.
#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) touch: Arc<Touch>,
    /// The first bytes that both access.
    pub(super) bytes: (u64, u64),
}

impl Meeting {
    /// Appends itself to the meetings on earlier pages, or extends the last one if it is with the
    /// same act and ends where this one starts.
    pub(super) fn join(self, meetings: &mut Vec<Self>) {
        match meetings.last_mut() {
            Some(last) if Arc::ptr_eq(&last.touch, &self.touch) && last.bytes.1 == self.bytes.0 => {
                last.bytes.1 = self.bytes.1;
            }
            _ => meetings.push(self),
        }
    }
}

/// True if two kinds of access to the same bytes need an order.
fn conflict(a: Manner, b: Manner) -> bool {
    (a.writes() || b.writes()) && !(a.is_strong() && b.is_strong())
}

impl Shadow {
    /// Finds the acts that access some of the bytes and are not ordered before.
    pub(super) fn meetings(
        &self,
        key: PageKey,
        mask: &Mask,
        mut visit: impl FnMut(Meeting),
        among: impl Fn(&Touch) -> bool,
    ) {
        for layer in self.pages.get(&key).into_iter().flatten().filter(|layer| among(&layer.touch)) {
            if let Some((start, end)) = layer.mask.overlap(mask) {
                let base = key.1 * PAGE;
                visit(Meeting { touch: Arc::clone(&layer.touch), bytes: (base + start, base + end) });
            }
        }
    }

    /// Records an act on a page, and finds the first act that conflicts with it.
    pub(super) fn enter(
        &mut self,
        key: PageKey,
        touch: &Arc<Touch>,
        mask: Mask,
        standing: impl Fn(&Touch) -> Standing,
    ) -> Option<Meeting> {
        let layers = self.pages.entry(key).or_default();
        let mut found = None;
        layers.retain(|layer| match standing(&layer.touch) {
            Standing::Over => false,
            // An act that is unordered with the earlier act is also unordered with this one.
            Standing::Before => {
                let (earlier, now) = (layer.touch.manner, touch.manner);
                let stands_for =
                    (now.writes() || !earlier.writes()) && now.is_strong() <= earlier.is_strong();
                !(stands_for && mask.covers(&layer.mask))
            }
            Standing::Unordered => {
                if found.is_none() && conflict(layer.touch.manner, touch.manner) {
                    found = layer.mask.overlap(&mask).map(|(start, end)| {
                        let bytes = (key.1 * PAGE + start, key.1 * PAGE + end);
                        Meeting { touch: Arc::clone(&layer.touch), bytes }
                    });
                }
                true
            }
        });
        if layers.len() >= MOST {
            layers.remove(0);
        }
        layers.push(Layer { touch: Arc::clone(touch), mask });
        found
    }

    pub(super) fn forget(&mut self, memory: &Neighbor) {
        for page in 0..memory.len.div_ceil(PAGE) {
            self.pages.remove(&(memory.id, page));
        }
    }

    /// Removes acts that the host has waited for, if there are many pages.
    pub(super) fn clear(&mut self, is_over: impl Fn(&Touch) -> bool) {
        if self.pages.len() < self.many.max(MANY_PAGES) {
            return;
        }
        self.pages.retain(|_, layers| {
            layers.retain(|layer| !is_over(&layer.touch));
            !layers.is_empty()
        });
        self.many = 2 * self.pages.len();
    }
}

/// Minimum number of pages before some are dropped.
const MANY_PAGES: usize = 4096;
