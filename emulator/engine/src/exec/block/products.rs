//! Products of a warp group that are under way.

/// A product, with what it had in place of operands when it was issued.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct LateProduct {
    pub(in crate::exec) pc: u32,
    /// Of the factors in shared memory.
    pub(in crate::exec) descriptors: [u64; 2],
    /// True if the old values of the result count.
    pub(in crate::exec) accumulates: bool,
}

/// Products of a warp that are under way, in their order, each with the number of its group.
#[derive(Clone, Debug, Default)]
pub(in crate::exec) struct LateProducts {
    list: Vec<(LateProduct, u64)>,
    /// Groups since the start of the block.
    groups: u64,
}

impl LateProducts {
    pub(in crate::exec) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(in crate::exec) fn clear(&mut self) {
        self.list.clear();
        self.groups = 0;
    }

    pub(in crate::exec) fn push(&mut self, product: LateProduct) {
        self.list.push((product, self.groups));
    }

    /// Makes a group of the products since the last one.
    pub(in crate::exec) fn commit(&mut self) {
        self.groups += 1;
    }

    pub(in crate::exec) fn under_way(&self) -> impl Iterator<Item = &LateProduct> {
        self.list.iter().map(|(product, _)| product)
    }

    /// Number of products that have to end for no more than `most` groups to be under way.
    pub(in crate::exec) fn due(&self, most: u32) -> usize {
        let first = self.groups.saturating_sub(most.into());
        self.list.iter().take_while(|(_, group)| *group < first).count()
    }

    /// Removes the first products.
    pub(in crate::exec) fn take(&mut self, count: usize) -> Vec<LateProduct> {
        self.list.drain(..count).map(|(product, _)| product).collect()
    }
}
