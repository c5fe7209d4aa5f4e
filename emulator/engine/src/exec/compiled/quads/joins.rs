//! The places where the lanes of a quad that part go on together.

use crate::program::blocks::Blocks;

/// Maximum number of blocks of a kernel whose lanes join again.
const MOST_BLOCKS: usize = 2000;

/// Returns for each block the first instruction of the block that all ways from it reach first, if
/// there is one.
pub(in crate::exec::compiled) fn find(blocks: &Blocks) -> Vec<Option<u32>> {
    let count = blocks.count();
    if count > MOST_BLOCKS {
        return vec![None; count];
    }
    let words = count.div_ceil(64);
    // The blocks that all ways from a block to the end pass, and itself.
    let mut passed = vec![vec![u64::MAX; words]; count];
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_unstable_by_key(|block| std::cmp::Reverse(blocks.rank(*block)));
    loop {
        let mut changed = false;
        for block in &order {
            let mut all = vec![if blocks.successors(*block).is_empty() { 0 } else { u64::MAX }; words];
            for next in blocks.successors(*block) {
                all.iter_mut().zip(&passed[*next]).for_each(|(all, next)| *all &= next);
            }
            all[block / 64] |= 1 << (block % 64);
            changed |= all != passed[*block];
            passed[*block] = all;
        }
        if !changed {
            break;
        }
    }
    let size = |block: usize| passed[block].iter().map(|word| word.count_ones()).sum::<u32>();
    let sizes: Vec<u32> = (0..count).map(size).collect();
    let nearest = |block: usize| {
        let others = (0..count).filter(|other| *other != block);
        others
            .filter(|other| passed[block][other / 64] >> (other % 64) & 1 != 0)
            .max_by_key(|other| sizes[*other])
    };
    let start = |block: usize| Some(blocks.range(nearest(block)?).start as u32);
    (0..count).map(start).collect()
}
