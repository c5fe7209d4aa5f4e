//! State shared by all blocks of a launch.

use super::thread_index;
use crate::exec::check::shadow::GlobalShadow;
use crate::exec::check::suspects::Suspects;
use crate::exec::code;
use crate::exec::code::Steps;
use crate::exec::interface::{ExecOptions, Hooks, LaunchArgs};
use crate::exec::touched::Touched;
use crate::memory::{Map, Writer};
use crate::program::instruction::{Constant, Special};
use crate::program::memory::RANK_SHIFT;
use crate::program::unwritten::Unwritten;
use crate::program::{FUNCTION_STRIDE, Kernel};
use crate::report::{Fault, FaultKind};
use crate::semantics::{LANES, Register, Width};
use std::sync::Mutex;

/// Shared memory per block that the system reserves, in bytes, as the device reports.
const RESERVED_SHARED: u32 = 1024;

/// Maximum shared memory that a block can request, in bytes; more than any block has.
const MOST_SHARED: u32 = 1 << 20;

const MOST_BLOCKS: u64 = 16;

pub(in crate::exec) struct Launch<'a> {
    pub(in crate::exec) args: LaunchArgs<'a>,
    pub(in crate::exec) map: &'a Map,
    pub(in crate::exec) options: &'a ExecOptions,
    pub(in crate::exec) hooks: &'a dyn Hooks,
    /// Asked whether anything else writes global memory.
    pub(in crate::exec) writer: &'a Writer,
    /// Constant vector registers that are the same in all blocks.
    pub(in crate::exec) uniform: Vec<(Register, Width, u64)>,
    /// Constant vector registers that differ by block, warp or lane.
    pub(in crate::exec) varying: Vec<(Register, Width, Special)>,
    /// Constant vector registers that contain addresses of shared memory, if they depend on the
    /// rank of the block in its cluster.
    pub(in crate::exec) shared_addresses: Vec<(Register, Width, u64)>,
    /// Registers and predicates that are zeroed at the start of each block.
    pub(in crate::exec) unwritten: &'a Unwritten,
    /// Steps of the vector mode; `None` in the plain mode.
    pub(in crate::exec) steps: Option<&'a Steps>,
    /// Number of the form of machine code that runs it; `None` if none does.
    pub(in crate::exec) machine_form: Option<usize>,
    pub(in crate::exec) threads: u32,
    pub(in crate::exec) blocks: u64,
    pub(in crate::exec) cluster: [u32; 3],
    pub(in crate::exec) shared_bytes: u32,
    pub(in crate::exec) global_shadow: Option<GlobalShadow>,
    /// The record of accessed bytes of global memory.
    pub(in crate::exec) touched: Option<&'a Touched>,
    /// The instructions whose registers are checked, if there are any.
    pub(in crate::exec) suspects: Option<Suspects>,
    /// Findings of checks that were reported while the launch continued: instruction and kind.
    pub(super) reported: Mutex<Vec<(u32, FaultKind)>>,
}

impl<'a> Launch<'a> {
    /// Prepares a launch, for a form of machine code if there is any. Refuses one that would break
    /// the execution.
    pub(in crate::exec) fn new(
        args: &LaunchArgs<'a>,
        map: &'a Map,
        options: &'a ExecOptions,
        hooks: &'a dyn Hooks,
        writer: &'a Writer,
        machine_form: Option<usize>,
    ) -> Result<Self, Box<Fault>> {
        let kernel = args.kernel;
        let Extent { threads, blocks, cluster, shared_bytes } =
            Extent::of(args).map_err(|text| Box::new(Fault::new(FaultKind::Other(text), &kernel.name)))?;
        let mut launch = Launch {
            args: *args,
            map,
            options,
            hooks,
            writer,
            uniform: Vec::new(),
            varying: Vec::new(),
            shared_addresses: Vec::new(),
            unwritten: kernel.unwritten(),
            machine_form,
            steps: if options.allow_vectors(kernel) && machine_form.is_none() {
                code::steps(kernel)
            } else {
                None
            },
            threads,
            blocks,
            cluster,
            shared_bytes,
            global_shadow: options.check_races.then(GlobalShadow::default),
            touched: hooks.touched(),
            suspects: if options.check_init { Suspects::of(kernel) } else { None },
            reported: Mutex::default(),
        };
        let copies = launch.steps.map_or(&[][..], |steps| &steps.constants);
        launch.uniform.reserve(kernel.constants.len() + copies.len());
        for (register, width, constant) in kernel.constants.iter().chain(copies) {
            match launch.value(*constant) {
                Ok(value) if launch.is_clustered() && matches!(constant, Constant::Shared { .. }) => {
                    launch.shared_addresses.push((*register, *width, value));
                }
                Ok(value) => launch.uniform.push((*register, *width, value)),
                Err(special) => launch.varying.push((*register, *width, special)),
            }
        }
        Ok(launch)
    }

    /// Returns the value of a constant row, or the special register on which it depends.
    fn value(&self, constant: Constant) -> Result<u64, Special> {
        let args = &self.args;
        let windows = self.map.windows();
        Ok(match constant {
            Constant::Bits(bits) => bits,
            Constant::Param { offset, bytes, signed } => {
                let mut raw = [0; 8];
                let source =
                    args.params.get(offset as usize..offset as usize + bytes as usize).unwrap_or_default();
                raw[..source.len()].copy_from_slice(source);
                let value = u64::from_le_bytes(raw);
                let unused = 64 - 8 * bytes.min(8);
                if signed { ((value << unused) as i64 >> unused) as u64 } else { value }
            }
            Constant::Global { index, offset } => {
                let base = args.globals.get(index as usize).copied().unwrap_or(0);
                base.wrapping_add_signed(offset)
            }
            Constant::Shared { index, offset } => {
                u64::from(args.kernel.shared_offsets[index as usize]).wrapping_add_signed(offset)
            }
            Constant::Function { index } => windows.code + u64::from(index) * FUNCTION_STRIDE,
            Constant::Special(special) => match special {
                Special::BlockDim(axis) => args.block[axis as usize].into(),
                Special::GridDim(axis) => args.grid[axis as usize].into(),
                Special::WarpSize => LANES as u64,
                Special::WarpsPerBlock => u64::from(self.threads.div_ceil(LANES as u32)),
                Special::MultiprocessorCount => self.options.multiprocessors.into(),
                Special::GridId | Special::Zero => 0,
                Special::DynamicSharedBytes => args.dynamic_shared.into(),
                Special::TotalSharedBytes => self.shared_bytes.into(),
                Special::AllSharedBytes => u64::from(self.shared_bytes + RESERVED_SHARED),
                Special::GridDimInClusters(axis) => {
                    (args.grid[axis as usize] / self.cluster[axis as usize]).into()
                }
                Special::ClusterDim(axis) => self.cluster[axis as usize].into(),
                Special::BlocksPerCluster => self.blocks_per_cluster().into(),
                Special::ExplicitCluster => {
                    let bounds = args.kernel.cluster();
                    (bounds.explicit || bounds.required.is_some() || args.cluster.is_some()).into()
                }
                Special::OwnSharedWindow if !self.is_clustered() => windows.shared,
                Special::OwnWindowBytes if self.is_clustered() => 1 << RANK_SHIFT,
                Special::OwnWindowBytes => windows.bytes,
                Special::ParamWindow => windows.param,
                Special::SharedWindow => windows.shared,
                Special::LocalWindow => windows.local,
                Special::WindowBytes => windows.bytes,
                // The upper half comes first.
                Special::Environment(1) => args.grid_workspace >> 32,
                Special::Environment(2) => args.grid_workspace & 0xffff_ffff,
                Special::Environment(_) => 0,
                varying => return Err(varying),
            },
        })
    }

    #[inline]
    pub(in crate::exec) fn coordinates(&self, block: u64) -> [u32; 3] {
        let [x, y, _] = self.args.grid.map(u64::from);
        if block < x {
            return [block as u32, 0, 0];
        }
        [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32]
    }

    #[inline]
    pub(in crate::exec) fn coordinates_in_cluster(&self, cluster: u64, rank: u32) -> [u32; 3] {
        let [x, y, _] = std::array::from_fn(|axis| u64::from(self.args.grid[axis] / self.cluster[axis]));
        let first = [cluster % x, cluster / x % y, cluster / x / y];
        let inner = thread_index(rank, self.cluster);
        std::array::from_fn(|axis| first[axis] as u32 * self.cluster[axis] + inner[axis])
    }

    #[inline]
    pub(in crate::exec) fn rank(&self, index: [u32; 3]) -> u32 {
        let [x, y, z] = std::array::from_fn(|axis| index[axis] % self.cluster[axis]);
        x + self.cluster[0] * (y + self.cluster[1] * z)
    }

    #[inline]
    pub(in crate::exec) fn blocks_per_cluster(&self) -> u32 {
        self.cluster.iter().product()
    }

    pub(in crate::exec) fn clusters(&self) -> u64 {
        self.blocks / u64::from(self.blocks_per_cluster())
    }

    pub(in crate::exec) fn is_clustered(&self) -> bool {
        self.cluster != [1; 3]
    }

    /// True if accesses are recorded.
    pub(in crate::exec) fn watches(&self) -> bool {
        self.options.check_init || self.options.check_races
    }

    pub(in crate::exec) fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [width, height, _] = self.args.grid.map(u64::from);
        u64::from(x) + width * (u64::from(y) + height * u64::from(z))
    }
}

struct Extent {
    threads: u32,
    blocks: u64,
    cluster: [u32; 3],
    shared_bytes: u32,
}

impl Extent {
    /// Computes the size. `Err` describes an impossible one.
    fn of(args: &LaunchArgs<'_>) -> Result<Extent, String> {
        let kernel: &Kernel = args.kernel;
        let product =
            |dims: [u32; 3]| dims.iter().try_fold(1u64, |product, dim| product.checked_mul(u64::from(*dim)));
        let threads = product(args.block).filter(|threads| (1..=1024).contains(threads));
        let Some(threads) = threads else {
            return Err(format!("a block of {:?} threads, where 1 to 1024 are possible", args.block));
        };
        let Some(blocks) = product(args.grid) else {
            return Err(format!("a grid of {:?} blocks", args.grid));
        };
        let cluster = args.cluster.or(kernel.cluster().required).unwrap_or([1; 3]);
        let whole = args.grid.iter().zip(cluster).all(|(grid, side)| side != 0 && grid % side == 0);
        if !whole || product(cluster).is_none_or(|blocks| blocks > MOST_BLOCKS) {
            let grid = args.grid;
            return Err(format!(
                "clusters of {cluster:?} blocks in a grid of {grid:?}, at most {MOST_BLOCKS} each"
            ));
        }
        if args.params.len() < kernel.param_bytes() as usize {
            return Err(format!(
                "{} bytes of parameters, where the kernel takes {}",
                args.params.len(),
                kernel.param_bytes()
            ));
        }
        let dynamic_start =
            kernel.shared_offsets.iter().copied().max().unwrap_or(0).max(kernel.static_shared);
        let shared_bytes = dynamic_start.checked_add(args.dynamic_shared);
        match shared_bytes.filter(|bytes| *bytes <= MOST_SHARED) {
            Some(shared_bytes) => Ok(Extent { threads: threads as u32, blocks, cluster, shared_bytes }),
            None => Err(format!("{} bytes of dynamic shared memory", args.dynamic_shared)),
        }
    }
}
