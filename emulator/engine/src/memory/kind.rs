//! Kinds of memory.

use core::fmt;

/// Kind of a region.
///
/// ```
/// use cuprum_engine::memory::RegionKind;
///
/// assert!(RegionKind::Managed.host_visible() && !RegionKind::Device.host_visible());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RegionKind {
    /// Ordinary device memory.
    Device,
    /// Memory that host and device share.
    Managed,
    /// Host memory that the driver allocated.
    Pinned,
    /// Host memory of the client, registered with the driver.
    Registered,
    /// A module's `.global` or `.const` variable.
    Global,
    /// Physical memory mapped into a range that the client reserved.
    Mapped,
    /// Physical memory of the host, mapped into such a range. The host reaches it where it has
    /// access.
    MappedHost,
    /// The heap that kernels allocate from.
    Heap,
    /// Device memory from a pool, allocated in stream order.
    Pooled,
    /// A CUDA array, which kernels access through textures and surfaces.
    Array,
    /// Device memory of another process, opened here by its handle.
    Opened,
    /// Memory of another API, or a part of it.
    External,
    /// A mapped buffer or image of OpenGL.
    Graphics,
}

impl RegionKind {
    /// True if the host may dereference the device address.
    pub fn host_visible(self) -> bool {
        matches!(self, Self::Managed | Self::Pinned | Self::Registered | Self::MappedHost)
    }

    /// True if it is mapped into a range that the client reserved.
    pub fn is_mapped(self) -> bool {
        matches!(self, Self::Mapped | Self::MappedHost)
    }

    /// True if only launches and the driver of this process access it, unless it is exported.
    pub(super) fn is_private(self) -> bool {
        !self.host_visible() && !matches!(self, Self::Opened | Self::External | Self::Graphics)
    }

    /// True if its allocation uses the device's memory. Mapped memory was counted at its creation.
    pub(super) fn counts(self) -> bool {
        !self.is_mapped()
            && !matches!(
                self,
                Self::Pinned | Self::Registered | Self::Opened | Self::External | Self::Graphics
            )
    }
}

impl fmt::Display for RegionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "device memory",
            Self::Managed => "managed memory",
            Self::Pinned => "pinned host memory",
            Self::Registered => "registered host memory",
            Self::Global => "module variable",
            Self::Mapped => "mapped memory",
            Self::MappedHost => "mapped host memory",
            Self::Heap => "device heap",
            Self::Pooled => "pool memory",
            Self::Array => "array",
            Self::Opened => "memory of another process",
            Self::External => "external memory",
            Self::Graphics => "memory of OpenGL",
        })
    }
}
