//! Values that a graph keeps, and when it releases them.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cuprum::graph::{CaptureMode, Graph, GraphExec, InstantiateFlags, Loan, Part, UserObject};
use cuprum::memory::{Array, ArrayFlags, ArrayShape, PinnedFlags, PitchedBuffer};
use cuprum::texture::{Sampler, Texture, TextureObject};
use cuprum::{
    Buffer, ContextRef, Current, InOut, Kernel, LaunchConfig, Module, PinnedBuffer, Shared, Stream,
};

use super::common::{context, driver};
use super::{Saxpy, alone, executable, in_context, saxpy, zeros};

/// All that a program has of a graph, in a struct without lifetimes.
struct Pipeline {
    executable: GraphExec<'static>,
    input: Loan<[f32]>,
    y: Loan<InOut<f32>>,
    stream: Stream<'static>,
    context: Shared<ContextRef>,
}

impl Pipeline {
    fn new() -> Self {
        let context = context().share();
        let (graph, input, y, stream) = context
            .enter(|cx| {
                let module = saxpy(cx).share();
                let kernel: Kernel<'static, Saxpy> = module.kernel("saxpy").unwrap();
                let (x, y) = (Buffer::alloc(cx, 64).unwrap(), Buffer::zeroed(cx, 64).unwrap());
                let mut stream = Stream::non_blocking(cx).unwrap();
                let captured = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
                    let (x, y) = (capture.lend(x)?, capture.lend(y)?);
                    let input = capture.lend(vec![0.0; 64])?;
                    capture.copy(x, input)?;
                    // SAFETY: the kernel touches 64 elements of both, after the copy.
                    unsafe { capture.launch(&kernel, LaunchConfig::new(2, 32), (64, 2.0, x, y)) }?;
                    Ok((input, y))
                });
                let (graph, (input, y)) = captured.unwrap();
                Ok((executable(cx, graph), input, y, stream))
            })
            .unwrap();
        // Module and kernel are dropped here.
        Self { executable: graph, input, y, stream, context }
    }

    fn run(&mut self, value: f32) -> Vec<f32> {
        let Self { executable, input, y, stream, context } = self;
        executable.view_mut(*input).unwrap().fill(value);
        context
            .enter(|cx| {
                executable.launch(cx, stream).unwrap();
                Ok(executable.view(*y).unwrap().to_vec(cx).unwrap())
            })
            .unwrap()
    }
}

#[test]
fn a_graph_of_counted_things_lies_in_a_struct_and_moves_between_threads() {
    let _alone = alone();
    let mut pipeline = Pipeline::new();
    assert_eq!(pipeline.run(1.0), [2.0; 64]);
    let moved = thread::spawn(move || {
        assert_eq!(pipeline.run(3.0), [8.0; 64]);
        pipeline
    });
    let Pipeline { executable, context, y, .. } = moved.join().unwrap();
    let mut returned = executable.close().unwrap();
    let buffer = returned.take::<Buffer<_>>(y).unwrap();
    assert!(returned.take::<Buffer<_>>(y).is_none());
    assert_eq!(context.enter(|cx| Ok(buffer.to_vec(cx).unwrap())).unwrap(), [8.0; 64]);
}

#[test]
fn loans_come_back_with_the_graph() {
    in_context(|cx| {
        let mut buffer = zeros(cx, 4);
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(&mut buffer).unwrap();
        graph.add_fill(cx, &[], memory, 3).unwrap();
        let mut executable = executable(cx, graph);
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
        assert!(executable.close().unwrap().take::<Buffer<_>>(memory).is_none(), "it was lent, not given");
        assert_eq!(buffer.to_vec(cx).unwrap(), [3; 4]);
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(buffer).unwrap();
        let buffer = graph.close().unwrap().take::<Buffer<_>>(memory).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [3; 4]);
    });
}

#[test]
fn a_token_of_another_graph_takes_nothing_back() {
    in_context(|cx| {
        let (mut one, mut two) = (Graph::new(cx).unwrap(), Graph::new(cx).unwrap());
        let (a, b) = (one.lend(zeros(cx, 4)).unwrap(), two.lend(zeros(cx, 4)).unwrap());
        assert!(one.close().unwrap().take::<Buffer<_>>(b).is_none());
        assert!(two.close().unwrap().take::<Buffer<_>>(a).is_none());
    });
}

#[test]
fn user_objects_live_as_long_as_graph_and_executable() {
    in_context(|cx| {
        let value = Arc::new(());
        let object = UserObject::new(driver(), Arc::clone(&value)).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        graph.retain(&object).unwrap();
        graph.retain(&object).unwrap();
        graph.release(&object).unwrap();
        let second = object.share().unwrap();
        drop(object);
        second.close().unwrap();
        assert_eq!(Arc::strong_count(&value), 2);
        let executable = executable(cx, graph);
        assert_eq!(Arc::strong_count(&value), 2);
        drop(executable);
        // The driver may drop it in its own time.
        let soon = Instant::now() + Duration::from_secs(10);
        while Arc::strong_count(&value) > 1 && Instant::now() < soon {
            thread::yield_now();
        }
        assert_eq!(Arc::strong_count(&value), 1);
        let mut graph = Graph::new(cx).unwrap();
        let object = UserObject::new(driver(), value).unwrap();
        assert!(graph.release(&object).is_err(), "the graph has none");
    });
}

#[test]
fn a_launch_without_a_wait_completes() {
    in_context(|cx| {
        let mut buffer = zeros(cx, 1 << 16);
        let stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(&mut buffer).unwrap();
        graph.add_fill(cx, &[], memory, 7).unwrap();
        let executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
        // SAFETY: it is waited for below, and nothing is touched before.
        unsafe { executable.launch_unwaited(cx, &stream) }.unwrap();
        stream.synchronize(cx).unwrap();
        drop(executable);
        assert!(buffer.to_vec(cx).unwrap().iter().all(|&value| value == 7));
    });
}

#[test]
fn user_objects_live_until_the_last_launch_has_ended() {
    in_context(|cx| {
        let value = Arc::new(());
        let stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let (seen, (told, alive)) = (Arc::downgrade(&value), std::sync::mpsc::channel());
        graph.add_host(cx, &[], move || told.send(seen.strong_count()).unwrap()).unwrap();
        graph.retain(&UserObject::new(driver(), value).unwrap()).unwrap();
        let (template, raw) = {
            let executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
            // SAFETY: nothing that the graph keeps is freed: it is forgotten below.
            unsafe { executable.launch_unwaited(cx, &stream) }.unwrap();
            let handles = (executable.graph().unwrap().as_raw(), executable.as_raw());
            std::mem::forget(executable);
            handles
        };
        let fns = driver().library().fns();
        // SAFETY: a handle of this driver that is not used any more.
        let (code, _) = unsafe { cuprum::sys::call!(fns, cuGraphExecDestroy(raw)) };
        assert_eq!(code, cuprum::sys::CUresult::CUDA_SUCCESS);
        // SAFETY: as above.
        let (code, _) = unsafe { cuprum::sys::call!(fns, cuGraphDestroy(template)) };
        assert_eq!(code, cuprum::sys::CUresult::CUDA_SUCCESS);
        stream.synchronize(cx).unwrap();
        assert_eq!(alive.recv(), Ok(1));
    });
}

/// Writes the texel of a line to one place.
const READ: &str = "
    .version 7.0
    .target sm_52
    .address_size 64
    .entry read(.param .u64 texture, .param .f32 x, .param .u64 out) {
        .reg .f32 %f<5>; .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [texture];
        ld.param.f32 %f0, [x];
        ld.param.u64 %rd2, [out];
        cvta.to.global.u64 %rd3, %rd2;
        tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f0}];
        st.global.f32 [%rd3], %f1;
        ret;
    }";

/// A graph borrows the textures of its kernels until it and its executable are dropped, whether
/// they were added, captured or changed; then they can be closed.
#[test]
fn a_graph_reads_its_textures_in_each_replay() {
    in_context(|cx| {
        let shape = ArrayShape::OneD { width: 2 };
        let line = |values: [f32; 2]| Array::from_slice(cx, shape, ArrayFlags::empty(), &values).unwrap();
        let (first, second) = (line([1.0, 2.0]), line([3.0, 4.0]));
        let texture = |line| Texture::new(cx, line, &Sampler::default()).unwrap();
        let (one, two) = (texture(&first), texture(&second));
        let module = Module::load_ptx(cx, READ).unwrap();
        let read = module.function("read").unwrap().bind::<(TextureObject, f32, InOut<f32>)>().unwrap();
        let (config, mut stream) = (LaunchConfig::new(1, 1), Stream::new(cx).unwrap());
        let [out, other] = [(); 2].map(|()| Buffer::<f32>::zeroed(cx, 1).unwrap());
        let captured = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
            let out = capture.lend(out)?;
            // SAFETY: the kernel writes the one element; the graph keeps the texture.
            unsafe { capture.launch(&read, config, (&one, 1.5, out)) }?;
            Ok(out)
        });
        let (mut graph, captured) = captured.unwrap();
        let added = graph.lend(other).unwrap();
        // SAFETY: as above.
        let node = unsafe { graph.add_kernel(cx, &[], &read, config, (&one, 0.5, added)) }.unwrap();
        let mut executable = executable(cx, graph);
        let mut results = || {
            executable.launch(cx, &stream).unwrap();
            [captured, added].map(|out| executable.view(out).unwrap().to_vec(cx).unwrap()[0])
        };
        assert_eq!([results(), results()], [[2.0, 1.0]; 2]);
        // SAFETY: as above, of the other texture.
        unsafe { executable.set(cx, node).kernel(&read, config, (&two, 1.5, added)) }.unwrap();
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(added).unwrap().to_vec(cx).unwrap(), [4.0]);
        drop(executable);
        one.close().unwrap();
        two.close().unwrap();
    });
}

/// The model of a server: several workers use it, and none of them owns it.
struct Model {
    layers: Vec<Buffer<'static, f32>>,
}

#[test]
fn graphs_on_two_threads_share_the_weights_of_a_model() {
    let _alone = alone();
    let context = context().share();
    let layers = |cx: &mut Current<'_, 'static>| {
        [1.0f32, 2.0].map(|value| Buffer::from_slice(cx, &[value; 64]).unwrap()).into()
    };
    let model = Arc::new(Model { layers: context.enter(|cx| Ok(layers(cx))).unwrap() });
    let free = |cx: &mut Current<'_, 'static>| cx.memory_info().unwrap().free;
    let before = context.enter(|cx| Ok(free(cx))).unwrap();
    let worker = |layer: usize| {
        let (context, model) = (context.clone(), Arc::clone(&model));
        thread::spawn(move || {
            let (mut exec, output) = context.enter(|cx| Ok(workers_graph(cx, &model, layer))).unwrap();
            drop(model);
            let mut run = |cx: &mut Current<'_, 'static>| {
                let stream = Stream::non_blocking(cx).unwrap();
                (0..3).for_each(|_| exec.launch(cx, &stream).unwrap());
                exec.view(output).unwrap().to_vec()
            };
            (context.enter(|cx| Ok(run(cx))).unwrap(), exec)
        })
    };
    let (one, two) = (worker(0), worker(1));
    let weak = Arc::downgrade(&model);
    drop(model);
    let ((one, exec), (two, other)) = (one.join().unwrap(), two.join().unwrap());
    assert_eq!((one, two), (vec![3.0; 64], vec![6.0; 64]));
    drop(exec);
    assert!(weak.upgrade().is_some(), "the other graph has a share");
    drop(other);
    assert!(weak.upgrade().is_none());
    if !super::common::on_gpu() {
        assert!(
            context.enter(|cx| Ok(free(cx))).unwrap() > before,
            "the weights were freed with the last graph"
        );
    }
}

/// Adds a layer's weights to the graph's sum, and copies the sum to the host.
fn workers_graph(
    cx: &Current<'_, 'static>,
    model: &Arc<Model>,
    layer: usize,
) -> (GraphExec<'static>, Loan<[f32]>) {
    let kernel: Kernel<'static, Saxpy> = saxpy(cx).share().kernel("saxpy").unwrap();
    let mut graph = Graph::new(cx).unwrap();
    let weights = graph.lend(Part::of(model, |model| model.layers[layer].as_slice())).unwrap();
    let sum = graph.lend(Buffer::zeroed(cx, 64).unwrap()).unwrap();
    let output = graph.lend(vec![0.0; 64]).unwrap();
    // SAFETY: the kernel touches 64 elements of both.
    let added =
        unsafe { graph.add_kernel(cx, &[], &kernel, LaunchConfig::new(2, 32), (64, 1.0, weights, sum)) };
    graph.add_copy(cx, &[added.unwrap()], output, sum).unwrap();
    (executable(cx, graph), output)
}

#[test]
fn a_shared_buffer_is_read_by_graphs_and_by_the_program() {
    in_context(|cx| {
        let buffer = Arc::new(Buffer::from_slice(cx, &[5u32; 4]).unwrap());
        let mut graph = Graph::new(cx).unwrap();
        let (from, to) = (graph.lend(Arc::clone(&buffer)).unwrap(), graph.lend(zeros(cx, 4)).unwrap());
        graph.add_copy(cx, &[], to, from).unwrap();
        let mut executable = executable(cx, graph);
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
        assert_eq!(executable.view(to).unwrap().to_vec(cx).unwrap(), [5; 4]);
        assert_eq!(buffer.to_vec(cx).unwrap(), [5; 4]);
        assert_eq!(Arc::strong_count(&buffer), 2);
        executable.close().unwrap();
        assert_eq!(Arc::strong_count(&buffer), 1);
    });
}

#[test]
fn page_locked_memory_is_the_host_side_of_a_graph_and_comes_back() {
    in_context(|cx| {
        let pinned = |value: u32| PinnedBuffer::from_slice(cx, &[value; 8], PinnedFlags::empty()).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let (input, output) = (graph.lend(pinned(1)).unwrap(), graph.lend(pinned(0)).unwrap());
        let memory = graph.lend(zeros(cx, 8)).unwrap();
        let copy = graph.add_copy(cx, &[], memory, input).unwrap();
        // The second half of the host's memory only.
        let (back, half) = (output.slice(4..).unwrap(), memory.slice(4..).unwrap());
        graph.add_copy(cx, &[copy], back, half).unwrap();
        let mut executable = executable(cx, graph);
        let stream = Stream::non_blocking(cx).unwrap();
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(output).unwrap(), [0, 0, 0, 0, 1, 1, 1, 1]);
        executable.view_mut(input.slice(6..).unwrap()).unwrap().fill(9);
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(back).unwrap(), [1, 1, 9, 9]);
        let mut returned = executable.close().unwrap();
        assert!(returned.take::<Vec<_>>(output).is_none(), "it is no vector");
        let output = returned.take::<PinnedBuffer<_>>(output).unwrap();
        assert_eq!(output[..], [0, 0, 0, 0, 1, 1, 9, 9]);
        assert!(returned.take::<PinnedBuffer<_>>(back).is_none(), "it was taken");
    });
}

#[test]
fn a_token_takes_back_an_owner_of_its_own_type_alone() {
    in_context(|cx| {
        let mut lent = zeros(cx, 4);
        let mut graph = Graph::new(cx).unwrap();
        let host = graph.lend(vec![1u32; 4]).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let rows = graph.lend(PitchedBuffer::<u32>::alloc(cx, (4, 2)).unwrap()).unwrap();
        let lent = graph.lend(&mut lent).unwrap();
        let mut returned = graph.close().unwrap();
        assert!(
            returned.take::<PinnedBuffer<_>>(host).is_none() && returned.take::<Buffer<_>>(lent).is_none()
        );
        assert_eq!(returned.take::<Vec<_>>(host), Some(vec![1; 4]));
        assert_eq!(returned.take::<PitchedBuffer<_>>(rows).unwrap().as_pitched().extent(), (4, 2).into());
        assert_eq!(returned.take::<Buffer<_>>(memory).unwrap().len(), 4);
    });
}
