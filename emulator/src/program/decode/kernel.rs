//! Declarations of a kernel: its parameters and the launches that it allows.

use super::{Decoded, Decoder};
use crate::program::symbols::layout;
use crate::program::{Param, PtxError, PtxErrorKind};
use crate::ptx::{self, Space, Variable};

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn launch_bounds(&self, tree: &ptx::Function<'_>) -> Decoded<(Option<u32>, Option<[u32; 3]>)> {
        let mut most = None;
        let mut required = None;
        for (name, values) in &tree.directives {
            let product = values.iter().fold(1u64, |product, value| product.saturating_mul(*value));
            let product = u32::try_from(product).unwrap_or(u32::MAX);
            match *name {
                "maxntid" => most = Some(product),
                "reqntid" => {
                    most = Some(product);
                    let mut dims = [1; 3];
                    for (dim, value) in dims.iter_mut().zip(values) {
                        *dim = u32::try_from(*value).unwrap_or(u32::MAX);
                    }
                    required = Some(dims);
                }
                "explicitcluster" => {}
                "reqnctapercluster" if product <= 1 => {}
                "reqnctapercluster" => {
                    return Err(PtxError::at(
                        tree.position,
                        PtxErrorKind::Unsupported,
                        "clusters of more than one block are not supported by the software device; \
                         CUPRUM_EMULATOR_COMPUTE_CAPABILITY=8.9 makes most compilers avoid them",
                    ));
                }
                // Hints about registers, residency and calling convention.
                "minnctapersm"
                | "maxnctapersm"
                | "maxnreg"
                | "noreturn"
                | "abi_preserve"
                | "abi_preserve_control"
                | "maxclusterrank" => {}
                other => {
                    return Err(PtxError::at(
                        tree.position,
                        PtxErrorKind::Unsupported,
                        format!("`.{other}` is not supported by the software device"),
                    ));
                }
            }
        }
        Ok((most, required))
    }
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
