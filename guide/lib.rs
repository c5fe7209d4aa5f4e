//! The programs of the guide: each page's Rust blocks are documentation tests of this crate.
//!
//! `mdbook build guide` makes the book; `tests/rules/pages.rs` sees to it that each page is named
//! here, that it is in the summary, and that its links and includes lead somewhere.

/// PTX of `saxpy(n, alpha, x, y)`, which the pages launch.
pub const SAXPY: &str = include_str!("../kernels/saxpy.ptx");

/// PTX of kernels that go wrong.
pub const FAULTS: &str = include_str!("../kernels/faults.ptx");

/// PTX of `mandelbrot(counts, width, height, left, top, step, limit)`.
pub const MANDELBROT: &str = include_str!("../kernels/mandelbrot.ptx");

/// PTX of `transpose(in, out, rows, columns)`.
pub const TRANSPOSE: &str = include_str!("../kernels/transpose.ptx");

/// PTX of `reduce_shared_dynamic(in, partial, n)`.
pub const REDUCE: &str = include_str!("../kernels/reduce_shared.ptx");

/// PTX of `stencil(in, out, n)`, with its coefficients in constant memory.
pub const STENCIL: &str = include_str!("../kernels/stencil.ptx");

/// PTX of `resize(source, target, width, height)`.
pub const RESIZE: &str = include_str!("../kernels/resize.ptx");

/// PTX of kernels with parameters of many types.
pub const SIGNATURES: &str = include_str!("../kernels/signatures.ptx");

macro_rules! pages {
    ($($name:ident: $file:literal;)*) => { $(
        #[cfg(doctest)]
        #[doc = include_str!($file)]
        #[derive(Debug)]
        pub struct $name;
    )* };
}

pages! {
    Introduction: "src/introduction.md";
    FirstKernel: "src/first_kernel.md";
    Order: "src/order.md";
    Blocks: "src/blocks.md";
    SharedMemory: "src/shared_memory.md";
    Globals: "src/globals.md";
    Textures: "src/textures.md";
    Arguments: "src/arguments.md";
    Cooperative: "src/cooperative.md";
    KernelDebugging: "src/kernel_debugging.md";
    Streams: "src/streams.md";
    Pinned: "src/pinned.md";
    Pools: "src/pools.md";
    Graphs: "src/graphs.md";
    Devices: "src/devices.md";
    Machines: "src/machines.md";
    Software: "src/software.md";
    Deferred: "src/deferred.md";
    Versions: "src/versions.md";
    Applications: "src/applications.md";
    Opengl: "src/opengl.md";
    Errors: "src/errors.md";
    Shipping: "src/shipping.md";
    Measuring: "src/measuring.md";
    Tasks: "src/tasks.md";
    Glossary: "src/glossary.md";
    FromPycuda: "src/from_pycuda.md";
    FromCudarc: "src/from_cudarc.md";
    FromCust: "src/from_cust.md";
}
