//! Virtual memory: addresses without memory, memory without addresses, and mappings between them.
//!
//! | type | is | keeps |
//! |---|---|---|
//! | [`Reservation`] | addresses; a counted handle | nothing |
//! | [`PhysicalMemory`] | memory of a device or the host; the driver counts its handles | nothing |
//! | [`Mapping`] | memory at addresses, which lends [slices](super::Slice) | its reservation, its context; the driver keeps the memory |
//!
//! They can be dropped in any order, because a mapping keeps everything it needs. Mappings of one
//! reservation never overlap. Physical memory can be mapped several times, and in several
//! processes; only streams, events and waits order accesses through different mappings, as with
//! [arrays](super#arrays).
//!
//! # Unmapping waits
//!
//! Unlike `cuMemFree`, the driver's `cuMemUnmap` does not wait for work that uses the memory. So
//! everything that unmaps here (dropping a mapping, [`Mapping::close`], [`Mapping::unmap_last`])
//! first [waits](Mapping#unmapping-waits) for the context in which it was mapped, and for copies
//! from it that other contexts have queued. If that fails, for example after a fault, the memory
//! and the addresses are leaked, because they may still be in use.
//!
//! # A buffer that grows
//!
//! It keeps its address and its contents, without a copy:
//!
//! ```
//! # cuprum::example!(driver);
//! use cuprum::memory::{Granularity, Mapping, MemoryLocation, PhysicalFlags, PhysicalMemory, Reservation};
//! use cuprum::context::PrimaryContext;
//! use cuprum::{Current, MemoryError};
//!
//! struct GrowableBuffer<'ctx> {
//!     mapping: Mapping<'ctx, u32>,
//!     chunk: usize,
//! }
//!
//! impl<'ctx> GrowableBuffer<'ctx> {
//!     fn new(cx: &Current<'_, 'ctx>, most: usize) -> Result<Self, MemoryError> {
//!         let (driver, at) = (cx.context().driver(), MemoryLocation::Device(cx.context().device()));
//!         let chunk = PhysicalMemory::granularity(driver, at, PhysicalFlags::empty(), Granularity::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)?;
//!         let addresses = Reservation::new(driver, most.next_multiple_of(chunk), 0)?;
//!         let first = PhysicalMemory::new(driver, at, chunk, PhysicalFlags::empty())?;
//!         Ok(Self { mapping: addresses.map(cx, 0, &first)?, chunk })
//!     }
//!
//!     fn grow_to(&mut self, cx: &Current<'_, 'ctx>, len: usize) -> Result<(), MemoryError> {
//!         let (driver, at) = (cx.context().driver(), MemoryLocation::Device(cx.context().device()));
//!         while self.mapping.len() < len {
//!             let more = PhysicalMemory::new(driver, at, self.chunk, PhysicalFlags::empty())?;
//!             self.mapping.extend(cx, &more)?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let context = PrimaryContext::retain(driver.device(0)?)?;
//! let mut stack = cuprum::context::ContextStack::take()?;
//! let cx = stack.push(&context)?;
//! let mut numbers = GrowableBuffer::new(&cx, 64 << 20)?;
//! cx.fill(&mut numbers.mapping, 7)?;
//! let (before, len) = (numbers.mapping.as_raw(), numbers.mapping.len());
//! numbers.grow_to(&cx, len + 1)?;
//! assert_eq!(numbers.mapping.as_raw(), before);
//! assert!(numbers.mapping.len() > len);
//! assert_eq!(numbers.mapping.slice(len - 1..len).ok_or("outside")?.to_vec(&cx)?, [7]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod claim;
mod mapping;
mod multicast;
mod physical;
mod reservation;

pub use self::mapping::{Mapping, MemoryAccess, MulticastMapping};
pub use self::multicast::Multicast;
pub use self::physical::{Granularity, PhysicalFlags, PhysicalMemory};
pub use self::reservation::Reservation;
