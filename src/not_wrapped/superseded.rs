//! Older revisions of functions that the table has in a newer revision.

use super::{NotWrapped, groups};

groups! { Superseded:
    "older ABI revisions of functions that the table also has in a newer one":
        cuDeviceTotalMem cuCtxCreate cuCtxCreate_v3 cuCtxDestroy cuCtxPushCurrent cuCtxPopCurrent
        cuModuleGetGlobal cuLinkCreate cuLinkAddData cuLinkAddFile cuMemGetInfo cuMemAlloc
        cuMemAllocPitch cuMemFree cuMemGetAddressRange cuMemAllocHost cuMemHostGetDevicePointer
        cuMemHostRegister cuArrayCreate cuArrayGetDescriptor cuArray3DCreate
        cuArray3DGetDescriptor cuMemcpyHtoD cuMemcpyDtoH cuMemcpyDtoD cuMemcpyDtoA cuMemcpyAtoD
        cuMemcpyHtoA cuMemcpyAtoH cuMemcpyAtoA cuMemcpyHtoAAsync cuMemcpyAtoHAsync cuMemcpy2D
        cuMemcpy2DUnaligned cuMemcpy3D cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuMemcpyDtoDAsync
        cuMemcpy2DAsync cuMemcpy3DAsync cuMemsetD8 cuMemsetD16 cuMemsetD32 cuMemsetD2D8
        cuMemsetD2D16 cuMemsetD2D32 cuMemcpyBatchAsync cuMemcpy3DBatchAsync
        cuStreamDestroy cuStreamGetCtx
        cuEventDestroy cuGraphNodeGetDependencies cuGraphNodeGetDependentNodes cuGraphAddNode cuGraphNodeSetParams cuTexRefSetAddress cuTexRefSetAddress2D
        cuTexRefSetAddress2D_v2 cuTexRefGetAddress cuGraphicsResourceGetMappedPointer
        cuGraphicsResourceSetMapFlags cuStreamWriteValue32 cuStreamWaitValue32 cuStreamWriteValue64
        cuStreamWaitValue64 cuStreamBatchMemOp cuGLGetDevices cuGLCtxCreate cuGLMapBufferObject
        cuGLMapBufferObjectAsync;
}
