//! Cost of a wrapper over the driver call that it makes.
//!
//! Each operation is timed in three variants, batch by batch in turns: through function pointers
//! taken once and kept in locals (`pointer`, as in C code linked to the driver), through the
//! function table (`table`), and through the safe layer (`wrapper`). Criterion gets their mean. The
//! medians, and the cost of the wrapper, are printed as a table at the end; the last column is the
//! median over turns of the ratio within a turn.
//!
//! Two drivers are measured: a fake that does nothing, where the difference is all there is to see,
//! and the device that `CUPRUM_DEVICE` names, the emulator by default. The program needs no cargo
//! and no file at run time: `tests/gpu.sh` takes it to a machine that has only a GPU.
//!
//! ```text
//! cargo bench -p cuprum-benches --bench wrappers
//! ```

// SAFETY of the raw calls here and in the modules: the handles, addresses and sizes belong to live
// objects of the current context, out-parameters are locals, and nothing else uses the memory.
#![allow(clippy::undocumented_unsafe_blocks, reason = "said once above")]

mod counted;
mod in_flight;
mod medians;
mod peers;
mod pools;
mod regions;
mod textures;

use cuprum_testing::{common, tracer};
use std::ffi::c_void;
use std::fmt::Debug;
use std::hint::black_box;
use std::ptr;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::graph::{CaptureMode, InstantiateFlags};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUcontext, CUresult, FnId};
use cuprum::{Buffer, Current, Driver, In, InOut, LaunchConfig, Stream};
use medians::{Samples, Table, Variant};
use tracer::Backing;

/// Calls timed in one go, with nothing else between them. The wait for the work that they queued is
/// outside of the time: a full queue would make the host wait for the device.
const BATCH: u64 = 256;

pub(crate) const COPIED_BYTES: usize = 4 << 10;
pub(crate) const ALLOCATED_BYTES: usize = 1 << 20;
pub(crate) const THREADS: u32 = 32;
/// Kernels of the graph.
const KERNELS: usize = 20;

/// An answer that says whether the call succeeded, which every caller looks at.
pub(crate) trait Answer: Debug {
    fn is_success(&self) -> bool;

    fn must_succeed(self)
    where
        Self: Sized,
    {
        assert!(self.is_success(), "{self:?}");
    }
}

impl Answer for CUresult {
    fn is_success(&self) -> bool {
        *self == CUresult::CUDA_SUCCESS
    }
}

impl<T: Debug, E: Debug> Answer for Result<T, E> {
    fn is_success(&self) -> bool {
        self.is_ok()
    }
}

/// The operations on one device, and the times that they took.
pub(crate) struct Measurement<'a> {
    group: BenchmarkGroup<'a, WallTime>,
    table: Table,
}

impl Measurement<'_> {
    /// Times an operation. `turn` runs one variant as often as requested, and returns the time;
    /// then it waits for the work that it queued.
    pub(crate) fn time(&mut self, operation: &'static str, mut turn: impl FnMut(Variant, u64) -> Duration) {
        // The first of all may load code, or map memory.
        for variant in Variant::ALL {
            turn(variant, 1);
        }
        let mut samples = Samples::default();
        self.group.bench_function(operation, |bencher| {
            bencher.iter_custom(|iterations| {
                let mut told = Duration::ZERO;
                let mut left = iterations;
                while left > 0 {
                    let batch = left.min(BATCH);
                    let times = samples.order().map(|variant| (variant, turn(variant, batch)));
                    samples.add(times, batch);
                    told += times.into_iter().map(|(_, time)| time).sum::<Duration>();
                    left -= batch;
                }
                told / Variant::ALL.len() as u32
            });
        });
        self.table.enter(operation, &samples);
    }

    /// Measures the operations that have modules of their own, and prints the table.
    fn finish(mut self, driver: Driver, cx: &mut Current<'_, '_>) {
        graphs(&mut self, driver, cx);
        counted::measure(&mut self, driver);
        in_flight::measure(&mut self, driver);
        pools::measure(&mut self, driver, cx);
        regions::measure(&mut self, driver);
        textures::measure(&mut self, driver, cx);
        peers::measure(&mut self, driver, cx);
        let Self { group, table } = self;
        group.finish();
        println!("{table}");
    }
}

/// Runs `body` so often, and returns the time; `settle` runs afterwards, untimed.
pub(crate) fn batch<A: Answer>(times: u64, mut body: impl FnMut() -> A, settle: impl FnOnce()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        black_box(body().is_success());
    }
    let elapsed = start.elapsed();
    body().must_succeed();
    settle();
    elapsed
}

/// One operation in its three variants, which take turns, so that whatever else driver and machine
/// do meets all of them. `raw` is written once, with the driver's functions by their C names, and
/// compiled twice: with the pointers taken before the loop, and read from the table in each turn.
macro_rules! operation {
    (
        $measurement:ident, $operation:expr, $driver:ident, $settle:expr,
        raw [$($function:ident)+] $raw:block
        wrapper $wrapper:block
    ) => {
        #[allow(non_snake_case, reason = "the driver's names")]
        $measurement.time($operation, |variant, times| match variant {
            $crate::medians::Variant::Pointer => {
                $( let $function = std::hint::black_box($driver.library().fns().$function); )+
                $crate::batch(times, || $raw, $settle)
            }
            $crate::medians::Variant::Table => {
                let read = || {
                    let fns = std::hint::black_box($driver.library()).fns();
                    $( let $function = fns.$function; )+
                    $raw
                };
                $crate::batch(times, read, $settle)
            }
            $crate::medians::Variant::Wrapper => $crate::batch(times, || $wrapper, $settle),
        })
    };
}

pub(crate) use operation;

fn measure(criterion: &mut Criterion, device: &'static str, driver: Driver) {
    let context =
        Context::create(driver.device(0).expect("a device"), ContextFlags::empty()).expect("a context");
    let mut stack = ContextStack::take().expect("the thread's stack");
    let mut cx = stack.push(&context).expect("a push");
    let stream = Stream::new(&cx).expect("a stream");
    let module = common::kernels!(&cx, "vector_add");
    let kernel = module
        .function("vector_add")
        .expect("the kernel")
        .bind::<(In<f32>, In<f32>, InOut<f32>, u32)>()
        .expect("its signature");
    let config = LaunchConfig::new(1, THREADS);
    let zeros = || Buffer::<f32>::zeroed(&cx, THREADS as usize).expect("a buffer");
    let (a, b, mut c) = (zeros(), zeros(), zeros());
    let mut bytes = Buffer::<u8>::zeroed(&cx, COPIED_BYTES).expect("a buffer");
    let mut host = vec![0u8; COPIED_BYTES];
    let before = Event::new(&cx, EventFlags::empty()).expect("an event");
    let after = Event::new(&cx, EventFlags::empty()).expect("an event");
    before.record(&cx, &stream).expect("a record");
    after.record(&cx, &stream).expect("a record");

    let (raw_function, raw_stream, raw_event) = (kernel.function().as_raw(), stream.as_raw(), after.as_raw());
    let (raw_context, raw_start, raw_bytes) = (context.as_raw(), before.as_raw(), bytes.as_raw());
    let raw_arguments = (a.as_raw(), b.as_raw(), c.as_raw(), THREADS);

    let mut measurement = Measurement { group: criterion.benchmark_group(device), table: Table::new(device) };

    macro_rules! launch {
        ($cuLaunchKernel:ident) => {{
            let (mut a, mut b, mut c, mut n) = black_box(raw_arguments);
            let mut pointers: [*mut c_void; 4] =
                [(&raw mut a).cast(), (&raw mut b).cast(), (&raw mut c).cast(), (&raw mut n).cast()];
            let pointers = pointers.as_mut_ptr();
            let (function, none) = (raw_function, ptr::null_mut());
            unsafe { $cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, raw_stream, pointers, none) }
        }};
    }
    operation! {
        measurement, "launch, 4 arguments", driver, || stream.synchronize(&cx).must_succeed(),
        raw [cuLaunchKernel] { launch!(cuLaunchKernel) }
        wrapper { unsafe { kernel.launch(&cx, &stream, config, (&a, &b, &mut c, black_box(THREADS))) } }
    }
    operation! {
        measurement, "launch + sync", driver, || (),
        raw [cuLaunchKernel cuStreamSynchronize] {
            match launch!(cuLaunchKernel) {
                CUresult::CUDA_SUCCESS => unsafe { cuStreamSynchronize(raw_stream) },
                refused => refused,
            }
        }
        wrapper {
            unsafe { kernel.launch(&cx, &stream, config, (&a, &b, &mut c, black_box(THREADS))) }
                .and_then(|()| Ok(stream.synchronize(&cx)?))
        }
    }
    operation! {
        measurement, "alloc + free 1 MiB", driver, || (),
        raw [cuMemAlloc_v2 cuMemFree_v2] {
            let mut address = 0;
            match unsafe { cuMemAlloc_v2(&raw mut address, ALLOCATED_BYTES) } {
                CUresult::CUDA_SUCCESS => unsafe { cuMemFree_v2(address) },
                refused => refused,
            }
        }
        wrapper { Buffer::<u8>::alloc(&cx, ALLOCATED_BYTES).map(drop) }
    }
    operation! {
        measurement, "push + pop", driver, || (),
        raw [cuCtxPushCurrent_v2 cuCtxPopCurrent_v2] {
            match unsafe { cuCtxPushCurrent_v2(raw_context) } {
                CUresult::CUDA_SUCCESS => {
                    let mut popped = CUcontext::null();
                    unsafe { cuCtxPopCurrent_v2(&raw mut popped) }
                }
                refused => refused,
            }
        }
        wrapper { cx.push(&context).map(drop) }
    }
    operation! {
        measurement, "event record", driver, || stream.synchronize(&cx).must_succeed(),
        raw [cuEventRecord] { unsafe { cuEventRecord(raw_event, raw_stream) } }
        wrapper { after.record(&cx, &stream) }
    }
    let has_newer = driver.library().has(cuprum::sys::FnId::cuEventElapsedTime_v2);
    operation! {
        measurement, "event elapsed", driver, || (),
        raw [cuEventElapsedTime cuEventElapsedTime_v2] {
            let (mut out, newer, older) = (0f32, cuEventElapsedTime_v2, cuEventElapsedTime);
            unsafe { (if has_newer { newer } else { older })(&raw mut out, raw_start, raw_event) }
        }
        wrapper { after.elapsed_since(&before) }
    }
    operation! {
        measurement, "copy 4 KiB to device", driver, || (),
        raw [cuMemcpyHtoD_v2] { unsafe { cuMemcpyHtoD_v2(raw_bytes, host.as_ptr().cast(), COPIED_BYTES) } }
        wrapper { cx.copy(&mut bytes, &host) }
    }
    operation! {
        measurement, "copy 4 KiB to host", driver, || (),
        raw [cuMemcpyDtoH_v2] {
            unsafe { cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), raw_bytes, COPIED_BYTES) }
        }
        wrapper { cx.copy(&mut host, &bytes) }
    }
    operation! {
        measurement, "async copy 4 KiB + sync", driver, || (),
        raw [cuMemcpyHtoDAsync_v2 cuStreamSynchronize] {
            let from = host.as_ptr().cast();
            match unsafe { cuMemcpyHtoDAsync_v2(raw_bytes, from, COPIED_BYTES, raw_stream) } {
                CUresult::CUDA_SUCCESS => unsafe { cuStreamSynchronize(raw_stream) },
                refused => refused,
            }
        }
        wrapper {
            cx.scope(&stream, |scope| Ok(scope.copy(&scope.lend(bytes.as_mut_slice())?, &host)?))
        }
    }

    measurement.finish(driver, &mut cx);
}

/// Twenty kernels, launched one by one and as a captured graph. The graph's cost per kernel is a
/// twentieth of its cost.
fn graphs(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, '_>) {
    if !driver.library().has(FnId::cuGraphLaunch) {
        return;
    }
    let mut stream = Stream::new(cx).expect("a stream");
    let module = common::kernels!(cx, "vector_add");
    let function = module.function("vector_add").expect("the kernel");
    let kernel = function.bind::<(In<f32>, In<f32>, InOut<f32>, u32)>().expect("its signature");
    let config = LaunchConfig::new(1, THREADS);
    let buffers = [(); 3].map(|()| Buffer::<f32>::zeroed(cx, THREADS as usize).expect("a buffer"));
    let (a, b, c) = (buffers[0].as_raw(), buffers[1].as_raw(), buffers[2].as_raw());
    let raw_arguments = (a, b, c, THREADS);
    let (graph, loans) = cx
        .capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
            let [a, b, c] = buffers;
            let (a, b, c) = (capture.lend(a)?, capture.lend(b)?, capture.lend(c)?);
            for _ in 0..KERNELS {
                unsafe { capture.launch(&kernel, config, (a, b, c, THREADS)) }?;
            }
            Ok((a, b, c))
        })
        .expect("a capture");
    let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).expect("an executable");
    let (raw_graph, raw_stream, raw_function) =
        (executable.as_raw(), stream.as_raw(), kernel.function().as_raw());
    let settle = || stream.synchronize(cx).must_succeed();
    operation! {
        measurement, "20 launches, 4 arguments", driver, settle,
        raw [cuLaunchKernel] {
            let mut answer = CUresult::CUDA_SUCCESS;
            for _ in 0..KERNELS {
                let (mut a, mut b, mut c, mut n) = black_box(raw_arguments);
                let mut pointers: [*mut c_void; 4] =
                    [(&raw mut a).cast(), (&raw mut b).cast(), (&raw mut c).cast(), (&raw mut n).cast()];
                let (pointers, none) = (pointers.as_mut_ptr(), ptr::null_mut());
                answer = unsafe {
                    cuLaunchKernel(raw_function, 1, 1, 1, THREADS, 1, 1, 0, raw_stream, pointers, none)
                };
            }
            answer
        }
        wrapper {
            let (a, b, c) = loans;
            (0..KERNELS).try_for_each(|_| unsafe {
                kernel.launch(cx, &stream, config, (a, b, c, black_box(THREADS)))
            })
        }
    }
    let launched = cx.scope(&stream, |scope| {
        let graph = scope.lend_graph(&mut executable)?;
        operation! {
            measurement, "graph of 20 kernels", driver, settle,
            raw [cuGraphLaunch] { unsafe { cuGraphLaunch(raw_graph, raw_stream) } }
            wrapper { graph.launch() }
        }
        Ok(())
    });
    launched.expect("a wait");
}

fn main() {
    let mut criterion = Criterion::default()
        .without_plots()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    measure(&mut criterion, "fake", Backing::Nothing.driver());
    if !common::on_gpu() {
        // For copies between two.
        cuprum_emulator::Settings::from_env().expect("settings").devices(2).install().expect("the first use");
    }
    let device = common::driver();
    measure(&mut criterion, if common::on_gpu() { "gpu" } else { "emulator" }, device);
    criterion.final_summary();
}
