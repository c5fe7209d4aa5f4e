//! Calls that launch kernels.

use core::ffi::c_void;
use core::ptr;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, In, calls};
use crate::driver::state::captures;

use super::function::Function;
use super::launch::{Launch, LaunchShape};

/// Collects the arguments, passed in either way, into one buffer.
pub(crate) fn pack_params(
    function: &Function,
    each: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer<Vec<u8>> {
    let kernel = &function.kernel;
    let mut buffer = vec![0; kernel.param_bytes() as usize];
    match (each.is_null(), extra.is_null()) {
        (true, true) => ensure(kernel.params().is_empty(), INVALID_VALUE)?,
        (false, false) => return Err(INVALID_VALUE),
        (false, true) => {
            for (index, param) in kernel.params().iter().enumerate() {
                // SAFETY: not null; the client passes a pointer for each parameter.
                let from = unsafe { each.wrapping_add(index).read_unaligned() };
                ensure(!from.is_null(), INVALID_VALUE)?;
                let to = &mut buffer[param.offset as usize..][..param.size as usize];
                // SAFETY: the client's argument is not null and has the parameter's size.
                unsafe { ptr::copy_nonoverlapping(from.cast(), to.as_mut_ptr(), to.len()) };
            }
        }
        (true, false) => {
            let (from, bytes) = extra_buffer(extra)?;
            ensure(bytes >= buffer.len() && !from.is_null() || buffer.is_empty(), INVALID_VALUE)?;
            ensure(bytes == buffer.len(), CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)?;
            // SAFETY: the client's buffer has as many bytes as ours; null only if zero.
            unsafe { ptr::copy_nonoverlapping(from.cast(), buffer.as_mut_ptr(), buffer.len()) };
        }
    }
    Ok(buffer)
}

/// Reads the list of markers and values at `extra`.
fn extra_buffer(extra: *mut *mut c_void) -> Answer<(*const c_void, usize)> {
    /// Maximum number of markers in a valid list: two, and the end.
    const MOST_MARKS: usize = 3;
    let (mut buffer, mut bytes) = (ptr::null(), None);
    for pair in 0..MOST_MARKS {
        let at = extra.wrapping_add(2 * pair);
        // SAFETY: the list is not null, and its end marker has not been reached.
        let mark = unsafe { at.read_unaligned() };
        if mark == CU_LAUNCH_PARAM_END {
            return Ok((buffer, bytes.ok_or(INVALID_VALUE)?));
        }
        // SAFETY: every other marker is followed by its value.
        let value = unsafe { at.wrapping_add(1).read_unaligned() };
        if mark == CU_LAUNCH_PARAM_BUFFER_POINTER {
            buffer = value.cast_const();
        } else if mark == CU_LAUNCH_PARAM_BUFFER_SIZE {
            ensure(!value.is_null(), INVALID_VALUE)?;
            // SAFETY: the value of this marker points to the size, and is not null.
            bytes = Some(unsafe { value.cast::<usize>().read_unaligned() });
        } else {
            return Err(INVALID_VALUE);
        }
    }
    Err(INVALID_VALUE)
}

fn launch(
    call: &Call,
    function: CUfunction,
    shape: LaunchShape,
    stream: CUstream,
    each: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    let stream = call.stream(stream)?;
    let function = Function::find_in(function, stream.context())?;
    let params = pack_params(&function, each, extra)?;
    let launch = Launch::new(function, shape, params).inspect_err(|_| {
        captures().spoil(stream.lane());
    })?;
    stream.push(launch).map(drop)
}

calls! {
    fn cuLaunchKernel(
        call,
        f: CUfunction,
        gridDimX: u32,
        gridDimY: u32,
        gridDimZ: u32,
        blockDimX: u32,
        blockDimY: u32,
        blockDimZ: u32,
        sharedMemBytes: u32,
        hStream: CUstream,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        let shape = LaunchShape {
            grid: [gridDimX, gridDimY, gridDimZ],
            block: [blockDimX, blockDimY, blockDimZ],
            dynamic_shared: sharedMemBytes,
            cooperative: false,
            cluster: None,
        };
        launch(call, f, shape, hStream, kernelParams, extra)
    }

    fn cuLaunchCooperativeKernel(
        call,
        f: CUfunction,
        gridDimX: u32,
        gridDimY: u32,
        gridDimZ: u32,
        blockDimX: u32,
        blockDimY: u32,
        blockDimZ: u32,
        sharedMemBytes: u32,
        hStream: CUstream,
        kernelParams: *mut *mut c_void,
    ) {
        let shape = LaunchShape {
            grid: [gridDimX, gridDimY, gridDimZ],
            block: [blockDimX, blockDimY, blockDimZ],
            dynamic_shared: sharedMemBytes,
            cooperative: true,
            cluster: None,
        };
        launch(call, f, shape, hStream, kernelParams, ptr::null_mut())
    }

    fn cuLaunchKernelEx(
        call,
        config: In<CUlaunchConfig>,
        f: CUfunction,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        let config = config.get()?;
        let mut shape = LaunchShape::of(&config);
        shape.apply(&config)?;
        launch(call, f, shape, config.hStream, kernelParams, extra)
    }
}
