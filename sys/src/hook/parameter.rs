//! Parameters of functions: their names and types, and their values as text.

use core::fmt;

use super::value::Value;

/// Name and C type of a parameter, as in the list.
///
/// ```
/// let parameters = cuprum_sys::FnId::cuMemAlloc_v2.parameters();
/// assert_eq!((parameters[1].name(), parameters[1].ty()), ("bytesize", "usize"));
/// ```
#[derive(Clone, Copy)]
pub struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) ty: &'static str,
    pub(crate) text: fn(u64) -> String,
}

impl Parameter {
    /// The parameter's name in C.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name.trim_end_matches('_')
    }

    /// The parameter's type as the list of functions has it: `*mut CUcontext`, `usize`.
    #[must_use]
    pub const fn ty(&self) -> &'static str {
        self.ty
    }

    /// True for pointers, handles and device addresses, which are read as addresses.
    #[must_use]
    pub fn is_address(&self) -> bool {
        self.ty.starts_with('*') || is_handle(self.ty)
    }

    /// A [word](super::Argument::word) of this parameter as text: an address, a number, an enum's
    /// constant. A structure that does not fit into a word is `…`.
    #[must_use]
    pub fn text(&self, word: u64) -> String {
        if self.is_address() { address(word) } else { (self.text)(word) }
    }

    /// The value that a call [returned](super::Call::given) through this parameter, as text.
    #[must_use]
    pub fn given_text(&self, word: u64) -> String {
        match self.ty.strip_prefix("*mut ") {
            Some("i32" | "CUdevice") => (word as i32).to_string(),
            Some("f32") => f32::from_bits(word as u32).to_string(),
            Some(ty) if is_handle(ty) => address(word),
            _ => word.to_string(),
        }
    }
}

impl fmt::Debug for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.ty)
    }
}

/// An address as it is written.
fn address(word: u64) -> String {
    if word == 0 { "null".to_owned() } else { format!("{word:#x}") }
}

/// Handles and device addresses: eight bytes that are read as an address.
pub(super) fn is_handle(ty: &str) -> bool {
    matches!(
        ty,
        "CUcontext"
            | "CUmodule"
            | "CUfunction"
            | "CUlibrary"
            | "CUkernel"
            | "CUarray"
            | "CUmipmappedArray"
            | "CUevent"
            | "CUstream"
            | "CUgraph"
            | "CUgraphNode"
            | "CUgraphExec"
            | "CUmemoryPool"
            | "CUlinkState"
            | "CUexternalMemory"
            | "CUexternalSemaphore"
            | "CUuserObject"
            | "CUgreenCtx"
            | "CUgraphicsResource"
            | "CUtexObject"
            | "CUsurfObject"
            | "CUdeviceptr"
            | "CUmemGenericAllocationHandle"
    )
}

/// A value of a parameter's type from its word.
///
/// `T` is the type of a parameter of the list, of which any bits are a value: a number, an enum
/// (which is a number), a pointer, a callback that may be null, or a structure of those.
pub(crate) fn text<T: Value>(word: u64) -> String {
    if size_of::<T>() > size_of::<u64>() {
        return "…".to_owned();
    }
    // SAFETY: no more bytes than the word has, and any are a value of the type, as said above;
    // pointers are only shown.
    let value = unsafe { (&raw const word).cast::<T>().read_unaligned() };
    format!("{value:?}")
}

/// Makes the table of parameters of the lines of `fns.rs`, in that file: a list that
/// `for_each_function` hands on has lost the spelling of its types.
macro_rules! parameter_table {
    ($(
        $(#[$doc:meta])*
        $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
    )*) => {
        /// The parameters of each function, in the order of [`FnId::ALL`].
        pub(crate) static PARAMETERS: [&[$crate::hook::Parameter]; COUNT] = [$(
            &[$($crate::hook::Parameter {
                name: stringify!($arg),
                ty: stringify!($ty),
                text: $crate::hook::text::<$ty>,
            }),*],
        )*];
    };
}
pub(crate) use parameter_table;

#[cfg(test)]
mod tests {
    use crate::FnId;

    fn shown(function: FnId, parameter: &str, word: u64) -> String {
        let parameters = function.parameters();
        parameters.iter().find(|known| known.name() == parameter).expect("it is in the list").text(word)
    }

    #[test]
    fn words_are_shown_by_the_type_of_their_parameter() {
        assert_eq!(shown(FnId::cuMemAlloc_v2, "bytesize", 4096), "4096");
        assert_eq!(shown(FnId::cuMemFree_v2, "dptr", 0x7f00), "0x7f00");
        assert_eq!(shown(FnId::cuStreamSynchronize, "hStream", 0), "null");
        assert_eq!(shown(FnId::cuLaunchGrid, "grid_width", u64::from(-1i32 as u32)), "-1");
        assert_eq!(shown(FnId::cuMemsetD8_v2, "uc", 7), "7");
        assert_eq!(shown(FnId::cuCtxSetLimit, "limit", 0), "CU_LIMIT_STACK_SIZE");
        assert_eq!(shown(FnId::cuIpcOpenMemHandle, "handle", 0), "…");
        assert_eq!(FnId::cuLaunchHostFunc.parameters()[1].name(), "fn");
    }

    #[test]
    fn every_parameter_of_every_function_has_a_text() {
        for function in FnId::ALL {
            for parameter in function.parameters() {
                assert!(!parameter.text(0).is_empty(), "{function} {parameter:?}");
                assert!(!parameter.text(u64::MAX).is_empty(), "{function} {parameter:?}");
            }
        }
    }

    #[test]
    fn returned_values_are_shown_by_their_types() {
        let first = |function: FnId, word| function.parameters()[0].given_text(word);
        assert_eq!(first(FnId::cuDeviceGetCount, u64::from(-2i32 as u32)), "-2");
        assert_eq!(first(FnId::cuEventElapsedTime, 1.5f32.to_bits().into()), "1.5");
        assert_eq!(first(FnId::cuCtxCreate_v2, 0x10), "0x10");
        assert_eq!(first(FnId::cuDeviceTotalMem_v2, 80 << 30), (80u64 << 30).to_string());
    }
}
