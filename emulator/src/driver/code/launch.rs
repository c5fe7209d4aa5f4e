//! Launches of kernels, checked against the limits of the device and the kernel.

use std::sync::Arc;

use cuprum_sys::*;

use crate::program::Kernel;
use crate::settings::ApiCheck;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, Param, misuse};
use crate::driver::device::{MAX_BLOCK, MAX_GRID, MAX_THREADS, multiprocessors};
use crate::driver::state::settings;

use super::attributes::max_threads;
use super::cluster::{Sides, asked, clusters, most};
use super::function::Function;
use super::occupancy::resident_blocks;

/// A launch, checked and ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) function: Arc<Function>,
    pub(crate) shape: LaunchShape,
    pub(crate) params: Vec<u8>,
    /// Blocks of a cluster, if the launch or the kernel has clusters.
    pub(super) cluster: Option<Sides>,
}

/// All parts of a launch except the kernel and its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaunchShape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) cooperative: bool,
    /// Blocks of a cluster, if the launch states them.
    pub(crate) cluster: Option<Sides>,
}

impl Launch {
    /// Checks a launch against the limits of the device and the kernel.
    pub(crate) fn new(function: Arc<Function>, shape: LaunchShape, params: Vec<u8>) -> Answer<Self> {
        let kernel = &function.kernel;
        let shape = shape.with_required_block(kernel);
        let threads = shape.check(&function)?;
        if shape.cooperative {
            let resident = resident_blocks(kernel, threads, shape.dynamic_shared);
            let room = u64::from(resident) * multiprocessors() as u64;
            let blocks = shape.grid.iter().map(|&side| u64::from(side)).product::<u64>();
            ensure(blocks <= room, CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)?;
        }
        let cluster = clusters(&function, shape.grid, shape.cluster, most(&function))?;
        Ok(Self { function, shape, params, cluster })
    }
}

impl LaunchShape {
    /// A driver of CUDA 13 launches blocks of `.reqntid` threads where a single one is asked for,
    /// as an H200 does with driver 580.
    fn with_required_block(self, kernel: &Kernel) -> Self {
        match kernel.required_threads() {
            Some(block) if self.block == [1; 3] && settings().driver_version >= Version::new(13, 0) => {
                LaunchShape { block, ..self }
            }
            _ => self,
        }
    }

    /// Checks the shape against the limits of device and kernel. Returns the threads per block.
    fn check(&self, function: &Function) -> Answer<u32> {
        self.threads(function).map_err(|(rank, mistake)| {
            misuse(rank, || mistake);
            INVALID_VALUE
        })
    }

    /// Returns the threads per block, or the limit of device or kernel that the shape exceeds.
    pub(super) fn threads(&self, function: &Function) -> Result<u32, (ApiCheck, String)> {
        let (kernel, name) = (&function.kernel, function.kernel.name());
        let exceeds = |sides: [u32; 3], limits: [u32; 3]| {
            !sides.iter().zip(limits).all(|(&side, limit)| (1..=limit).contains(&side))
        };
        let refuse = |rank, limit: String| Err((rank, format!("kernel `{name}` in {limit}")));
        let (grid, block) = (self.grid, self.block);
        if exceeds(grid, MAX_GRID) {
            let limit = format!("a grid of {grid:?} blocks, where 1 to {MAX_GRID:?} are possible");
            return refuse(ApiCheck::Certain, limit);
        }
        if exceeds(block, MAX_BLOCK) {
            let limit = format!("blocks of {block:?} threads, where 1 to {MAX_BLOCK:?} are possible");
            return refuse(ApiCheck::Certain, limit);
        }
        let threads: u32 = block.iter().product();
        if threads > MAX_THREADS {
            let limit = format!("blocks of {threads} threads, where at most {MAX_THREADS} are possible");
            return refuse(ApiCheck::Certain, limit);
        }
        if threads > max_threads(kernel) {
            let most = max_threads(kernel);
            return refuse(
                ApiCheck::All,
                format!("blocks of {threads} threads, where it takes at most {most}"),
            );
        }
        let required = kernel.required_threads();
        if required.is_some_and(|required| required != block) {
            let limit = format!("blocks of {block:?} threads, where it takes {required:?} only");
            return refuse(ApiCheck::All, limit);
        }
        let (shared, allowed) = (self.dynamic_shared, function.attributes.dynamic_shared());
        if shared > allowed {
            let mistake = format!(
                "kernel `{name}` with {shared} bytes of dynamic shared memory, where {allowed} are allowed: set \
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES before"
            );
            return Err((ApiCheck::All, mistake));
        }
        Ok(threads)
    }

    /// Returns the shape of an extended launch, without its attributes.
    pub(super) fn of(config: &CUlaunchConfig) -> Self {
        LaunchShape {
            grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
            block: [config.blockDimX, config.blockDimY, config.blockDimZ],
            dynamic_shared: config.sharedMemBytes,
            cooperative: false,
            cluster: None,
        }
    }

    /// Applies the attributes of an extended launch that affect its result.
    pub(super) fn apply(&mut self, config: &CUlaunchConfig) -> Answer {
        // SAFETY: the client's array has the length stated in the configuration.
        let attributes = unsafe { In::from_raw(config.attrs.cast_const()) };
        for attribute in attributes.get_all(config.numAttrs as usize)? {
            match attribute.id {
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                    // SAFETY: the id says that the client set this member, an integer.
                    self.cooperative = unsafe { attribute.value.cooperative } != 0;
                }
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                    // SAFETY: the id says that the client set this member, three integers.
                    self.cluster = asked(unsafe { attribute.value.clusterDim });
                }
                // Other attributes are hints for the hardware.
                known if known.name().is_some() => {}
                _ => return Err(INVALID_VALUE),
            }
        }
        Ok(())
    }
}
