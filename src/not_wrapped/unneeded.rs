//! Functions whose work another method does.

use super::{NotWrapped, groups};

groups! { Unneeded:
    "result codes have their names and descriptions in cuprum-sys, and need no driver for it":
        cuGetErrorString cuGetErrorName;

    "the same without flags":
        cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize;

    "an attribute of a launch: `LaunchAttributes::cooperative`":
        cuLaunchCooperativeKernel;

    "the current context is changed only by pushing and popping, so that it can be restored":
        cuCtxSetCurrent;

    "the same with the context as an argument; here a token proves that it is current":
        cuCtxGetDevice_v2 cuCtxSynchronize_v2;

    "other ways to load the code of `cuModuleLoadDataEx`, without a log of errors":
        cuModuleLoad cuModuleLoadData cuModuleLoadFatBinary;

    "the edges of a graph, which name the dependencies and dependents of each node, and the roots":
        cuGraphGetRootNodes cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes_v2;

    "a preference between cache and shared memory: an attribute of functions sets the carveout in percent":
        cuCtxGetCacheConfig cuCtxSetCacheConfig cuKernelSetCacheConfig cuFuncSetCacheConfig;

    "a texture or surface is what the program made it of":
        cuTexObjectGetResourceDesc cuTexObjectGetTextureDesc cuTexObjectGetResourceViewDesc cuSurfObjectGetResourceDesc;

    "a kernel's function in a context reports its parameters":
        cuKernelGetParamInfo cuKernelGetParamCount;

    "the contents of a file: `Linker::add` and `CodeLibrary::load_binary` take them from memory":
        cuLinkAddFile_v2 cuLibraryLoadFromFile;

    "one attribute after the other is read and set":
        cuStreamCopyAttributes cuGraphKernelNodeCopyAttributes;

    "the flags with which the program made an executable, and a second number of a node":
        cuGraphNodeGetLocalId cuGraphExecGetFlags;

    "the version of the functions that made a context, which is the same for each context here":
        cuCtxGetApiVersion;

    "a search in the list of devices, each of which returns its address":
        cuDeviceGetByPCIBusId;

    "`cuMemHostAlloc` without flags":
        cuMemAllocHost_v2;

    "objects remember their context, kernels their library, and streams how they were created":
        cuKernelGetLibrary cuStreamGetDevice cuStreamGetCtx_v2 cuFuncGetModule;

    "arrays of one or two dimensions: the functions for three dimensions make and describe them too":
        cuArrayCreate_v2 cuArrayGetDescriptor_v2;

    "copies of one row from and to an array: the two-dimensional copies do the same, for any array":
        cuMemcpyDtoA_v2 cuMemcpyAtoD_v2 cuMemcpyHtoA_v2 cuMemcpyAtoH_v2 cuMemcpyAtoA_v2
        cuMemcpyHtoAAsync_v2 cuMemcpyAtoHAsync_v2;

    "the functions for each kind of node do the same":
        cuGraphNodeSetParams_v2 cuGraphNodeGetParams cuGraphExecNodeSetParams;

    "making a graph executable with a log of errors that no driver writes since CUDA 12":
        cuGraphInstantiate_v2;

    "capture with callbacks for differences from a graph: a newly captured graph updates an executable":
        cuStreamBeginRecaptureToGraph;

    "tokens of nodes know their graph, and graphs the functions that their nodes call":
        cuGraphHostNodeGetParams cuGraphNodeGetContainingGraph;
}
