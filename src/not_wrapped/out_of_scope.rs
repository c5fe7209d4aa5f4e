//! Functions outside the scope of this crate.

use super::{NotWrapped, groups};

groups! { OutOfScope:
    "NvSciSync, only on NVIDIA's embedded systems, with fences of another library":
        cuDeviceGetNvSciSyncAttributes;

    "capture into a context of a graphics program, by `unsafe` calls on both sides":
        cuStreamBeginCaptureToCig cuStreamEndCaptureToCig;

    "checkpoints whose memory the caller saves, by addresses and streams of another process; with \
     `tools::CheckpointProcess` the driver saves it on the host":
        cuCheckpointOperationComplete;

    "undocumented tables for NVIDIA's tools":
        cuGetExportTable;

    "fabrics between machines: cliques, logical endpoints, copies between them, with a manager that runs on each":
        cuDeviceGetFabricClusterUuid cuDeviceGetCliqueCount cuDeviceGetCliqueInfo
        cuLogicalEndpointIdReserve cuLogicalEndpointIdRelease cuLogicalEndpointCreate
        cuLogicalEndpointAddDevice cuLogicalEndpointDestroy cuLogicalEndpointBindAddr
        cuLogicalEndpointBindMem cuLogicalEndpointUnbind cuLogicalEndpointExport
        cuLogicalEndpointImport cuLogicalEndpointGetLimits cuLogicalEndpointQuery
        cuFabricCpyBatchAsync;
}
