//! What is done in another way.

use super::{NotWrapped, groups};

groups! { Unneeded:
    "result codes have their names and descriptions in cuprum-sys, and need no driver for it":
        cuGetErrorString cuGetErrorName;

    "the same without flags":
        cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize;

    "the current context is changed by pushing and popping alone, so that it can be put back":
        cuCtxSetCurrent;

    "the same with the context as an argument; here a token says that it is current":
        cuCtxGetDevice_v2 cuCtxSynchronize_v2;

    "other ways to load what `cuModuleLoadDataEx` loads, without a log of errors":
        cuModuleLoad cuModuleLoadData cuModuleLoadFatBinary;

    "`cuMemHostAlloc` without flags":
        cuMemAllocHost_v2;

    "objects remember their context, and streams how they were created":
        cuStreamGetFlags cuStreamGetDevice cuStreamGetCtx_v2 cuFuncGetModule;
}
