//! Memory and semaphores of other APIs, such as Vulkan, imported by file descriptor or handle.
//!
//! The other API makes the memory and the semaphores and exports them; what is imported here stays the other's as well.
//! [`ExternalMemory`] gives parts of it an address ([`ExternalBuffer`]) or a shape ([mipmapped
//! arrays](ExternalMemory::mipmapped)), which borrow it. [`ExternalSemaphore`]s put the work of both in order.
//!
//! Beside the software device there is no other API. Its `ExternalMemory` and `ExternalSemaphore` (in
//! `cuprum_emulator::memory`) stand in for one, and export descriptors that it takes; how an image of Vulkan lies in its
//! memory, and which handles a driver of Vulkan exports, only a GPU shows.

mod buffer;
mod memory;
mod semaphore;

pub use self::buffer::ExternalBuffer;
pub use self::memory::ExternalMemory;
pub use self::semaphore::ExternalSemaphore;
pub(crate) use self::semaphore::{signal_of, wait_of};
