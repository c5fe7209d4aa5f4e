//! The CUDA driver API, loaded at run time, with the order of calls checked at compile time.
//!
//! A program that uses this crate needs no toolkit and links to no driver. It loads `libcuda.so.1`
//! (`nvcuda.dll` on Windows) when it runs, and uses the functions that this driver has. If a
//! function is missing, the error names the CUDA version that has it. Without a GPU, the crate
//! `cuprum-emulator` implements the same functions in software.
//!
//! # Scope
//!
//! Most methods make one driver call. Types enforce the rules between calls: their order, the
//! lifetimes of objects, and which context is current. The crate is not the runtime API, an array
//! library or a compiler. It loads kernels from PTX, cubin or fatbin; the crate `cuprum-compile`
//! compiles them from source. A kernel's memory accesses cannot be checked, so
//! [launching](Kernel::launch) is `unsafe`. The crate prints nothing and starts no thread. Its only
//! process-wide effects are loading the driver and calling `cuInit`. [`not_wrapped`] lists the
//! driver functions without a method; [`Library::fns`] can call them.
//!
//! # The order of types
//!
//! | type | requires | guarantee |
//! |---|---|---|
//! | [`Library`]: a loaded driver | | no call before there is a driver |
//! | [`Driver`]: `cuInit` succeeded | a `Library` | no call before initialization |
//! | [`Device`] | a `Driver` | |
//! | [`Context`], [`PrimaryContext`]; either can be [shared](Shared) | a `Device` | |
//! | [`GreenContext`](context::GreenContext): on a part of a device | a description of its resources | its streams end before it does |
//! | [`ContextStack`] | nothing; one per thread | |
//! | [`Current`]: a token, which proves that a context is current on this thread | the stack, or the token pushed before it, borrowed mutably | contexts are popped in order, and only the top one is used |
//! | [`Buffer`], [`Stream`], [`Event`], [`Module`] | `&Current`; they borrow or share the context | a context outlives its objects |
//! | [`Array`](memory::Array), [`Texture`](texture::Texture), [`Surface`](texture::Surface) | `&Current`; a texture borrows or shares its array or memory | memory is not freed while kernels can read it through a texture |
//! | [`StreamBuffer`](pool::StreamBuffer): stream-ordered memory | `&Current` and a `Stream`, borrowed or shared | no other stream uses it before its allocation or after its free |
//! | [`Function`], [`Kernel`], [`Global`] | a `Module`: borrowed or, by a kernel, [shared](Shared::kernel) | code is not unloaded while it can be launched |
//! | [`CodeLibrary`](module::CodeLibrary): code without a context | a `Driver`; a `Module` of it borrows the library and a context | code outlives its kernels in any context |
//! | [`Linked`](module::Linked): linked code | a [`Linker`](module::Linker), consumed | nothing is added to complete code |
//! | [`PinnedBuffer`], [`Registered`]: page-locked host memory | `&Current`; they borrow or share the context | it is not freed or accessed while the device may write it |
//! | [`Graph`](graph::Graph): work that is replayed | `&Current`; it borrows or owns the memory of its nodes | this memory is accessed only through the graph, between replays |
//! | [`Scope`]: work on lent memory | `&Current` and a `Stream`; it borrows memory of the device and the host | memory in use is not accessed, moved or freed |
//! | [`region::Queue`], [`region::Region`]: work and memory whose types are known only at run time | a [`region::Pool`] of a shared context | they can be kept, shared, recorded and dropped in any order, for example by a server of tensors |
//! | [`Request`], [`Pending`]: work that outlives its function | its operands, moved in | they are accessible again only after the work is complete |
//!
//! # A tour
//!
//! ```
//! use cuprum::{Buffer, In, InOut, LaunchConfig, Module, Stream};
//!
//! // `cuprum::open(0)` requires a GPU.
//! let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
//! let context = cuprum::open_in(library, 0)?;
//!
//! // The context is current while `cx` lives.
//! context.enter(|cx| {
//!     // Compares the signature with the kernel once: number, sizes and offsets of its parameters.
//!     let module = Module::load_ptx(cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
//!     let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
//!
//!     let x = Buffer::from_slice(cx, &[1.0f32; 1000])?;
//!     let mut y = Buffer::from_slice(cx, &[2.0f32; 1000])?;
//!     let stream = Stream::new(cx)?;
//!     let config = LaunchConfig::for_elements(x.len(), 256);
//!     // SAFETY: saxpy(n, alpha, x, y) accesses n elements of each; the copies below come after it.
//!     unsafe { saxpy.launch(cx, &stream, config, (1000, 3.0, &x, &mut y)) }?;
//!     assert_eq!(y.to_vec(cx)?, [5.0; 1000]);
//!
//!     // Memory that a stream uses is borrowed until the scope has waited.
//!     let mut host = [0.0f32; 1000];
//!     cx.scope(&stream, |scope| Ok(scope.read(&mut host, &scope.lend(&mut y)?)?))?;
//!     assert_eq!(host, [5.0; 1000]);
//!     Ok(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each error type of this crate converts to [`AnyError`], the error type of these closures. A
//! program that switches between contexts, or borrows a context instead of sharing it, uses
//! [`Driver`], [`PrimaryContext`] and [`ContextStack`], in the order of the table above.
//!
//! # Threads
//!
//! Each thread has its own current context. Tokens ([`ContextStack`], [`Current`],
//! [`Attached`](context::Attached)), values that use a token ([`Scope`], [`Lent`],
//! [`Capture`](graph::Capture) and others) and [OpenGL objects](graphics) stay on their thread. A
//! [`Graph`](graph::Graph) or its executable can be sent, but only one thread at a time can use it.
//! All other objects can be sent and shared. Drop works on any thread: it makes the object's
//! context current if necessary, and restores the previous one.
//!
//! Code that gets no token from its caller, as in a library, [enters](ContextRef::enter) a context
//! with a closure. `enter` pushes the context for the closure, unless it is already current. A
//! worker thread is a loop inside `enter` (example 04). A thread that uses one context can be
//! [attached](context::Attached) to it: its token fits in a struct, and `enter` makes no driver
//! call there.
//!
//! A token forgotten with [`mem::forget`](std::mem::forget) leaves its context current. The next
//! use of an earlier token of the thread, or the next push, detects this and pops the context, or
//! fails with [`Error::OUT_OF_ORDER`]. The same applies to contexts left by a failed push or pop: a
//! token never works in a context other than its own. Other code of the process that changes the
//! current context must restore it.
//!
//! # Keeping it in a struct
//!
//! A struct cannot hold a context and an object that borrows it. An object made in a
//! [shared](Shared) context holds a share of the context instead and is `'static`, as is a
//! [`Kernel`] of a shared module. Such a struct can be moved, sent, kept in a `static`, and dropped
//! in any order; the context ends with its last user. Shares are counted only when objects are made
//! and dropped, so sharing does not slow down launches and copies.
//!
//! The repository has complete examples: a struct (03), a thread pool (04), a global initialized on
//! first use (05), and libraries that share a library (06).
//!
//! # Other code
//!
//! [`ForeignStream`], [`ForeignEvent`] and [`ForeignBuffer`] borrow objects of other libraries;
//! `from_raw` of an owner, such as [`Stream::from_raw`], takes ownership. A custom wrapper of a raw
//! call can follow the same rules as this crate: it holds a handle of the [default
//! stream](Stream::default_in), which keeps the context alive; it [requires](Current::require) the
//! context to be current, [converts](ContextRef::check) the result code, and destroys its object
//! [with the context current](ContextRef::with_current), on any thread (example 11).
//!
//! # Several devices, several machines
//!
//! Each device has its own context. Within a process, memory is [copied](memory::Peer) between
//! devices, or kernels [access](Current::enable_peer_access) memory of another device (example 14).
//! [`Buffer::ipc_handle`] shares memory with another process. Across machines, use NCCL: it
//! connects devices of any number of processes and machines, and works in their primary contexts.
//! The crate `cuprum-nccl` loads it at run time, and its example `all_reduce` sums over two
//! devices, in one process and in two.
//!
//! # Order of operations
//!
//! Copies and fills outside a scope run on the default stream, in one order across all threads.
//! Streams from [`Stream::new`] are ordered with them. A [non-blocking](StreamKind::NonBlocking)
//! stream is not; when memory is lent to a scope on such a stream, the call first waits for the
//! default stream. If the library was opened with per-thread default streams, the default streams
//! of two threads are not ordered; then copies to the device, and fills, wait until they are done.
//! Allocations are not cleared: memory has unspecified contents until it is written.
//!
//! # Work in flight
//!
//! Copies run in parallel with the host only if the host memory is page-locked: a [`PinnedBuffer`],
//! or [`Registered`] memory. Such memory is lent to a [scope](Current::scope), which waits for its
//! work. To outlive the function, work and its operands move into a [`Request`] instead; the
//! resulting [`Pending`] is stored, queued, sent, waited for, or [awaited](Pending::notify).
//! Futures of [streams](Stream::reached) and [events](Event::reached) need no runtime.
//!
//! After a fault, no wait proves that the device has stopped writing page-locked memory. So if a
//! scope's wait fails, memory lent to it is [lost](PinnedBuffer#when-it-is-lost); a request is
//! leaked. The [module of streams](stream) has the measurements. Work that fits neither a scope nor
//! a request can use [`region`], where each queue holds a share of the memory that it uses.
//!
//! # Errors
//!
//! Every error names the call and the code in eight bytes; see [`Error`]. Any call can fail:
//!
//! - with an error of earlier work: the driver reports a fault at a later call, and then at every
//!   call (see [Faults](#faults));
//! - on a driver that lacks the function ([`Error::UNRESOLVED`]);
//! - in a forked child ([`Error::FORKED`]);
//! - with codes that newer drivers add.
//!
//! The documentation of a method lists only errors other than these, and has no such section if
//! there are none. Methods that also check on the
//! host wrap the error in their own type, such as [`MemoryError`], with the values in question.
//! `Drop` cannot report errors; `close` does. After an error of `close` or `Drop`, the object no
//! longer exists: the driver may report a failure for a call that took effect, and a second free
//! might free another object. [`swallowed`] counts errors that `Drop` swallows. If the machine
//! causes an error (no device, or a driver and a kernel module of different versions), the message
//! explains it: [`diagnosis`].
//!
//! # Faults
//!
//! After a kernel makes an invalid memory access, traps, fails an assertion or overflows its stack,
//! every call in its context returns the same [sticky](Error::is_sticky) error. The context records
//! the first call that reported the fault, and later errors name that call. Measured on an H200
//! with driver 580 (CUDA 13.0), and recorded in `tests/data/goldens/driver.json`:
//!
//! - The launch itself succeeds. A later call reports the fault, at the latest the first one that
//!   waits.
//! - The fault reaches all contexts of the process, on all devices, including later ones.
//! - After the context is destroyed, a new one fails with the same code. So does a primary context
//!   that was reset, or released and retained again. Only a new process recovers.
//! - Querying device attributes, pushing and popping continue to work.
//! - Copies between a device and page-locked host memory continue, including queued copies, while
//!   every wait immediately returns the fault.
//!
//! So run kernels that may fault in a separate process. On the emulator a fault affects only its
//! context, and the report names the thread, the line and the allocation.
//!
//! # Forks
//!
//! A driver does not survive `fork`. In the child of a process that called `cuInit`, every method
//! returns [`Error::FORKED`] and drops do nothing; the driver itself would fail or hang. Start
//! workers with `exec`, or initialize after the fork. Page-locked memory that the driver allocated
//! remains shared with the child, so neither process may write memory that the other uses. Managed
//! memory is not mapped in the child: accessing it kills the child (H100, driver 580:
//! `tests/data/goldens/forks.txt`).
//!
//! # Exit
//!
//! Nothing has to be freed before a process ends. If an object is dropped while the driver shuts
//! down, the driver returns an error, which the drop treats as success. The driver is never
//! unloaded.
//!
//! # Drivers
//!
//! The function table is tested on drivers since CUDA 6.5. Each method documents its C function and
//! the first CUDA version that has it; on an older driver, only that method fails with
//! [`Error::UNRESOLVED`]. Sharing a context with other libraries ([`PrimaryContext`]) needs CUDA
//! 7.0. Checking the signature of a kernel that was not loaded from PTX needs CUDA 12.4.
//! [`Library::require`] and [`Library::has`] check in advance. NVIDIA's newer drivers run programs
//! made for older ones, so there is no maximum version.

// The rooms, from the bottom to the top; each uses only the rooms above it in this list.
// `tests/rules/arrows/cuprum.rs` checks the arrows, and gives a reason for each exception.
//
// diagnosis         state of the machine, without a driver call; above `device`: contents of images
// error swallowed   errors of calls, and errors that drops could not report
// raw               call: one checked call; keep: keeping a context or module alive; held: the
//                   owner of handles; owner, debug: methods of all owners, and `Debug`;
//                   this_thread: types that must not be sent
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
// region            memory and queues whose types are known at run time
// any_error         one error for all of them, which closures return
// open              the short way to a context

#![allow(clippy::missing_errors_doc, reason = "errors of any call are listed once, above")]
#![deny(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod any_error;
pub mod context;
pub mod device;
pub mod diagnosis;
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

/// Set-up of the examples here: a driver, with another name a shared context of device 0, with two
/// more a current context. `software` selects the software device.
#[doc(hidden)]
#[macro_export]
macro_rules! example {
    ($driver:ident) => {
        let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
        let $driver = $crate::Driver::init(library)?;
    };
    ($driver:ident, $context:ident) => {
        $crate::example!($driver);
        let $context = $crate::context::PrimaryContext::retain($driver.device(0)?)?.share();
    };
    ($driver:ident, $context:ident, $cx:ident) => {
        $crate::example!($driver);
        $crate::example!(in $driver, $context, $cx);
    };
    (software $driver:ident, $context:ident, $cx:ident) => {
        let $driver = $crate::Driver::init(cuprum_emulator::library())?;
        $crate::example!(in $driver, $context, $cx);
    };
    (in $driver:ident, $context:ident, $cx:ident) => {
        let $context = $crate::context::PrimaryContext::retain($driver.device(0)?)?;
        let mut stack = $crate::context::ContextStack::take()?;
        let $cx = stack.push(&$context)?;
    };
}

/// The README's example, compiled and run with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
