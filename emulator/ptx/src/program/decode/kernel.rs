//! Declarations of a kernel: its parameters, and the launches that it allows.

use super::{Decoded, Decoder};
use crate::program::symbols::layout;
use crate::program::{ClusterBounds, Param, PtxError, PtxErrorKind};
use crate::ptx::{self, Space, Variable};

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn launch_bounds(&self, tree: &ptx::Function<'_>) -> Decoded<LaunchBounds> {
        let mut bounds = LaunchBounds::default();
        for (name, values) in &tree.directives {
            let product = values.iter().fold(1u64, |product, value| product.saturating_mul(*value));
            let product = u32::try_from(product).unwrap_or(u32::MAX);
            match *name {
                "maxntid" => bounds.most = Some(product),
                "reqntid" => {
                    bounds.most = Some(product);
                    bounds.required = Some(sides(values));
                }
                "explicitcluster" => bounds.cluster.explicit = true,
                // Zeros leave it to the launch.
                "reqnctapercluster" if product == 0 => {}
                "reqnctapercluster" => bounds.cluster.required = Some(sides(values)),
                "maxclusterrank" => bounds.cluster.most = Some(product),
                // Hints about registers and residency.
                "minnctapersm" | "maxnreg" => {}
                "noreturn" | "abi_preserve" | "abi_preserve_control" => {
                    let text = format!("`.{name}` is a directive of `.func`, not of `.entry`");
                    return Err(PtxError::at(tree.position, PtxErrorKind::Syntax, text));
                }
                other => {
                    return Err(PtxError::at(
                        tree.position,
                        PtxErrorKind::Unsupported,
                        format!("`.{other}` is not supported by the software device"),
                    ));
                }
            }
        }
        Ok(bounds)
    }
}

#[derive(Default)]
pub(super) struct LaunchBounds {
    pub(super) most: Option<u32>,
    pub(super) required: Option<[u32; 3]>,
    pub(super) cluster: ClusterBounds,
}

/// Returns up to three sides; missing ones are one.
fn sides(values: &[u64]) -> [u32; 3] {
    let mut sides = [1; 3];
    for (side, value) in sides.iter_mut().zip(values) {
        *side = u32::try_from(*value).unwrap_or(u32::MAX);
    }
    sides
}

pub(super) fn kernel_param(variable: &Variable<'_>, end: u32) -> Decoded<Param> {
    if variable.space != Space::Param {
        let message = format!("the parameter `{}` of a kernel must be in `.param`", variable.name);
        return Err(PtxError::at(variable.position, PtxErrorKind::Syntax, message));
    }
    let (bytes, align) = layout(variable)?;
    let place = bytes.and_then(|bytes| {
        let offset = u64::from(end).next_multiple_of(align);
        (offset + bytes <= 32_764).then_some((offset as u32, bytes as u32))
    });
    let Some((offset, size)) = place else {
        return Err(PtxError::at(
            variable.position,
            PtxErrorKind::Unsupported,
            format!("the parameter `{}` goes beyond the 32764 bytes that a kernel may have", variable.name),
        ));
    };
    Ok(Param { offset, size, align: align as u32 })
}
