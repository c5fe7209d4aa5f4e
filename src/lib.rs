//! The CUDA driver, loaded at run time, in an order that the compiler checks.
//!
//! A program built with this crate needs no toolkit and links to no driver. It finds `libcuda.so.1` (on
//! Windows `nvcuda.dll`) when it runs, and uses the functions that this driver has; errors name the CUDA version that
//! the others need. Where there is no GPU, the crate `cuprum-emulator` fills the same function table in software.
//!
//! # What it does and what it does not
//!
//! Each method makes one call of the driver, and the rules between calls are types: which call comes first, which
//! object outlives which, and which context is current. It is not the runtime API, no array library and no compiler:
//! kernels come in as PTX, cubin or fatbin, or [as source](compile) through NVIDIA's compiler where there is one. A
//! kernel's use of memory cannot be checked, so that [launching](Kernel::launch) is `unsafe`. Nothing is printed, no
//! thread is started, and nothing but loading and `cuInit` is global. The driver functions
//! without a method are listed in [`not_wrapped`], and can be called through [`Library::fns`].
//!
//! # The order of types
//!
//! | to have | one needs | so that |
//! |---|---|---|
//! | [`Library`]: a driver is loaded | | nothing is called before there is a driver |
//! | [`Driver`]: `cuInit` succeeded | a `Library` | nothing is called before initialization |
//! | [`Device`] | a `Driver` | |
//! | [`Context`], [`PrimaryContext`]; either can be [shared](Shared) | a `Device` | |
//! | [`GreenContext`](context::GreenContext): on a part of a device | the description of its resources | its streams, which end with it, go before it |
//! | [`ContextStack`] | nothing; there is one per thread | |
//! | [`Current`]: a context is current on this thread | the stack, or the token below, borrowed mutably | contexts are popped in order, and only the top one is used |
//! | [`Buffer`], [`Stream`], [`Event`], [`Module`] | `&Current`; they borrow the context, or share it | a context outlives what was made in it |
//! | [`Array`](memory::Array), [`Texture`](texture::Texture), [`Surface`](texture::Surface) | `&Current`; a texture borrows its array or memory, or shares it | what kernels read through a texture is not freed under it |
//! | [`StreamBuffer`](pool::StreamBuffer): memory in the order of a stream | `&Current` and a `Stream`, which it borrows or shares | no other stream uses it before it is allocated, or after it is freed |
//! | [`Function`], [`Kernel`], [`Global`] | a `Module`, borrowed; a kernel of a [shared](Shared::kernel) one has a share | code is not unloaded while it can be launched |
//! | [`CodeLibrary`](module::CodeLibrary): code of no context | a `Driver`; a `Module` of it borrows both it and the context | code outlives the kernels of it, in any context |
//! | [`Linked`](module::Linked): code that was linked | a [`Linker`](module::Linker), consumed | nothing is added to what is complete |
//! | [`PinnedBuffer`], [`Registered`]: page-locked memory of the host | `&Current`; they borrow the context, or share it | it is not freed or touched while the device may write it |
//! | [`Graph`](graph::Graph): work that is replayed | `&Current`; it borrows what its nodes touch, or owns it | what a replay touches is reached through the graph, between replays |
//! | [`Scope`]: work on memory that is lent | `&Current` and a `Stream`; it borrows memory of the device and the host | memory in flight is not touched, moved or freed |
//! | [`region::Queue`], [`region::Region`]: work and memory without types | a [`region::Pool`] of a shared context | a server of tensors keeps, shares, records and drops all of it in any order |
//! | [`Request`], [`Pending`]: work that outlives its function | what it works on, moved in | neither side is reached before it is over |
//!
//! # A tour
//!
//! ```
//! use cuprum::{Buffer, In, InOut, LaunchConfig, Module, Stream};
//!
//! // `cuprum::open(0)` for a GPU and nothing else.
//! let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
//! let context = cuprum::open_in(library, 0)?;
//!
//! // Nothing is current until it is entered, and only as long as `cx` lives.
//! context.enter(|cx| {
//!     // A signature is compared with the kernel once: number, sizes and offsets of its parameters.
//!     let module = Module::load_ptx(cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
//!     let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
//!
//!     let x = Buffer::from_slice(cx, &[1.0f32; 1000])?;
//!     let mut y = Buffer::from_slice(cx, &[2.0f32; 1000])?;
//!     let stream = Stream::new(cx)?;
//!     let config = LaunchConfig::for_elements(x.len(), 256);
//!     // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, and the copies below come after it.
//!     unsafe { saxpy.launch(cx, &stream, config, (1000, 3.0, &x, &mut y)) }?;
//!     assert_eq!(y.to_vec(cx)?, [5.0; 1000]);
//!
//!     // Memory that a stream works on is borrowed until the scope has waited for it.
//!     let mut host = [0.0f32; 1000];
//!     cx.scope(&stream, |scope| Ok(scope.read(&mut host, &scope.lend(&mut y)?)?))?;
//!     assert_eq!(host, [5.0; 1000]);
//!     Ok(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every precise error converts into [`AnyError`], which closures return. A program that switches between contexts, or
//! borrows one instead of sharing it, takes the steps of the table itself: [`Driver`], [`PrimaryContext`],
//! [`ContextStack`].
//!
//! # Threads
//!
//! Each thread has its own current context. [`ContextStack`] and [`Current`], and with them
//! [`Scope`] and [`Lent`], stay on theirs; everything else can be sent and shared. Drop works on any thread,
//! makes the object's context current if it is not, and restores the previous one.
//!
//! Code that does not know its caller's token, a library for instance, [enters](ContextRef::enter) a context with a
//! closure, whatever is current on the thread: it is pushed for that one call, unless it is current. A worker thread is a
//! loop over a channel inside `enter` (example 04). A thread that belongs to one context is [attached](context::Attached)
//! to it: its token fits into a struct, and `enter` makes no call there.
//!
//! A token that was forgotten with [`mem::forget`](std::mem::forget) leaves its context current. The next use
//! of a token below it, and the next push, notice and pop it, or answer with [`Error::is_out_of_order`]. The same holds
//! for contexts that a failed push or pop left: tokens never work in another context than their own. Other code of the
//! process that changes the current context must put it back.
//!
//! # Keeping it in a struct
//!
//! An object that borrows a context cannot lie in a struct beside it. An object made in a [shared](Shared) context takes a
//! share of it instead, and is `'static`; so does a [`Kernel`] of a shared module. Such a struct is moved, sent, kept in a
//! `static`, and dropped in any order; the context goes with the last of its users. A share is counted when an object is
//! made and when it is dropped, and nowhere else: a launch or a copy is the same for both.
//!
//! The repository's examples show it whole: a struct (03), a pool of threads (04), a global that is made when it is first
//! used (05), and libraries that share a library (06).
//!
//! # Other code
//!
//! Streams, events and memory of other libraries are used by [`ForeignStream`], [`ForeignEvent`] and [`ForeignBuffer`], or
//! taken over by `from_raw`. A wrapper of one's own around a raw call can do the same as those of this crate: it keeps its
//! context by a handle of the [default stream](Stream::default_in), [requires](Current::require) that it is current,
//! [checks](ContextRef::check) the answer, and [drops](ContextRef::with_current) on any thread (example 11).
//!
//! # Several devices, several machines
//!
//! Each device has its context, and memory of one is [copied](memory::Peer) to another, or
//! [read](Current::enable_peer_access) by kernels of another, in one process (example 14) or
//! [from another process](memory::IpcBuffer). The road beyond one machine is NCCL: it joins devices of any number of processes
//! and machines, and works in their primary contexts. The crate `cuprum-nccl` loads it at run time and lends it memory by
//! types; its example `all_reduce` sums over two devices, in one process and in two.
//!
//! # What sees what
//!
//! Copies and fills outside of a scope run on the default stream, and the next one reads what the last one wrote, on
//! whichever thread. Streams made with [`Stream::new`] are in order with them. A
//! [non-blocking](StreamKind::NonBlocking) stream is not: lending memory to a scope on one waits for the default stream
//! first. Where the library was opened with per-thread default streams, those of two threads are not in order; there
//! copies to the device and fills wait until they are done. Memory that was not written keeps its old contents: an
//! allocation is not cleared.
//!
//! # Work in flight
//!
//! Copies run beside the host where the host's memory is page-locked: a [`PinnedBuffer`], or [`Registered`] memory. It is
//! lent to a [scope](Current::scope), which waits, like all that a stream works on; or it is moved into a [`Request`]
//! with all else that a piece of work needs, which outlives the function: a [`Pending`] is kept, queued, sent, waited for,
//! or [awaited](Pending::notify). Futures of [streams](Stream::reached) and [events](Event::reached) need no runtime.
//!
//! After a fault no wait tells that the device has stopped writing page-locked memory. So memory lent to a scope is
//! [lost](PinnedBuffer#when-it-is-lost) if the scope cannot be waited for, and a request is leaked; the [module of
//! streams](stream) has the measurements. For work that fits into neither, the regions of [`region`] keep what they
//! use by shares.
//!
//! # Errors
//!
//! Every error names the call and the code in eight bytes; see [`Error`]. Any call can fail with the sticky errors of earlier
//! work, since a driver reports the failure of work at whichever call comes next; on a driver that lacks the function
//! ([`Error::is_unresolved`]); in a forked child ([`Error::is_forked`]); and with codes that newer drivers add. Methods list
//! the others. Methods that check on the host have an error of their own around it, such as [`MemoryError`], with the values
//! in question. `Drop` cannot report: `close` does. After an error of either the object is gone: the driver may report a
//! failure for a call that was done, and an object freed twice may be somebody else's by then. Errors that `Drop`
//! swallowed are counted in [`swallowed`]. Where the cause of an error lies in the machine (no device, a driver and a kernel
//! module of two versions), its text says what is wrong with this one: [`diagnosis`].
//!
//! # Faults
//!
//! After a kernel has accessed memory that is not its own, trapped, failed an assertion or overflown its
//! stack, every call in its context answers with that fault: it is [sticky](Error::is_sticky). The context
//! remembers the first call that told of it, and later errors name that call. Measured on an H200 with driver
//! 580 (CUDA 13.0), and recorded in `tests/data/goldens/driver.json`:
//!
//! - The launch itself succeeds. The fault shows at the first call that waits, or at any later one.
//! - It reaches every context of the process, those made afterwards included, and those of other devices.
//! - A context created after the old one was destroyed fails with the same code, and so does a primary
//!   context that was reset, or released and retained. Only a new process recovers.
//! - Asking a device for attributes, pushing and popping go on working.
//! - Copies between a device and page-locked host memory go on, the queued ones too, while every wait answers with the
//!   fault at once.
//!
//! So run kernels that may fault in a process of their own. The emulator keeps a fault to its context, and
//! names the thread, the line and the allocation.
//!
//! # Forks
//!
//! A driver does not survive `fork`. In the child of a process that had called `cuInit`, every method answers
//! with [`Error::is_forked`] and every drop does nothing, where the driver itself would fail or hang. Start
//! workers with `exec`, or initialize after the fork. Page-locked memory that the driver has allocated stays shared with
//! the child, so that neither may write what the other uses, while managed memory is not in the child at all: touching
//! it ends the child (H100, driver 580: `tests/data/goldens/forks.txt`).
//!
//! # Exit
//!
//! Nothing has to be freed before a process ends. Objects that are dropped while the driver shuts down are
//! told so by it and take that for success. The driver is never unloaded.
//!
//! # Drivers
//!
//! The function table is tested on drivers from CUDA 6.5 on. A method names the C function behind it and the
//! first CUDA version that has it; on an older driver that one method answers with [`Error::is_unresolved`].
//! Shared use with other libraries ([`PrimaryContext`]) needs CUDA 7.0, and checking the signature of a
//! kernel that was not loaded from PTX needs CUDA 12.4. [`Library::require`] and [`Library::has`] tell
//! beforehand. NVIDIA's newer drivers take programs made for older ones, so there is no greatest version.

// The rooms, from the bottom to the top; each uses only those above it in this list. `tests/rules/arrows/cuprum.rs` has
// the arrows, checks them, and gives the reason for each of the few that go the other way.
//
// diagnosis         what the machine has, without a driver call; above `device`: what an image has
// error swallowed   errors of calls, and errors that drops could not report
// raw               call: one checked call; keep: keeping a context or module alive; held: the owner of handles
//                   this_thread: what must not be sent
// driver device     objects that exist before any context
// context           contexts, their owners, and the stack of each thread
// memory            addresses and slices of device memory, its owners, and the one place for copies
// launch            signature: arguments of kernels; config: geometry
// stream            streams, events, and scopes that lend memory
// pool              memory in the order of streams, the driver's pools, and pools that keep blocks
// external          memory and semaphores of other APIs
// tools             dumps, checkpoints and notices
// graphics          buffers and images of OpenGL
// module            code, its functions and its globals
// launch            kernels: functions bound to a signature
// compile           from source to code, and on to a module
// dlpack            memory that is exchanged with other libraries
// region            memory and queues whose types are known at run time
// any_error         one error for all of them, which closures return
// open              the short way to a context

mod any_error;
pub mod compile;
pub mod context;
pub mod device;
pub mod diagnosis;
#[cfg(feature = "dlpack")]
pub mod dlpack;
pub mod driver;
pub mod error;
pub mod external;
pub mod graph;
pub mod graphics;
pub mod launch;
pub mod memory;
pub mod module;
pub mod not_wrapped;
mod open;
pub mod pool;
mod raw;
pub mod region;
pub mod stream;
pub mod swallowed;
pub mod texture;
pub mod tools;

pub use cuprum_sys as sys;
pub use cuprum_sys::Library;

#[cfg(doc)]
use crate::context::{Context, ContextStack, PrimaryContext};
#[cfg(doc)]
use crate::memory::{ForeignBuffer, Registered};
#[cfg(doc)]
use crate::module::{Function, Global};
#[cfg(doc)]
use crate::stream::{Event, ForeignEvent, ForeignStream, Lent, Pending, Request, Scope, StreamKind};

pub use crate::any_error::{AnyError, Result};
pub use crate::context::{ContextRef, Current};
pub use crate::device::Device;
pub use crate::driver::Driver;
pub use crate::error::Error;
pub use crate::launch::{In, InOut, Kernel, LaunchConfig};
pub use crate::memory::{Buffer, MemoryError, PinnedBuffer};
pub use crate::module::Module;
pub use crate::open::{open, open_in};
pub use crate::raw::shared::Shared;
pub use crate::stream::Stream;

/// Set-up of the examples in this documentation: a driver, or with two more names a context of device 0 that is current.
#[doc(hidden)]
#[macro_export]
macro_rules! example {
    ($driver:ident) => {
        let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
        let $driver = $crate::Driver::init(library)?;
    };
    ($driver:ident, $context:ident, $cx:ident) => {
        $crate::example!($driver);
        let $context = $crate::context::PrimaryContext::retain($driver.device(0)?)?;
        let mut stack = $crate::context::ContextStack::take()?;
        let $cx = stack.push(&$context)?;
    };
}

/// The README's example, compiled and run with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
