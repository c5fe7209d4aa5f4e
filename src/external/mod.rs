//! Memory and semaphores of other APIs, such as Vulkan, imported by file descriptor or handle.
//!
//! The other API makes the memory and the semaphores, exports them, and still owns them after the
//! import. [`ExternalMemory`] maps parts of it at an address or as [mipmapped
//! arrays](ExternalMemory::mipmapped), which borrow it. [`ExternalSemaphore`]s order the work of
//! both.
//!
//! The software device has no other API. Its `ExternalMemory` and `ExternalSemaphore` (in
//! `cuprum_emulator::memory`) replace one, and export descriptors that it accepts. Only a GPU shows
//! the memory layout of a Vulkan image, and the handles that a Vulkan driver exports.

mod memory;
mod semaphore;

pub use self::memory::ExternalMemory;
pub use self::semaphore::ExternalSemaphore;
pub(crate) use self::semaphore::{signal_of, wait_of};
