//! Number of blocks of a kernel that fit on a multiprocessor.

use cuprum_sys::*;

use crate::program::Kernel;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, Out, calls};
use crate::driver::device::{
    BLOCKS_PER_MULTIPROCESSOR, REGISTERS_PER_MULTIPROCESSOR, SHARED_PER_MULTIPROCESSOR, SHARED_RESERVED,
    THREADS_PER_MULTIPROCESSOR, multiprocessors,
};

use super::attributes::max_threads;
use super::function::Function;

const WARP: u32 = 32;

/// Returns the number of blocks of this size that one multiprocessor holds at once.
pub(super) fn resident_blocks(kernel: &Kernel, threads: u32, dynamic_shared: u32) -> u32 {
    let threads = threads.next_multiple_of(WARP);
    if threads == 0 || threads > max_threads(kernel).next_multiple_of(WARP) {
        return 0;
    }
    let shared = kernel.static_shared().saturating_add(dynamic_shared);
    let by_threads = THREADS_PER_MULTIPROCESSOR as u32 / threads;
    let by_shared = SHARED_PER_MULTIPROCESSOR / shared.saturating_add(SHARED_RESERVED);
    let by_registers = REGISTERS_PER_MULTIPROCESSOR as u32 / (kernel.registers() * threads).max(1);
    by_threads.min(by_shared).min(by_registers.max(1)).min(BLOCKS_PER_MULTIPROCESSOR as u32)
}

fn active_blocks(
    call: &Call,
    out: Out<i32>,
    function: CUfunction,
    threads: i32,
    dynamic_shared: usize,
) -> Answer {
    out.check()?;
    call.context()?;
    let function = Function::find(function)?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0);
    let threads = threads.ok_or(INVALID_VALUE)?;
    let shared = u32::try_from(dynamic_shared).map_err(|_| INVALID_VALUE)?;
    out.set(resident_blocks(&function.kernel, threads, shared) as i32)
}

/// Finds the block size with the most threads on a multiprocessor; of several, the largest.
fn best_block(
    grid: Out<i32>,
    block: Out<i32>,
    function: CUfunction,
    shared_of: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: i32,
) -> Answer {
    grid.check()?;
    block.check()?;
    let function = Function::find(function)?;
    let most = max_threads(&function.kernel);
    let most = match u32::try_from(limit) {
        Ok(limit) if limit > 0 => most.min(limit),
        _ => most,
    };
    let (mut best, mut best_threads) = (WARP.min(most), 0);
    let mut threads = most;
    while threads > 0 {
        let shared = match shared_of {
            // SAFETY: the client's function, of the declared type, accepts any block size. It may
            // call the driver, as on an H100, because no lock is held here.
            Some(shared_of) => unsafe { shared_of(threads as i32) },
            None => dynamic_shared,
        };
        let shared = u32::try_from(shared).unwrap_or(u32::MAX);
        let resident = resident_blocks(&function.kernel, threads, shared) * threads;
        if resident > best_threads {
            (best, best_threads) = (threads, resident);
        }
        threads = if threads % WARP == 0 { threads - WARP } else { threads / WARP * WARP };
    }
    block.set(best as i32)?;
    grid.set((best_threads / best.max(1)).max(1) as i32 * multiprocessors())
}

calls! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        call,
        numBlocks: Out<i32>,
        func: CUfunction,
        blockSize: i32,
        dynamicSMemSize: usize,
    ) {
        active_blocks(call, numBlocks, func, blockSize, dynamicSMemSize)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        call,
        numBlocks: Out<i32>,
        func: CUfunction,
        blockSize: i32,
        dynamicSMemSize: usize,
        flags: u32,
    ) {
        ensure(flags <= 1, INVALID_VALUE)?;
        active_blocks(call, numBlocks, func, blockSize, dynamicSMemSize)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        _call,
        minGridSize: Out<i32>,
        blockSize: Out<i32>,
        func: CUfunction,
        blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
        dynamicSMemSize: usize,
        blockSizeLimit: i32,
    ) {
        best_block(
            minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit,
        )
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        _call,
        minGridSize: Out<i32>,
        blockSize: Out<i32>,
        func: CUfunction,
        blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
        dynamicSMemSize: usize,
        blockSizeLimit: i32,
        flags: u32,
    ) {
        ensure(flags <= 1, INVALID_VALUE)?;
        best_block(
            minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit,
        )
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(
        _call,
        dynamicSmemSize: Out<usize>,
        func: CUfunction,
        numBlocks: i32,
        blockSize: i32,
    ) {
        dynamicSmemSize.check()?;
        let function = Function::find(func)?;
        let blocks = u32::try_from(numBlocks).ok().filter(|&blocks| blocks > 0);
        let blocks = blocks.ok_or(INVALID_VALUE)?;
        ensure(blockSize > 0, INVALID_VALUE)?;
        let share = SHARED_PER_MULTIPROCESSOR / blocks;
        let left = share.saturating_sub(SHARED_RESERVED + function.kernel.static_shared());
        dynamicSmemSize.set(left as usize)
    }
}
