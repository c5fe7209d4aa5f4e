//! Features of the driver API, by their functions.

use std::collections::BTreeSet;

use cuprum::sys::{FnId, Version};

#[derive(Debug)]
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    functions: &'static [FnId],
}

macro_rules! features {
    ($($name:literal: $($function:ident)+;)*) => {
        const FEATURES: &[Feature] = &[$(Feature { name: $name, functions: &[$(FnId::$function),+] }),*];
    };
}

features! {
    "contexts, memory, copies, modules": cuCtxCreate_v2 cuMemAlloc_v2 cuMemcpyHtoD_v2 cuModuleLoadDataEx;
    "launches with a list of parameters": cuLaunchKernel;
    "linking at run time": cuLinkCreate_v2 cuLinkComplete;
    "managed memory": cuMemAllocManaged;
    "primary contexts": cuDevicePrimaryCtxRetain;
    "prefetch of managed memory": cuMemPrefetchAsync;
    "values that streams write and wait for": cuStreamWriteValue32 cuStreamWaitValue32;
    "cooperative launches": cuLaunchCooperativeKernel;
    "memory and semaphores of other APIs": cuImportExternalMemory cuImportExternalSemaphore;
    "functions of the host in streams": cuLaunchHostFunc;
    "graphs": cuGraphCreate cuGraphLaunch;
    "capture of streams": cuStreamBeginCapture_v2 cuStreamEndCapture;
    "virtual memory": cuMemAddressReserve cuMemCreate cuMemMap;
    "memory in the order of streams": cuMemAllocAsync cuMemFreeAsync cuMemPoolCreate;
    "questions for functions": cuGetProcAddress;
    "memory inside of graphs": cuGraphAddMemAllocNode;
    "launches with attributes, clusters": cuLaunchKernelEx;
    "lazy loading of code": cuModuleGetLoadingMode;
    "code of no context": cuLibraryLoadData cuLibraryGetKernel;
    "tensor maps": cuTensorMapEncodeTiled;
    "multicast": cuMulticastCreate;
    "conditional nodes of graphs": cuGraphConditionalHandleCreate;
    "sizes of kernel parameters": cuFuncGetParamInfo;
    "green contexts": cuGreenCtxCreate;
    "batches of copies": cuMemcpyBatchAsync;
    "checkpoints of processes": cuCheckpointProcessCheckpoint;
    "the error log": cuLogsRegisterCallback;
}

/// The availability of a feature in a driver.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) name: &'static str,
    /// The CUDA version that has all its functions.
    pub(crate) since: Version,
    pub(crate) has: bool,
}

pub(crate) fn verdicts(absent: &BTreeSet<String>) -> Vec<Verdict> {
    let verdict = |feature: &Feature| {
        let since = feature.functions.iter().map(|function| function.symbol().since);
        Verdict {
            name: feature.name,
            since: since.max().unwrap_or(Version::from_raw(0)),
            has: !feature.functions.iter().any(|function| absent.contains(&function.to_string())),
        }
    };
    let mut verdicts: Vec<_> = FEATURES.iter().map(verdict).collect();
    verdicts.sort_by_key(|verdict| verdict.since);
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_lacking_if_one_of_its_functions_is() {
        let absent = BTreeSet::from(["cuMemPoolCreate".to_owned(), "cuTensorMapEncodeTiled".to_owned()]);
        let lacking: Vec<_> = verdicts(&absent).into_iter().filter(|verdict| !verdict.has).collect();
        let told: Vec<_> = lacking.iter().map(|verdict| (verdict.name, verdict.since)).collect();
        assert_eq!(
            told,
            [("memory in the order of streams", Version::new(11, 2)), ("tensor maps", Version::new(12, 0)),]
        );
    }
}
