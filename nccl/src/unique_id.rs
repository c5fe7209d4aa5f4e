//! Names of groups.

use std::ffi::c_char;
use std::fmt;

use crate::raw::ncclUniqueId;

/// Name of a group, by which its members find each other: 128 bytes that one process makes and
/// sends to the others.
///
/// Made by [`Nccl::unique_id`](crate::Nccl::unique_id). A group is joined once by its name.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl);
/// use cuprum_nccl::UniqueId;
///
/// let bytes = nccl.unique_id()?.to_bytes(); // to be sent to the other processes
/// let received = UniqueId::from_bytes(bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UniqueId(ncclUniqueId);

impl UniqueId {
    /// Number of bytes.
    pub const BYTES: usize = 128;

    /// A name that another process has sent.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(ncclUniqueId { internal: bytes.map(|byte| byte as c_char) })
    }

    /// The bytes to send.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0.internal.map(|byte| byte as u8)
    }

    pub(crate) const fn as_raw(self) -> ncclUniqueId {
        self.0
    }

    pub(crate) const fn as_mut_raw(&mut self) -> *mut ncclUniqueId {
        &raw mut self.0
    }
}

impl fmt::Debug for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UniqueId")
    }
}
