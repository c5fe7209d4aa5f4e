//! Special registers.

use super::Decoder;
use crate::program::instruction::{Constant, Special};
use crate::program::symbols::SharedVariable;
use crate::semantics::{Register, Width};
use core::cmp::Ordering;

impl Decoder<'_, '_, '_> {
    /// Returns the address of shared memory for libraries: as much as the system reserves.
    pub(super) fn reserved_shared(&mut self, name: &str) -> Option<Register> {
        const BYTES: u32 = 1024;
        let offset = match name {
            "%reserved_smem_offset_begin" | "%reserved_smem_offset_0" => 0,
            "%reserved_smem_offset_1" => i64::from(BYTES / 2),
            "%reserved_smem_offset_end" | "%reserved_smem_offset_cap" => BYTES.into(),
            _ => return None,
        };
        let index = *self.reserved.get_or_insert_with(|| {
            self.shared.push(SharedVariable { bytes: Some(BYTES), align: 128 });
            self.shared.len() as u32 - 1
        });
        Some(self.constant(Width::Single, Constant::Shared { index, offset }))
    }
}

/// True for special registers that may be read as 64 bits.
pub(super) fn is_wide(name: &str) -> bool {
    let counter = name.strip_prefix("%pm").and_then(|rest| rest.strip_suffix("_64"));
    counter.is_some_and(|digit| matches!(digit.as_bytes(), [b'0'..=b'7']))
        || matches!(name, "%gridid" | "%current_graph_exec")
}

/// Returns the sizes in which `mov` reads a special register, in bytes.
pub(super) fn sizes(name: &str) -> &'static [u32] {
    match name.split('.').next().unwrap_or(name) {
        "%tid" | "%ntid" | "%ctaid" | "%nctaid" => &[2, 4],
        "%gridid" | "WARP_SZ" => &[2, 4, 8],
        "%clock64" | "%globaltimer" => &[8],
        wide if is_wide(wide) => &[8],
        _ => &[4],
    }
}

/// Returns a component of a three-dimensional special register; a fourth component is zero.
fn special_of_axis(base: &str, component: &str) -> Option<Special> {
    let axis = match component {
        "x" => 0,
        "y" => 1,
        "z" | "w" => 2,
        _ => return None,
    };
    let special = match base {
        "%tid" => Special::ThreadId(axis),
        "%ntid" => Special::BlockDim(axis),
        "%ctaid" => Special::BlockId(axis),
        "%nctaid" => Special::GridDim(axis),
        "%clusterid" => Special::ClusterId(axis),
        "%nclusterid" => Special::GridDimInClusters(axis),
        "%cluster_ctaid" => Special::BlockIdInCluster(axis),
        "%cluster_nctaid" => Special::ClusterDim(axis),
        _ => return None,
    };
    Some(if component == "w" { Special::Zero } else { special })
}

/// Returns a special register whose value does not change.
pub(super) fn special(name: &str) -> Option<Special> {
    if let Some((base, component)) = name.split_once('.') {
        return special_of_axis(base, component);
    }
    Some(match name {
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        "%nwarpid" => Special::WarpsPerBlock,
        "%smid" => Special::MultiprocessorId,
        "%nsmid" => Special::MultiprocessorCount,
        "%gridid" => Special::GridId,
        "%lanemask_eq" => Special::LaneMask(Ordering::Equal, false),
        "%lanemask_lt" => Special::LaneMask(Ordering::Less, false),
        "%lanemask_le" => Special::LaneMask(Ordering::Less, true),
        "%lanemask_gt" => Special::LaneMask(Ordering::Greater, false),
        "%lanemask_ge" => Special::LaneMask(Ordering::Greater, true),
        "%dynamic_smem_size" => Special::DynamicSharedBytes,
        "%total_smem_size" => Special::TotalSharedBytes,
        "%aggr_smem_size" => Special::AllSharedBytes,
        "%cluster_ctarank" => Special::BlockRank,
        "%cluster_nctarank" => Special::BlocksPerCluster,
        // Nothing is counted, and graphs do not launch themselves.
        "%pm0" | "%pm1" | "%pm2" | "%pm3" | "%pm4" | "%pm5" | "%pm6" | "%pm7" => Special::Zero,
        name if is_wide(name) => Special::Zero,
        "WARP_SZ" => Special::WarpSize,
        _ => {
            let number: u8 = name.strip_prefix("%envreg")?.parse().ok()?;
            (number < 32).then_some(Special::Environment(number))?
        }
    })
}
