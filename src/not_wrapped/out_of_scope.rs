//! Functions outside the scope of this crate.

use super::{NotWrapped, groups};

groups! { OutOfScope:
    "NvSciSync, of NVIDIA's embedded systems alone, whose fences are another library's":
        cuDeviceGetNvSciSyncAttributes;

    "capture into a context that a program of graphics owns, which `unsafe` calls on both sides make":
        cuStreamBeginCaptureToCig cuStreamEndCaptureToCig;

    "checkpoints of which the caller saves the memory, by addresses and streams of another process; with \
     `tools::CheckpointProcess` the driver saves it on the host":
        cuCheckpointOperationComplete;

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
