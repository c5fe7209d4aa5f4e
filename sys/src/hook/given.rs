//! Values that calls returned through their first parameter.

use super::{Call, parameter};
use crate::fns::FnId;

/// Functions whose first parameter is an array, which may be empty.
const ARRAYS: &[FnId] = &[
    FnId::cuDeviceGetHostAtomicCapabilities,
    FnId::cuDeviceGetP2PAtomicCapabilities,
    FnId::cuModuleEnumerateFunctions,
    FnId::cuLibraryEnumerateKernels,
    FnId::cuMemcpyBatchAsync,
    FnId::cuMemcpyBatchAsync_v2,
    FnId::cuMemPrefetchBatchAsync,
    FnId::cuMemDiscardBatchAsync,
    FnId::cuMemDiscardAndPrefetchBatchAsync,
];

impl Call<'_> {
    /// The value that the call returned through its first parameter, if that is a pointer to one
    /// handle, address or number; `None` for other functions.
    /// [`Parameter::given_text`](super::Parameter::given_text) makes a text of it.
    ///
    /// # Safety
    /// The call has been passed on, and succeeded.
    #[must_use]
    pub unsafe fn given(&self) -> Option<u64> {
        let first = self.arguments().next()?;
        let ty = first.ty().strip_prefix("*mut ")?;
        if first.word() == 0 || ARRAYS.contains(&self.function()) {
            return None;
        }
        let place = std::ptr::with_exposed_provenance::<u8>(first.word() as usize);
        macro_rules! read {
            ($ty:ty) => {{
                // SAFETY: not null and no array: by the driver API one value of this type, which
                // the call has written, as the caller says.
                unsafe { place.cast::<$ty>().read_unaligned() }
            }};
        }
        Some(match ty {
            "i32" | "CUdevice" | "u32" | "f32" => read!(u32).into(),
            "usize" => read!(usize) as u64,
            ty if parameter::is_handle(ty) => read!(u64),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ARRAYS, parameter};

    /// Counts that do not belong to the first parameter.
    const OTHER_COUNTS: [&str; 9] = [
        "numDependencies",
        "numOptions",
        "numJitOptions",
        "numLibraryOptions",
        "numParams",
        "numMipmapLevels",
        "numChannels",
        "numBlocks",
        "numExtSems",
    ];

    #[test]
    fn every_function_whose_first_parameter_is_an_array_is_listed() {
        let mut found = BTreeSet::new();
        for line in include_str!("../fns.rs").lines() {
            let Some((name, rest)) =
                line.trim_start().split_once(" fn ").and_then(|(_, line)| line.split_once('('))
            else {
                continue;
            };
            let parameters: Vec<_> =
                rest.split(", ").filter_map(|parameter| parameter.split_once(": ")).collect();
            let first = parameters.first().and_then(|(_, ty)| ty.strip_prefix("*mut "));
            let Some(ty) = first.map(|ty| ty.trim_end_matches([')', ';'])) else { continue };
            let is_read =
                matches!(ty, "i32" | "CUdevice" | "u32" | "f32" | "usize") || parameter::is_handle(ty);
            let counts = parameters.iter().skip(1).any(|(name, ty)| {
                let by_value = ["u32", "usize", "i32"].iter().any(|integer| ty.starts_with(integer));
                by_value && (*name == "count" || name.starts_with("num")) && !OTHER_COUNTS.contains(name)
            });
            if is_read && counts {
                found.insert(name.to_owned());
            }
        }
        assert_eq!(found, ARRAYS.iter().map(ToString::to_string).collect());
    }
}
