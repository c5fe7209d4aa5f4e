//! Functions whose work another method does.

use super::{NotWrapped, groups};

groups! { Unneeded:
    "result codes have their names and descriptions in cuprum-sys, and need no driver for it":
        cuGetErrorString cuGetErrorName;

    "the same without flags":
        cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize;

    "an attribute of a launch: `LaunchAttributes::cooperative`":
        cuLaunchCooperativeKernel;

    "the current context is changed by pushing and popping alone, so that it can be put back":
        cuCtxSetCurrent;

    "the same with the context as an argument; here a token says that it is current":
        cuCtxGetDevice_v2 cuCtxSynchronize_v2;

    "other ways to load what `cuModuleLoadDataEx` loads, without a log of errors":
        cuModuleLoad cuModuleLoadData cuModuleLoadFatBinary;

    "`cuMemHostAlloc` without flags":
        cuMemAllocHost_v2;

    "objects remember their context, kernels their library, and streams how they were created":
        cuKernelGetLibrary cuStreamGetDevice cuStreamGetCtx_v2 cuFuncGetModule;

    "arrays of one or two dimensions by functions of their own: those for three make and describe them too":
        cuArrayCreate_v2 cuArrayGetDescriptor_v2;

    "copies of one row from and to an array: those of two dimensions take one row, of any array":
        cuMemcpyDtoA_v2 cuMemcpyAtoD_v2 cuMemcpyHtoA_v2 cuMemcpyAtoH_v2 cuMemcpyAtoA_v2
        cuMemcpyHtoAAsync_v2 cuMemcpyAtoHAsync_v2;

    "the functions for each kind of node do the same":
        cuGraphNodeSetParams_v2 cuGraphNodeGetParams cuGraphExecNodeSetParams;

    "making a graph executable with a log of errors that no driver writes since CUDA 12":
        cuGraphInstantiate_v2;

    "capture that calls back for what differs from a graph: an executable is updated by a graph that was captured anew":
        cuStreamBeginRecaptureToGraph;

    "tokens of nodes know their graph, and graphs the functions that their nodes call":
        cuGraphHostNodeGetParams cuGraphNodeGetContainingGraph;
}
