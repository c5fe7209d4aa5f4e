//! Occupancy: the blocks of a kernel that a device runs at once, and the best block size.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use cuprum_sys::{CUoccupancy_flags, CUoccupancyB2DSize, CUresult, FnId};

use super::attributes::raw_config;
use super::{LaunchAttributes, LaunchConfig};
use crate::context::context_call;
use crate::error::Error;
use crate::module::Function;

/// Options of occupancy queries.
pub type OccupancyFlags = CUoccupancy_flags;

/// Returns the shared memory per block during the driver's query.
type SharedBytes<'a> = &'a mut dyn FnMut(u32) -> usize;

thread_local! {
    /// The driver's callback has no argument of its own.
    static ASKED: Cell<*mut AskedFor<'static>> = const { Cell::new(ptr::null_mut()) };
}

struct AskedFor<'a> {
    shared_bytes: SharedBytes<'a>,
    panicked: Option<Box<dyn std::any::Any + Send>>,
}

impl Function<'_> {
    /// Returns the number of blocks of `threads` threads and `shared_bytes` bytes of dynamic shared
    /// memory that one multiprocessor runs at once; 0 if none fits.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for zero threads, or too many for a block of the kernel.
    ///
    /// Driver: `cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`, CUDA 7.0+.
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")]
    #[inline]
    pub fn max_active_blocks_per_multiprocessor(
        self,
        threads: u32,
        shared_bytes: usize,
        flags: OccupancyFlags,
    ) -> Result<u32, Error> {
        let call = FnId::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags;
        let (mut blocks, threads) = (0, signed(threads, call)?);
        let to = &raw mut blocks;
        // SAFETY: the borrowed module keeps the function live, and `blocks` outlives the call.
        unsafe {
            context_call!(
                self.context(),
                cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                    to,
                    self.as_raw(),
                    threads,
                    shared_bytes,
                    flags.0
                )
            )
        }?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// Returns the block size with the most concurrent threads, and the number of blocks that the
    /// device runs at once: a smaller grid leaves part of it idle.
    ///
    /// `shared_bytes` returns the bytes of dynamic shared memory of a block, by its number of
    /// threads. `limit` is the largest block that the program can use; 0 for the kernel's own
    /// limit.
    ///
    /// The driver calls `shared_bytes` on this thread before this function returns. Driver calls in
    /// it may return `CUDA_ERROR_NOT_PERMITTED`. If it panics, it is not called again, and the
    /// panic resumes after the driver has returned.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::launch::OccupancyFlags;
    /// use cuprum::{LaunchConfig, Module};
    ///
    /// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
    /// // No shared memory, and blocks of any size.
    /// let best = module.function("saxpy")?.max_potential_block_size(|_| 0, 0, OccupancyFlags::CU_OCCUPANCY_DEFAULT)?;
    /// let config = LaunchConfig::for_elements(1_000_000, best.block.x);
    /// assert!(config.grid.x >= 1_000_000 / best.block.x);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for more shared memory than any block can have.
    ///
    /// Driver: `cuOccupancyMaxPotentialBlockSizeWithFlags`, CUDA 7.0+.
    #[doc(alias = "cuOccupancyMaxPotentialBlockSizeWithFlags")]
    pub fn max_potential_block_size(
        self,
        mut shared_bytes: impl FnMut(u32) -> usize,
        limit: u32,
        flags: OccupancyFlags,
    ) -> Result<LaunchConfig, Error> {
        let mut asked = AskedFor { shared_bytes: &mut shared_bytes, panicked: None };
        // A nested query from the closure uses the slot and restores it.
        let outer = ASKED.replace((&raw mut asked).cast());
        // SAFETY: the callback's data lives until the slot is restored.
        let suggestion = unsafe { self.suggest(Some(ask), limit, flags) };
        ASKED.set(outer);
        match asked.panicked {
            Some(payload) => resume_unwind(payload),
            None => suggestion,
        }
    }

    /// # Safety
    /// `ask` can be called on this thread until this returns.
    unsafe fn suggest(
        self,
        ask: CUoccupancyB2DSize,
        limit: u32,
        flags: OccupancyFlags,
    ) -> Result<LaunchConfig, Error> {
        let (mut min_grid, mut block) = (0, 0);
        let limit = signed(limit, FnId::cuOccupancyMaxPotentialBlockSizeWithFlags)?;
        let (to_grid, to_block) = (&raw mut min_grid, &raw mut block);
        // SAFETY: the function is live, both out-parameters outlive the call; the caller guarantees
        // `ask`.
        unsafe {
            context_call!(
                self.context(),
                cuOccupancyMaxPotentialBlockSizeWithFlags(
                    to_grid,
                    to_block,
                    self.as_raw(),
                    ask,
                    0,
                    limit,
                    flags.0
                )
            )
        }?;
        let positive = |value| u32::try_from(value).unwrap_or(0);
        Ok(LaunchConfig::new(positive(min_grid), positive(block)))
    }

    /// Returns the bytes of dynamic shared memory that each of `blocks` blocks of `threads` threads
    /// can have if one multiprocessor runs them all at once.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the blocks do not fit even without shared memory.
    ///
    /// Driver: `cuOccupancyAvailableDynamicSMemPerBlock`, CUDA 10.2+.
    #[doc(alias = "cuOccupancyAvailableDynamicSMemPerBlock")]
    #[inline]
    pub fn available_shared_bytes_per_block(self, blocks: u32, threads: u32) -> Result<usize, Error> {
        let call = FnId::cuOccupancyAvailableDynamicSMemPerBlock;
        let (mut bytes, blocks, threads) = (0, signed(blocks, call)?, signed(threads, call)?);
        let to = &raw mut bytes;
        // SAFETY: the borrowed module keeps the function live, and `bytes` outlives the call.
        unsafe {
            context_call!(
                self.context(),
                cuOccupancyAvailableDynamicSMemPerBlock(to, self.as_raw(), blocks, threads)
            )
        }?;
        Ok(bytes)
    }

    /// Returns the maximum number of blocks per cluster with this geometry.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` on devices before compute capability 9.0;
    /// `CUDA_ERROR_INVALID_VALUE` for a geometry that cannot be launched.
    ///
    /// Driver: `cuOccupancyMaxPotentialClusterSize`, CUDA 11.7+.
    #[doc(alias = "cuOccupancyMaxPotentialClusterSize")]
    #[inline]
    pub fn max_potential_cluster_size(
        self,
        config: LaunchConfig,
        attributes: &LaunchAttributes,
    ) -> Result<u32, Error> {
        let attributes = attributes.raw();
        let (mut blocks, config) = (0, raw_config(config, &attributes, cuprum_sys::CUstream::null()));
        let (to, config) = (&raw mut blocks, &raw const config);
        // SAFETY: the function is live; the config, its pointers, and `blocks` outlive the call.
        unsafe {
            context_call!(self.context(), cuOccupancyMaxPotentialClusterSize(to, self.as_raw(), config))
        }?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// Returns the number of clusters that the device runs at once with this geometry. The
    /// attributes contain the cluster size.
    ///
    /// # Errors
    /// Same as [`max_potential_cluster_size`](Function::max_potential_cluster_size);
    /// `CUDA_ERROR_INVALID_CLUSTER_SIZE` for a cluster that is too large.
    ///
    /// Driver: `cuOccupancyMaxActiveClusters`, CUDA 11.7+.
    #[doc(alias = "cuOccupancyMaxActiveClusters")]
    #[inline]
    pub fn max_active_clusters(
        self,
        config: LaunchConfig,
        attributes: &LaunchAttributes,
    ) -> Result<u32, Error> {
        let attributes = attributes.raw();
        let (mut clusters, config) = (0, raw_config(config, &attributes, cuprum_sys::CUstream::null()));
        let (to, config) = (&raw mut clusters, &raw const config);
        // SAFETY: the function is live; the config, its pointers, and `clusters` outlive the call.
        unsafe { context_call!(self.context(), cuOccupancyMaxActiveClusters(to, self.as_raw(), config)) }?;
        Ok(u32::try_from(clusters).unwrap_or(0))
    }
}

/// The driver's callback. Calls the closure of this thread's query.
unsafe extern "C" fn ask(threads: i32) -> usize {
    let asked = ASKED.get();
    if asked.is_null() {
        return 0;
    }
    // SAFETY: the slot points to a value on the stack of the query. No other code accesses it while
    // the driver runs, and the closure cannot reach it.
    let asked = unsafe { &mut *asked };
    if asked.panicked.is_some() {
        return 0;
    }
    let threads = u32::try_from(threads).unwrap_or(0);
    catch_unwind(AssertUnwindSafe(|| (asked.shared_bytes)(threads))).unwrap_or_else(|payload| {
        asked.panicked = Some(payload);
        0
    })
}

fn signed(value: u32, call: FnId) -> Result<i32, Error> {
    i32::try_from(value).map_err(|_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call))
}
