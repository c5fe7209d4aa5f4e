//! Addresses of memory that belongs to blocks and threads.

/// Address ranges with a special meaning, at the end of the device's range. A generic address in
/// one of them is an offset into the memory of the accessing block or thread.
///
/// ```
/// use cuprum_engine::memory::Memory;
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let windows = memory.windows();
/// assert_ne!(windows.shared, windows.local);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// First address of the device's range. The host's memory is outside of it.
    pub range: u64,
    /// Generic address of shared memory offset 0.
    pub shared: u64,
    /// Generic address of local memory offset 0.
    pub local: u64,
    /// Address of code offset 0, for function pointers.
    pub code: u64,
    /// Generic address of the first byte of a kernel's parameters.
    pub param: u64,
    /// Length of each window in bytes.
    pub bytes: u64,
}
