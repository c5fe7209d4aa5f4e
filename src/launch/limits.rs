//! Limits of a kernel's launches.

use cuprum_sys::{CUdevice_attribute, CUfunction_attribute, Version};

use super::{Dim3, LaunchConfig, LaunchError};
use crate::error::Error;
use crate::module::Function;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) threads: u32,
    pub(super) shared_bytes: u32,
}

impl Limits {
    #[inline]
    pub(crate) fn check(&self, config: LaunchConfig) -> Result<(), LaunchError> {
        let LaunchConfig { grid, block, shared_bytes } = config;
        if grid.is_within(self.grid) && self.allow_block(block) && shared_bytes <= self.shared_bytes {
            Ok(())
        } else {
            Err(self.refuse(config))
        }
    }

    #[inline]
    fn allow_block(&self, block: Dim3) -> bool {
        // The limits of a block's dimensions are small, so the product cannot overflow.
        block.is_within(self.block)
            && u64::from(block.x) * u64::from(block.y) * u64::from(block.z) <= u64::from(self.threads)
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, config: LaunchConfig) -> LaunchError {
        let LaunchConfig { grid, block, shared_bytes } = config;
        if grid.has_zero() || block.has_zero() {
            LaunchError::Empty { grid, block }
        } else if !grid.is_within(self.grid) {
            LaunchError::Grid { grid, limit: self.grid }
        } else if !self.allow_block(block) {
            LaunchError::Block { block, limit: self.block, threads: self.threads }
        } else {
            LaunchError::SharedMemory { bytes: shared_bytes, limit: self.shared_bytes }
        }
    }
}

impl Limits {
    pub(crate) fn of(function: Function<'_>) -> Result<Self, Error> {
        let device = function.context().device();
        let device = |attribute| device.attribute(attribute).map(positive);
        let of_function = |attribute| function.attribute(attribute).map(positive);
        // Drivers before CUDA 9.0 have no such limit of a function; there the launch itself fails.
        let has_limit = function.context().driver().version() >= Version::new(9, 0);
        let limit = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let shared_bytes = if has_limit { of_function(limit)? } else { u32::MAX };
        Ok(Self {
            grid: Dim3 {
                x: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                y: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                z: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            },
            block: Dim3 {
                x: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                y: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                z: device(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            },
            threads: of_function(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_bytes,
        })
    }
}

fn positive(value: i32) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        grid: Dim3 { x: 0x7FFF_FFFF, y: 65535, z: 65535 },
        block: Dim3 { x: 1024, y: 1024, z: 64 },
        threads: 768,
        shared_bytes: 49152,
    };

    #[test]
    fn the_limits_themselves_pass() {
        assert_eq!(
            LIMITS.check(LaunchConfig {
                shared_bytes: 49152,
                ..LaunchConfig::new((0x7FFF_FFFF, 65535, 65535), (12, 1, 64))
            }),
            Ok(())
        );
    }
}
