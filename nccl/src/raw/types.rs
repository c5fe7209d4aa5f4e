//! Types and constants, with the names of C. Enums are transparent integers: a newer library may
//! answer a number that is not known here.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "everything has its name of C"
)]

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::fmt;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $number:literal,)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub c_int);

        impl $name {
            $( $(#[$value_doc])* pub const $value: Self = Self($number); )*

            /// All numbers known here, by their names.
            pub const NAMES: &'static [(c_int, &'static str)] = &[$( ($number, stringify!($value)) ),*];

            /// The name in C; `None` for a number that is not known here.
            #[must_use]
            pub fn name(self) -> Option<&'static str> {
                Self::NAMES.iter().find(|(number, _)| *number == self.0).map(|(_, name)| *name)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{}({})", stringify!($name), self.0),
                }
            }
        }
    )* };
}

numbers! {
    /// Result of a function.
    ncclResult_t {
        /// The call succeeded.
        ncclSuccess = 0,
        /// A call of CUDA failed.
        ncclUnhandledCudaError = 1,
        /// A call of the operating system failed.
        ncclSystemError = 2,
        /// NCCL failed for reasons of its own.
        ncclInternalError = 3,
        /// An argument is not valid.
        ncclInvalidArgument = 4,
        /// The calls of the program do not go together.
        ncclInvalidUsage = 5,
        /// Another member failed, or the network to it.
        ncclRemoteError = 6,
        /// The call goes on in the background.
        ncclInProgress = 7,
    }

    /// Type of an element.
    ncclDataType_t {
        /// `i8`.
        ncclInt8 = 0,
        /// `u8`.
        ncclUint8 = 1,
        /// `i32`.
        ncclInt32 = 2,
        /// `u32`.
        ncclUint32 = 3,
        /// `i64`.
        ncclInt64 = 4,
        /// `u64`.
        ncclUint64 = 5,
        /// IEEE half precision.
        ncclFloat16 = 6,
        /// `f32`.
        ncclFloat32 = 7,
        /// `f64`.
        ncclFloat64 = 8,
        /// The upper half of an `f32`.
        ncclBfloat16 = 9,
    }

    /// Operator of a reduction; other numbers are made by `ncclRedOpCreatePreMulSum`.
    ncclRedOp_t {
        /// Sum.
        ncclSum = 0,
        /// Product.
        ncclProd = 1,
        /// Maximum.
        ncclMax = 2,
        /// Minimum.
        ncclMin = 3,
        /// Average.
        ncclAvg = 4,
    }

    /// Place of the number of a premultiplied sum.
    ncclScalarResidence_t {
        /// In device memory, read when the collective runs.
        ncclScalarDevice = 0,
        /// In host memory, read during the call.
        ncclScalarHostImmediate = 1,
    }
}

/// A member of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct ncclComm_t(pub *mut c_void);

/// Name of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct ncclUniqueId {
    /// Bytes without a meaning outside of NCCL.
    pub internal: [c_char; 128],
}

impl fmt::Debug for ncclUniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ncclUniqueId")
    }
}

/// Number that stands for the default in a configuration.
pub const NCCL_CONFIG_UNDEF_INT: c_int = c_int::MIN;
/// Mark of a configuration.
pub const NCCL_CONFIG_MAGIC: c_uint = 0xcafe_beef;
/// Color of members that are in no part of a split.
pub const NCCL_SPLIT_NOCOLOR: c_int = -1;
/// Shrinks a group whose members have no work queued.
pub const NCCL_SHRINK_DEFAULT: c_int = 0;
/// Ends the group's work first.
pub const NCCL_SHRINK_ABORT: c_int = 1;

/// Configuration of a communicator, as of NCCL 2.17. Newer libraries take it by its size and
/// version.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ncclConfig_t {
    /// Bytes of this struct.
    pub size: usize,
    /// [`NCCL_CONFIG_MAGIC`].
    pub magic: c_uint,
    /// Version whose fields this struct has.
    pub version: c_uint,
    /// 1 if calls return when they are done, 0 if they may return before.
    pub blocking: c_int,
    /// Blocks per cluster.
    pub cgaClusterSize: c_int,
    /// Least number of blocks per kernel.
    pub minCTAs: c_int,
    /// Greatest number of blocks per kernel.
    pub maxCTAs: c_int,
    /// Name of the network.
    pub netName: *const c_char,
    /// 1 if the parts of a split share the resources of the whole.
    pub splitShare: c_int,
}
