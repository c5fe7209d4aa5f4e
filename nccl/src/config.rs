//! Options of communicators.

use std::ffi::c_int;
use std::ptr;

use crate::raw::{NCCL_CONFIG_MAGIC, NCCL_CONFIG_UNDEF_INT, ncclConfig_t};

/// Options of a communicator. The default is NCCL's.
///
/// ```
/// use cuprum_nccl::Config;
///
/// let config = Config::default().non_blocking(true).blocks(1..=4);
/// # let _ = config;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Config {
    blocking: c_int,
    least_blocks: c_int,
    most_blocks: c_int,
    cluster: c_int,
    split_share: c_int,
}

impl Default for Config {
    fn default() -> Self {
        let unset = NCCL_CONFIG_UNDEF_INT;
        Self { blocking: 1, least_blocks: unset, most_blocks: unset, cluster: unset, split_share: unset }
    }
}

impl Config {
    /// With `true`, no call on the communicator waits for other members for long: it is made and
    /// finalized in the background ([`Communicator::wait`](crate::Communicator::wait)), and any
    /// thread can abort it at any time. A collective then starts a thread of NCCL's, so that small
    /// ones take longer.
    #[must_use]
    pub const fn non_blocking(mut self, yes: bool) -> Self {
        self.blocking = !yes as c_int;
        self
    }

    /// Number of blocks that NCCL's kernels may have.
    #[must_use]
    pub const fn blocks(mut self, range: std::ops::RangeInclusive<u16>) -> Self {
        (self.least_blocks, self.most_blocks) = (*range.start() as c_int, *range.end() as c_int);
        self
    }

    /// Number of blocks per cluster of NCCL's kernels, on devices that have clusters.
    #[must_use]
    pub const fn cluster(mut self, blocks: u16) -> Self {
        self.cluster = blocks as c_int;
        self
    }

    /// With `true`, the parts of a split use the resources of the whole.
    #[must_use]
    pub const fn split_share(mut self, yes: bool) -> Self {
        self.split_share = yes as c_int;
        self
    }

    pub(crate) const fn is_blocking(&self) -> bool {
        self.blocking == 1
    }

    pub(crate) fn as_raw(&self) -> ncclConfig_t {
        ncclConfig_t {
            size: size_of::<ncclConfig_t>(),
            magic: NCCL_CONFIG_MAGIC,
            // The version that has these fields, which every library from 2.18 on takes.
            version: 21_700,
            blocking: self.blocking,
            cgaClusterSize: self.cluster,
            minCTAs: self.least_blocks,
            maxCTAs: self.most_blocks,
            netName: ptr::null(),
            splitShare: self.split_share,
        }
    }
}
