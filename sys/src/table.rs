//! What one line of `fns.rs` becomes: a table field, an id, a name with its version, and a stub.
//!
//! The names of all functions lie in one string and are found by offset, without a pointer each. The stubs are
//! one constant table, which loading copies and then overwrites slot by slot, in one loop instead of code for
//! each function. Both keep the crate small and quick to build.

use core::ffi::{CStr, c_void};
use core::fmt;

use crate::fns::{COUNT, FnId, Fns, HAS_TWIN, NAMES, OFFSETS, SINCE};
use crate::version::Version;

/// Meaning of the null stream in calls that take none, or that are given a null one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StreamMode {
    /// The legacy default stream: one per context, in order with every blocking stream.
    #[default]
    Legacy,
    /// Each host thread has a default stream of its own. Needs a driver of CUDA 7.0 or newer.
    PerThread,
}

/// One exported symbol of the driver library: a function in one of its ABI revisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The name to ask `dlsym` for, with its revision and stream suffix: `cuMemcpyHtoD_v2_ptds`.
    pub name: &'static CStr,
    /// The name to ask `cuGetProcAddress` for, without either suffix: `cuMemcpyHtoD`.
    pub base: &'static str,
    /// The first CUDA version with this ABI; also the version to ask `cuGetProcAddress` with.
    pub since: Version,
    /// Stream mode that this symbol serves.
    pub mode: StreamMode,
}

/// First version with per-thread default streams, below which no twin exists.
const FIRST_PER_THREAD: Version = Version::new(7, 0);

/// Number of bytes up to the next NUL, the NUL included.
const fn c_string_len(text: &[u8], start: usize) -> usize {
    let mut end = start;
    while text[end] != 0 {
        end += 1;
    }
    end + 1 - start
}

/// Where each function's names start in `names`, where a function with a twin has two.
pub(crate) const fn name_offsets<const N: usize>(names: &str, has_twin: &[bool; N]) -> [u16; N] {
    let text = names.as_bytes();
    let mut offsets = [0; N];
    let (mut i, mut at) = (0, 0);
    while i < N {
        assert!(at <= u16::MAX as usize);
        offsets[i] = at as u16;
        at += c_string_len(text, at);
        if has_twin[i] {
            at += c_string_len(text, at);
        }
        i += 1;
    }
    assert!(at == text.len());
    offsets
}

/// The C string that starts at `offset` in the names, and the offset after it.
fn name_at(offset: usize) -> (&'static CStr, usize) {
    let rest = NAMES.as_bytes().get(offset..).unwrap_or_default();
    let name = CStr::from_bytes_until_nul(rest).unwrap_or_default();
    (name, offset + name.count_bytes() + 1)
}

/// `cuMemAlloc_v2` without its `_v2`.
fn base_of(name: &'static CStr) -> &'static str {
    let name = name.to_str().unwrap_or_default();
    match name.rsplit_once("_v") {
        Some((base, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => name,
    }
}

impl FnId {
    /// The symbol's name, base name and first version.
    #[must_use]
    pub fn symbol(self) -> Symbol {
        let (name, _) = name_at(usize::from(OFFSETS[self as usize]));
        let since = u32::from(SINCE[self as usize]);
        Symbol { name, base: base_of(name), since: Version::from_raw(since), mode: StreamMode::Legacy }
    }

    /// The twin that uses the calling thread's own default stream, if this function has one.
    #[must_use]
    pub fn per_thread_symbol(self) -> Option<Symbol> {
        if !HAS_TWIN[self as usize] {
            return None;
        }
        let plain = self.symbol();
        let (_, next) = name_at(usize::from(OFFSETS[self as usize]));
        Some(Symbol {
            name: name_at(next).0,
            since: plain.since.max(FIRST_PER_THREAD),
            mode: StreamMode::PerThread,
            ..plain
        })
    }

    /// The symbol that serves a stream mode: the twin where there is one and the mode asks for it.
    #[must_use]
    pub fn symbol_in(self, mode: StreamMode) -> Symbol {
        match mode {
            StreamMode::Legacy => self.symbol(),
            StreamMode::PerThread => self.per_thread_symbol().unwrap_or_else(|| self.symbol()),
        }
    }
}

impl fmt::Display for FnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol().name.to_str().unwrap_or_default())
    }
}

impl fmt::Debug for FnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Turns the lines of `fns.rs` into [`Fns`](crate::Fns) and [`FnId`](crate::FnId).
macro_rules! driver_fns {
    ($(
        $(#[$doc:meta])*
        $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
    )*) => {
        /// Every function of the driver API, ready to be called.
        ///
        /// A function that the driver lacks answers `CUresult::UNRESOLVED` and does nothing else;
        /// [`Library::has`](crate::Library::has) tells beforehand. Versions are given as the driver writes
        /// them: 12040 is CUDA 12.4.
        #[derive(Clone, Copy)]
        #[repr(C)]
        #[allow(non_snake_case)]
        pub struct Fns {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nSince CUDA ", stringify!($since), ".")]
                pub $name: unsafe extern "system" fn($($arg: $ty),*) -> CUresult,
            )*
        }

        /// Names one function of the driver API in one of its ABI revisions.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[non_exhaustive]
        #[allow(non_camel_case_types)]
        pub enum FnId {
            $( $(#[$doc])* $name, )*
        }

        impl Fns {
            /// A table in which every function is absent.
            pub const STUBS: Self = Self {
                $( $name: {
                    unsafe extern "system" fn stub($(_: $ty),*) -> CUresult {
                        CUresult::UNRESOLVED
                    }
                    stub
                }, )*
            };
        }

        impl FnId {
            /// All functions, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$( Self::$name ),*];
        }

        pub(crate) const COUNT: usize = FnId::ALL.len();
        pub(crate) static NAMES: &str = concat!($(
            stringify!($name), "\0", $( stringify!($name), "_", stringify!($twin), "\0", )?
        )*);
        pub(crate) static SINCE: [u16; COUNT] = [$( $since ),*];
        pub(crate) static HAS_TWIN: [bool; COUNT] = [$( !stringify!($($twin)?).is_empty() ),*];
        pub(crate) static OFFSETS: [u16; COUNT] = crate::table::name_offsets(NAMES, &HAS_TWIN);
    };
}
pub(crate) use driver_fns;

/// Calls a function of the table and names it: `(CUresult, FnId)`, after one indirect call.
///
/// ```
/// # use cuprum_sys::{CUresult, FnId, Fns, call};
/// let fns = &Fns::STUBS;
/// // SAFETY: a stub touches nothing.
/// let (result, function) = unsafe { call!(fns, cuInit(0)) };
/// assert_eq!(result, CUresult::UNRESOLVED);
/// assert_eq!(function, FnId::cuInit);
/// ```
#[macro_export]
macro_rules! call {
    ($fns:expr, $name:ident($($arg:expr),* $(,)?)) => {
        (($fns.$name)($($arg),*), $crate::FnId::$name)
    };
}

/// One address a function, in the order of [`FnId::ALL`](crate::FnId::ALL).
pub(crate) type Slots = [*const c_void; COUNT];

const _: () = {
    assert!(size_of::<Fns>() == size_of::<Slots>());
    assert!(align_of::<Fns>() == align_of::<Slots>());
};

impl Fns {
    /// The table as plain addresses.
    pub(crate) fn slots(&self) -> &Slots {
        // SAFETY: `Fns` is `repr(C)` and has nothing but function pointers, which have the size and the
        // alignment of `*const c_void` (asserted above) and are valid as such.
        unsafe { &*core::ptr::from_ref(self).cast::<Slots>() }
    }

    /// Puts the driver's address of one function into its slot.
    ///
    /// # Safety
    /// `address` is not null and is the function that `function` names, with its ABI.
    pub(crate) unsafe fn set(&mut self, function: FnId, address: *const c_void) {
        let slots = core::ptr::from_mut(self).cast::<*const c_void>();
        // SAFETY: an id is less than the number of slots, so the place is inside the table.
        let slot = unsafe { slots.add(function as usize) };
        // SAFETY: the place is ours to write, and by the caller's word the address is a valid value for the
        // field that lies there.
        unsafe { slot.write(address) };
    }
}

impl fmt::Debug for Fns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fns").finish_non_exhaustive()
    }
}
