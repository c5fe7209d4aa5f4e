//! The live regions by address: an ordered map with cheap copies.
//!
//! A treap whose nodes are shared between copies. A change copies the nodes on its path if a copy
//! of the map still uses them, so a change and a snapshot take logarithmic time.

use std::cmp::Ordering;
use std::sync::Arc;

use super::region::Region;

type Link = Option<Arc<Node>>;

#[derive(Debug, Clone)]
struct Node {
    region: Region,
    /// Higher than in the children. Derived from the address: equal regions form equal trees.
    priority: u64,
    below: Link,
    above: Link,
}

/// Regions that do not overlap, by their first address.
#[derive(Debug, Clone, Default)]
pub(super) struct Regions {
    root: Link,
    /// Number of regions that others access too.
    seen_by_others: usize,
}

impl Regions {
    /// True if only launches and the driver access them.
    pub(super) fn are_private(&self) -> bool {
        self.seen_by_others == 0
    }

    pub(super) fn get(&self, base: u64) -> Option<&Region> {
        self.last_up_to(base).filter(|region| region.base == base)
    }

    pub(super) fn last_up_to(&self, address: u64) -> Option<&Region> {
        let (mut at, mut found) = (self.root.as_ref(), None);
        while let Some(node) = at {
            if node.region.base <= address {
                found = Some(&node.region);
                at = node.above.as_ref();
            } else {
                at = node.below.as_ref();
            }
        }
        found
    }

    pub(super) fn first_after(&self, address: u64) -> Option<&Region> {
        let (mut at, mut found) = (self.root.as_ref(), None);
        while let Some(node) = at {
            if node.region.base > address {
                found = Some(&node.region);
                at = node.below.as_ref();
            } else {
                at = node.above.as_ref();
            }
        }
        found
    }

    /// Returns the region that begins here, to be changed; its start must stay.
    pub(super) fn get_mut(&mut self, base: u64) -> Option<&mut Region> {
        self.get(base)?;
        let mut at = &mut self.root;
        loop {
            let node = Arc::make_mut(at.as_mut()?);
            match base.cmp(&node.region.base) {
                Ordering::Less => at = &mut node.below,
                Ordering::Equal => return Some(&mut node.region),
                Ordering::Greater => at = &mut node.above,
            }
        }
    }

    /// Inserts a region. Replaces one that begins at the same address.
    pub(super) fn insert(&mut self, region: Region) {
        self.remove(region.base);
        self.seen_by_others += usize::from(!region.kind.is_private());
        let priority = mixed(region.base);
        let mut at = &mut self.root;
        while at.as_ref().is_some_and(|node| node.priority > priority) {
            let Some(node) = at.as_mut().map(Arc::make_mut) else { return };
            at = if region.base < node.region.base { &mut node.below } else { &mut node.above };
        }
        let (below, above) = split(at.take(), region.base);
        *at = Some(Arc::new(Node { region, priority, below, above }));
    }

    pub(super) fn remove(&mut self, base: u64) -> Option<Region> {
        let found = self.get(base)?.clone();
        let mut at = &mut self.root;
        while at.as_ref().is_some_and(|node| node.region.base != base) {
            let node = at.as_mut().map(Arc::make_mut)?;
            at = if base < node.region.base { &mut node.below } else { &mut node.above };
        }
        let node = at.take()?;
        *at = join(node.below.clone(), node.above.clone());
        self.seen_by_others -= usize::from(!found.kind.is_private());
        Some(found)
    }
}

/// Splits a tree into the regions below an address, and the rest. The recursion depth is the depth
/// of the tree, about twice the logarithm.
fn split(tree: Link, base: u64) -> (Link, Link) {
    let Some(mut tree) = tree else { return (None, None) };
    let node = Arc::make_mut(&mut tree);
    if node.region.base < base {
        let (below, above) = split(node.above.take(), base);
        node.above = below;
        (Some(tree), above)
    } else {
        let (below, above) = split(node.below.take(), base);
        node.below = above;
        (below, Some(tree))
    }
}

/// Joins two trees. All addresses of the first are below the addresses of the second.
fn join(first: Link, second: Link) -> Link {
    match (first, second) {
        (Some(mut first), Some(mut second)) => Some(if first.priority > second.priority {
            let node = Arc::make_mut(&mut first);
            node.above = join(node.above.take(), Some(second));
            first
        } else {
            let node = Arc::make_mut(&mut second);
            node.below = join(Some(first), node.below.take());
            second
        }),
        (first, second) => first.or(second),
    }
}

/// Returns a pseudo-random number (SplitMix64).
fn mixed(base: u64) -> u64 {
    let mut x = base.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
