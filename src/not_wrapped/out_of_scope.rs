//! Functions for purposes that this crate does not have.

use super::{NotWrapped, groups};

groups! { OutOfScope:
    "graphics: OpenGL, mapped resources, contexts shared with graphics, NvSciSync":
        cuDeviceGetNvSciSyncAttributes cuStreamBeginCaptureToCig cuStreamEndCaptureToCig
        cuGraphicsUnregisterResource cuGraphicsSubResourceGetMappedArray
        cuGraphicsResourceGetMappedMipmappedArray cuGraphicsResourceGetMappedPointer_v2
        cuGraphicsResourceSetMapFlags_v2 cuGraphicsMapResources cuGraphicsUnmapResources
        cuGraphicsGLRegisterBuffer cuGraphicsGLRegisterImage cuGLGetDevices_v2;

    "tools and administration: core dumps, checkpoints, memory notifications":
        cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification cuCoredumpGetAttribute
        cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal
        cuCoredumpRegisterStartCallback cuCoredumpRegisterCompleteCallback
        cuCoredumpDeregisterStartCallback cuCoredumpDeregisterCompleteCallback
        cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState cuCheckpointProcessLock
        cuCheckpointProcessCheckpoint cuCheckpointProcessRestore cuCheckpointOperationComplete
        cuCheckpointProcessUnlock;

    "tables without documentation, which tools of NVIDIA use":
        cuGetExportTable;

    "fabrics of many nodes: cliques, logical endpoints, copies between them":
        cuDeviceGetFabricClusterUuid cuDeviceGetCliqueCount cuDeviceGetCliqueInfo
        cuLogicalEndpointIdReserve cuLogicalEndpointIdRelease cuLogicalEndpointCreate
        cuLogicalEndpointAddDevice cuLogicalEndpointDestroy cuLogicalEndpointBindAddr
        cuLogicalEndpointBindMem cuLogicalEndpointUnbind cuLogicalEndpointExport
        cuLogicalEndpointImport cuLogicalEndpointGetLimits cuLogicalEndpointQuery
        cuFabricCpyBatchAsync;
}
