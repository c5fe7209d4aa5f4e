//! Asynchronous products of a warp group in progress.

/// A product, with the values of its operands at issue.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct LateProduct {
    pub(in crate::exec) pc: u32,
    pub(in crate::exec) descriptors: [u64; 2],
    /// True if the product is added to the old values.
    pub(in crate::exec) accumulates: bool,
}

/// The products of a warp in progress, in order, each with the number of its group.
#[derive(Clone, Debug, Default)]
pub(in crate::exec) struct LateProducts {
    list: Vec<(LateProduct, u64)>,
    /// Number of groups since the start of the block.
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

    /// Combines the products since the last group into a group.
    pub(in crate::exec) fn commit(&mut self) {
        self.groups += 1;
    }

    pub(in crate::exec) fn under_way(&self) -> impl Iterator<Item = &LateProduct> {
        self.list.iter().map(|(product, _)| product)
    }

    /// Returns how many products must end so that at most `most` groups remain in progress.
    pub(in crate::exec) fn due(&self, most: u32) -> usize {
        let first = self.groups.saturating_sub(most.into());
        self.list.iter().take_while(|(_, group)| *group < first).count()
    }

    pub(in crate::exec) fn take(&mut self, count: usize) -> Vec<LateProduct> {
        self.list.drain(..count).map(|(product, _)| product).collect()
    }
}
