//! Launches of kernels.

use core::ffi::c_void;
use core::ptr;
use std::sync::{Arc, LazyLock};

use cuprum_sys::*;

use crate::exec::{self, ExecOptions, LaunchArgs};
use crate::memory::Request;
use crate::settings::ApiCheck;

use crate::driver::answer::{Answer, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{Call, In, Param, calls, demand};
use crate::driver::device::{MAX_BLOCK, MAX_GRID, MAX_THREADS, multiprocessors, processors};
use crate::driver::state::{Act, Operation, Turn, captures, memory, note, settings};

use super::attributes::max_threads;
use super::cluster::{Sides, asked, clusters, most};
use super::fault;
use super::function::Function;
use super::hooks::KernelHooks;
use super::occupancy::resident_blocks;

/// A launch, checked and ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) function: Arc<Function>,
    pub(crate) shape: LaunchShape,
    pub(crate) params: Vec<u8>,
    /// Blocks of a cluster, if the launch or the kernel has clusters.
    cluster: Option<Sides>,
}

/// All parts of a launch except the kernel and its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaunchShape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) cooperative: bool,
    /// Blocks of a cluster, if the launch states them.
    pub(crate) cluster: Option<Sides>,
}

/// Size of the barrier of a cooperative grid, in bytes.
const WORKSPACE_BYTES: u64 = 64;

impl Launch {
    /// Checks a launch against the limits of the device and the kernel.
    pub(crate) fn new(function: Arc<Function>, shape: LaunchShape, params: Vec<u8>) -> Answer<Self> {
        let kernel = &function.kernel;
        let threads = shape.check(&function)?;
        if shape.cooperative {
            let resident = resident_blocks(kernel, threads, shape.dynamic_shared);
            let room = u64::from(resident) * multiprocessors() as u64;
            let blocks = shape.grid.iter().map(|&side| u64::from(side)).product::<u64>();
            ensure(blocks <= room, CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)?;
        }
        let cluster = clusters(&function, shape.grid, shape.cluster, most(&function))?;
        Ok(Self { function, shape, params, cluster })
    }

    pub(crate) fn launch(&self) -> Answer {
        let module = &self.function.module;
        let context = &module.context;
        let workspace = match self.shape.cooperative {
            true => {
                let request = Request::device(WORKSPACE_BYTES, context.handle as u64, context.device as u32);
                let region = memory().alloc(&request).map_err(|_| OUT_OF_MEMORY)?;
                if let Some(written) = &region.init {
                    written.set(0, WORKSPACE_BYTES);
                }
                Some(region)
            }
            false => None,
        };
        let mut hooks = KernelHooks::new(context, &self.function.kernel)?;
        let args = LaunchArgs {
            kernel: &self.function.kernel,
            globals: &module.globals,
            grid: self.shape.grid,
            block: self.shape.block,
            dynamic_shared: self.shape.dynamic_shared,
            params: &self.params,
            cluster: self.cluster,
            cooperative: self.shape.cooperative,
            grid_workspace: workspace.as_ref().map_or(0, |region| region.base),
        };
        let result = exec::launch(&args, &memory().snapshot(), &OPTIONS, &hooks);
        if let Some(touched) = hooks.take_touched() {
            note(|| Act::of_kernel(&self.function.kernel, touched));
        }
        if let Some(workspace) = workspace {
            // Only this function knows the address, so freeing the memory cannot fail.
            let _ = memory().free(workspace.base);
        }
        match result {
            Ok(_) => Ok(()),
            Err(fault) => {
                let code = fault.code();
                fault::remember(*fault);
                Err(code)
            }
        }
    }
}

static OPTIONS: LazyLock<ExecOptions> = LazyLock::new(|| {
    let settings = settings();
    ExecOptions {
        mode: settings.execution,
        workers: if settings.workers == 0 { processors() } else { settings.workers },
        budget: settings.instruction_budget,
        time_limit: settings.time_limit,
        check_init: settings.check_init,
        check_races: settings.check_races,
        check_atomic_reads: settings.check_atomic_reads,
        check_barriers: settings.check_barriers,
        check_nans: settings.check_nans,
        seed: settings.seed,
        multiprocessors: multiprocessors() as u32,
    }
});

impl Operation for Launch {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        self.launch()
    }
}

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

impl LaunchShape {
    /// Checks the shape against the limits of device and kernel. Returns the threads per block.
    fn check(&self, function: &Function) -> Answer<u32> {
        let (kernel, name) = (&function.kernel, function.kernel.name());
        let within = |sides: [u32; 3], limits: [u32; 3]| {
            sides.iter().zip(limits).all(|(&side, limit)| (1..=limit).contains(&side))
        };
        let (grid, block) = (self.grid, self.block);
        demand(within(grid, MAX_GRID), INVALID_VALUE, ApiCheck::Certain, || {
            format!("kernel `{name}` in a grid of {grid:?} blocks, where 1 to {MAX_GRID:?} are possible")
        })?;
        demand(within(block, MAX_BLOCK), INVALID_VALUE, ApiCheck::Certain, || {
            format!("kernel `{name}` in blocks of {block:?} threads, where 1 to {MAX_BLOCK:?} are possible")
        })?;
        let threads: u32 = block.iter().product();
        demand(threads <= MAX_THREADS, INVALID_VALUE, ApiCheck::Certain, || {
            format!(
                "kernel `{name}` in blocks of {threads} threads, where at most {MAX_THREADS} are possible"
            )
        })?;
        demand(threads <= max_threads(kernel), INVALID_VALUE, ApiCheck::All, || {
            let most = max_threads(kernel);
            format!("kernel `{name}` in blocks of {threads} threads, where it takes at most {most}")
        })?;
        let required = kernel.required_threads();
        demand(required.is_none_or(|required| required == block), INVALID_VALUE, ApiCheck::All, || {
            format!("kernel `{name}` in blocks of {block:?} threads, where it takes {required:?} only")
        })?;
        let shared = (self.dynamic_shared, function.attributes.dynamic_shared());
        demand(shared.0 <= shared.1, INVALID_VALUE, ApiCheck::All, || {
            format!(
                "kernel `{name}` with {} bytes of dynamic shared memory, where {} are allowed: set \
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES before",
                shared.0, shared.1
            )
        })?;
        Ok(threads)
    }

    /// Returns the shape of an extended launch, without its attributes.
    pub(super) fn of(config: &CUlaunchConfig) -> Self {
        LaunchShape {
            grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
            block: [config.blockDimX, config.blockDimY, config.blockDimZ],
            dynamic_shared: config.sharedMemBytes,
            cooperative: false,
            cluster: None,
        }
    }

    /// Applies the attributes of an extended launch that affect its result.
    pub(super) fn apply(&mut self, config: &CUlaunchConfig) -> Answer {
        // SAFETY: the client's array has the length stated in the configuration.
        let attributes = unsafe { In::from_raw(config.attrs.cast_const()) };
        for attribute in attributes.get_all(config.numAttrs as usize)? {
            match attribute.id {
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                    // SAFETY: the id says that the client set this member, an integer.
                    self.cooperative = unsafe { attribute.value.cooperative } != 0;
                }
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                    // SAFETY: the id says that the client set this member, three integers.
                    self.cluster = asked(unsafe { attribute.value.clusterDim });
                }
                // Other attributes are hints for the hardware.
                known if known.name().is_some() => {}
                _ => return Err(INVALID_VALUE),
            }
        }
        Ok(())
    }
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
