//! Functions for purposes that this crate does not have.

use super::{NotWrapped, groups};

groups! { OutOfScope:
    "NvSciSync, of NVIDIA's embedded systems alone, whose fences are another library's":
        cuDeviceGetNvSciSyncAttributes;

    "capture into a context that a program of graphics owns, which `unsafe` calls on both sides make":
        cuStreamBeginCaptureToCig cuStreamEndCaptureToCig;

    "core dumps: debuggers set them up, or the `CUDA_COREDUMP` variables of the environment":
        cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute
        cuCoredumpSetAttributeGlobal cuCoredumpRegisterStartCallback
        cuCoredumpRegisterCompleteCallback cuCoredumpDeregisterStartCallback
        cuCoredumpDeregisterCompleteCallback;

    "checkpoints, which a process takes of another one: a tool's work, not a program's":
        cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState cuCheckpointProcessLock
        cuCheckpointProcessCheckpoint cuCheckpointProcessRestore cuCheckpointOperationComplete
        cuCheckpointProcessUnlock;

    "notice of a memory budget that the desktop of Windows sets, on a thread of the driver's":
        cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification;

    "tables without documentation, which tools of NVIDIA use":
        cuGetExportTable;

    "fabrics between machines: cliques, logical endpoints, copies between them, with a manager that runs on each":
        cuDeviceGetFabricClusterUuid cuDeviceGetCliqueCount cuDeviceGetCliqueInfo
        cuLogicalEndpointIdReserve cuLogicalEndpointIdRelease cuLogicalEndpointCreate
        cuLogicalEndpointAddDevice cuLogicalEndpointDestroy cuLogicalEndpointBindAddr
        cuLogicalEndpointBindMem cuLogicalEndpointUnbind cuLogicalEndpointExport
        cuLogicalEndpointImport cuLogicalEndpointGetLimits cuLogicalEndpointQuery
        cuFabricCpyBatchAsync;
}
