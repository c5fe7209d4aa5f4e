//! Launches as before CUDA 4.0: calls set the shape and arguments on the function.

use core::ffi::c_void;
use core::slice;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, calls};

use super::function::Function;
use super::launch::{Launch, LaunchShape};

/// Maximum bytes of arguments of any kernel.
const MOST_PARAM_BYTES: u32 = 32764;

fn set_param(function: CUfunction, offset: i32, value: &[u8]) -> Answer {
    let function = Function::find(function)?;
    let mut settings = function.legacy.lock();
    let start = usize::try_from(offset).map_err(|_| INVALID_VALUE)?;
    let end = start.checked_add(value.len()).ok_or(INVALID_VALUE)?;
    ensure(end <= MOST_PARAM_BYTES as usize, INVALID_VALUE)?;
    if settings.params.len() < end {
        settings.params.resize(end, 0);
    }
    settings.params[start..end].copy_from_slice(value);
    Ok(())
}

fn launch(call: &Call, function: CUfunction, (width, height): (i32, i32), stream: CUstream) -> Answer {
    let stream = call.stream(stream)?;
    let function = Function::find_in(function, stream.context())?;
    let side = |side: i32| u32::try_from(side).map_err(|_| INVALID_VALUE);
    let settings = function.legacy.lock();
    let shape = LaunchShape {
        grid: [side(width)?, side(height)?, 1],
        block: settings.block,
        dynamic_shared: settings.dynamic_shared,
        cooperative: false,
        cluster: None,
    };
    let mut params = settings.params.clone();
    drop(settings);
    // Clients round the size up or down to the alignment of the last argument.
    params.resize(function.kernel.param_bytes() as usize, 0);
    let launch = Launch::new(function, shape, params)?;
    stream.push(launch).map(drop)
}

calls! {
    fn cuFuncSetBlockShape(_call, hfunc: CUfunction, x: i32, y: i32, z: i32) {
        let function = Function::find(hfunc)?;
        let side = |side: i32| u32::try_from(side).ok().filter(|&side| side > 0).ok_or(INVALID_VALUE);
        let block = [side(x)?, side(y)?, side(z)?];
        function.legacy.lock().block = block;
        Ok(())
    }

    fn cuFuncSetSharedSize(_call, hfunc: CUfunction, bytes: u32) {
        Function::find(hfunc)?.legacy.lock().dynamic_shared = bytes;
        Ok(())
    }

    fn cuParamSetSize(_call, hfunc: CUfunction, numbytes: u32) {
        ensure(numbytes <= MOST_PARAM_BYTES, INVALID_VALUE)?;
        Function::find(hfunc)?.legacy.lock().params.resize(numbytes as usize, 0);
        Ok(())
    }

    fn cuParamSeti(_call, hfunc: CUfunction, offset: i32, value: u32) {
        set_param(hfunc, offset, &value.to_ne_bytes())
    }

    fn cuParamSetf(_call, hfunc: CUfunction, offset: i32, value: f32) {
        set_param(hfunc, offset, &value.to_ne_bytes())
    }

    fn cuParamSetv(_call, hfunc: CUfunction, offset: i32, ptr: *mut c_void, numbytes: u32) {
        ensure(!ptr.is_null(), INVALID_VALUE)?;
        // SAFETY: the client's argument, not null, has the stated size during the call.
        let value = unsafe { slice::from_raw_parts(ptr.cast::<u8>(), numbytes as usize) };
        set_param(hfunc, offset, value)
    }

    fn cuLaunch(call, f: CUfunction) {
        launch(call, f, (1, 1), CUstream::null())
    }

    fn cuLaunchGrid(call, f: CUfunction, grid_width: i32, grid_height: i32) {
        launch(call, f, (grid_width, grid_height), CUstream::null())
    }

    fn cuLaunchGridAsync(
        call,
        f: CUfunction,
        grid_width: i32,
        grid_height: i32,
        hStream: CUstream,
    ) {
        launch(call, f, (grid_width, grid_height), hStream)
    }
}
