//! Functions that read and write settings of a context.

use cuprum_sys::*;

use crate::driver::answer::{INVALID_VALUE, ensure};
use crate::driver::call::{Out, calls};

calls! {
    fn cuCtxSetLimit(call, limit: CUlimit, value: usize) {
        let context = call.context_outside_captures()?;
        context.config().set_limit(limit, value)
    }

    fn cuCtxGetLimit(call, pvalue: Out<usize>, limit: CUlimit) {
        pvalue.check()?;
        pvalue.set(call.context()?.limit(limit)?)
    }

    fn cuCtxGetCacheConfig(call, pconfig: Out<CUfunc_cache>) {
        pconfig.check()?;
        let cache = call.context()?.config().cache;
        pconfig.set(cache)
    }

    fn cuCtxSetCacheConfig(call, config: CUfunc_cache) {
        let context = call.context_outside_captures()?;
        ensure(config.name().is_some(), INVALID_VALUE)?;
        context.config().cache = config;
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(call, pConfig: Out<CUsharedconfig>) {
        pConfig.check()?;
        let shared = call.context()?.config().shared;
        pConfig.set(shared)
    }

    fn cuCtxSetSharedMemConfig(call, config: CUsharedconfig) {
        let context = call.context_outside_captures()?;
        ensure(config.name().is_some(), INVALID_VALUE)?;
        context.config().shared = config;
        Ok(())
    }
}
