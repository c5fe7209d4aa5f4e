//! The programs of the guide: each page's Rust blocks are documentation tests of this crate.
//!
//! `mdbook build guide` makes the book; `tests/rules/pages.rs` sees to it that each page is named here, that it is in the
//! summary, and that its links and includes lead somewhere.

/// PTX of `saxpy(n, alpha, x, y)`, which the pages launch.
pub const SAXPY: &str = include_str!("../kernels/saxpy.ptx");

/// PTX of kernels that go wrong.
pub const FAULTS: &str = include_str!("../kernels/faults.ptx");

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
    FromPycuda: "src/from_pycuda.md";
    FromCudarc: "src/from_cudarc.md";
    FromCust: "src/from_cust.md";
}
