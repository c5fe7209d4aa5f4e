//! Numbers that streams write and wait for, attributes and host functions of streams, copies by
//! other calls, tensor maps.

use std::sync::Arc;

use cuprum::graph::{CaptureMode, Graph, InstantiateFlags};
use cuprum::memory::{PinnedFlags, PitchedBuffer, Slice, SliceMut};
use cuprum::stream::Lent;
use cuprum::stream::{
    AccessPolicy, Copies, CopyAttributes, Decompression, Operations, Scope, Signals, SyncDomainMap, Until,
};
use cuprum::sys::{
    CUlaunchMemSyncDomain, CUmemDecompressAlgorithm, CUresult, CUstreamBatchMemOpParams,
    CUstreamMemoryBarrier_flags, CUsynchronizationPolicy, CUtensorMapAllocClass, CUtensorMapIm2ColWideMode,
};
use cuprum::texture::{TensorLayout, TensorMap};
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

use super::Steps;
use super::steps::while_they_succeed;

const LEN: usize = 4;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let Some(stream) = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx)) else { return };
    attributes(steps, cx, &stream);
    steps.attempt("Stream::call_host", || stream.call_host(cx, || ()));
    steps.attempt("Stream::synchronize", || stream.synchronize(cx));
    values(steps, cx, &stream);
    copies(steps, cx, &stream);
    unified(steps, cx, &stream);
    nodes(steps, cx, &stream);
    captured(steps, cx);
    tensors(steps, cx);
    steps.done("Stream::drop", || drop(stream));
}

fn attributes(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    steps.attempt("Stream::set_attribute", || stream.set_attribute(cx, AccessPolicy::NONE));
    steps.attempt("Stream::attribute", || stream.attribute::<AccessPolicy>(cx));
    let policy = CUsynchronizationPolicy::CU_SYNC_POLICY_AUTO;
    steps.attempt("Stream::set_attribute", || stream.set_attribute(cx, policy));
    steps.attempt("Stream::attribute", || stream.attribute::<CUsynchronizationPolicy>(cx));
    steps.attempt("Stream::set_priority", || stream.set_priority(cx, 0));
    let domain = CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
    steps.attempt("Stream::set_attribute", || stream.set_attribute(cx, domain));
    steps.attempt("Stream::attribute", || stream.attribute::<CUlaunchMemSyncDomain>(cx));
    if let Some(map) = steps.attempt("Stream::attribute", || stream.attribute::<SyncDomainMap>(cx)) {
        steps.attempt("Stream::set_attribute", || stream.set_attribute(cx, map));
    }
}

/// No wait here lasts: the numbers are zero.
fn values(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let signals = steps.attempt("Signals::new", || Signals::<u32>::new(cx, 2));
    let narrow = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, LEN));
    let wide = steps.attempt("Buffer::zeroed", || Buffer::<u64>::zeroed(cx, LEN));
    let (Some(signals), Some(mut narrow), Some(mut wide)) = (signals, narrow, wide) else { return };
    let (numbers, none) = ((&mut narrow, &mut wide), Until::AtLeast(0));
    steps.attempt("Current::scope", || {
        cx.scope(stream, |scope| {
            while_they_succeed(|| {
                let narrow = steps.attempt("Scope::lend", || scope.lend(numbers.0.as_mut_slice()))?;
                let wide = steps.attempt("Scope::lend", || scope.lend(numbers.1.as_mut_slice()))?;
                let lent = scope.lend(&signals).ok()?;
                steps.attempt("Scope::write_value", || scope.write_value(&narrow, 0, 0));
                steps.attempt("Scope::write_value", || scope.write_value(&wide, 0, 0));
                steps.attempt("Scope::wait_value", || scope.wait_value(&narrow, 0, none));
                steps.attempt("Scope::wait_value", || {
                    scope.wait_value(&wide.as_shared(), 0, Until::AtLeast(0))
                });
                steps.attempt("Scope::write_value", || scope.write_value(&lent, 1, 0));
                steps.attempt("Scope::wait_value", || scope.wait_value(&lent, 1, none));
                let mut operations = Operations::default();
                operations.wait(&lent, 0, none).ok()?.write(&narrow, 1, 0).ok()?;
                operations.barrier(CUstreamMemoryBarrier_flags::CU_STREAM_MEMORY_BARRIER_TYPE_SYS);
                steps.attempt("Scope::operate", || scope.operate(&mut operations))
            })
        })
    });
    steps.session().scope_ended();
    if signals.is_lost() {
        steps.session().lost(signals.as_ptr().cast_mut().cast::<u32>());
    }
    steps.attempt("Signals::close", || signals.close());
    steps.done("Buffer::drop", || drop((narrow, wide)));
}

fn copies(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let buffer = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, 2 * LEN));
    let bytes = steps.attempt("Buffer::zeroed", || Buffer::<u8>::zeroed(cx, 64));
    let rows = steps.attempt("PitchedBuffer::alloc", || PitchedBuffer::<u32>::alloc(cx, (LEN, 2)));
    let host =
        steps.attempt("PinnedBuffer::zeroed", || PinnedBuffer::<u32>::zeroed(cx, LEN, PinnedFlags::empty()));
    let (Some(mut buffer), Some(mut bytes), Some(mut rows), Some(mut host)) = (buffer, bytes, rows, host)
    else {
        return;
    };
    let start = host.as_raw();
    steps.attempt("Current::scope", || {
        cx.scope(stream, |scope| {
            while_they_succeed(|| {
                let all = steps.attempt("Scope::lend", || scope.lend(buffer.as_mut_slice()))?;
                let host = steps.attempt("Scope::lend", || scope.lend(&mut host))?;
                let (low, high) = (all.slice(..LEN)?, all.slice(LEN..)?);
                let (mut copies, plain) = (Copies::default(), CopyAttributes::default());
                copies.add(&high, &low, plain).ok()?.add(&host, &low, plain).ok()?;
                steps.attempt("Scope::copy_all", || scope.copy_all(&mut copies));
                steps.attempt("Scope::copy_with", || scope.copy_with(&low, &high, plain));
                let rows = rows.as_pitched_mut().split_at_row(1)?;
                let low = steps.attempt("Scope::lend", || scope.lend(rows.0))?;
                let high = steps.attempt("Scope::lend", || scope.lend(rows.1))?;
                let mut blocks = Copies::default();
                blocks.add(&low, &high, plain).ok()?;
                steps.attempt("Scope::copy_all", || scope.copy_all(&mut blocks));
                steps.attempt("Scope::copy_with", || scope.copy_with(&low, &high, plain));
                let bytes = steps.attempt("Scope::lend", || scope.lend(bytes.as_mut_slice()))?;
                decompress(steps, scope, &bytes, &all)
            })
        })
    });
    if host.is_lost() {
        steps.session().lost(start);
    }
    steps.session().scope_ended();
    steps.done("PinnedBuffer::drop", || drop(host));
    steps.done("PitchedBuffer::drop", || drop(rows));
    steps.done("Buffer::drop", || drop((buffer, bytes)));
}

/// The software device has no engine for it, nor have most others.
fn decompress<'scope>(
    steps: &Steps,
    scope: &Scope<'scope, '_>,
    bytes: &Lent<'scope, SliceMut<'_, u8>>,
    count: &Lent<'scope, SliceMut<'_, u32>>,
) -> Option<()> {
    let algorithm = CUmemDecompressAlgorithm::CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY;
    let (from, to, count) = (bytes.slice(..32)?, bytes.slice(32..)?, count.slice(..1)?);
    let one = Decompression::new(algorithm, &from.as_shared(), &to, &count).ok()?;
    steps.may_refuse("Scope::decompress", CUresult::CUDA_ERROR_NOT_SUPPORTED, || {
        // SAFETY: nothing is decompressed.
        match unsafe { scope.decompress(&mut [one]) } {
            Err(MemoryError::Driver(error)) => Err(error),
            _ => Ok(()),
        }
    });
    Some(())
}

fn unified(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let Some(buffer) = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, 2 * LEN)) else { return };
    let (to, bytes) = (buffer.as_raw(), LEN * size_of::<u32>());
    let from = to + bytes as u64;
    // SAFETY: two halves of one buffer that nothing else uses.
    steps.attempt("Current::copy_raw", || unsafe { cx.copy_raw(to, from, bytes) });
    steps.attempt("Current::scope", || {
        // SAFETY: as above; the scope waits for the stream.
        let copy = |scope: &Scope<'_, '_>| unsafe { scope.copy_raw(to, from, bytes) };
        cx.scope(stream, |scope| Ok(steps.attempt("Scope::copy_raw", || copy(scope))))
    });
    steps.session().scope_ended();
    steps.done("Buffer::drop", || drop(buffer));
}

fn nodes(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let signals = steps.attempt("Signals::new", || Signals::<u64>::new(cx, 2));
    let graph = steps.attempt("Graph::new", || Graph::new(cx));
    let (Some(signals), Some(mut graph)) = (signals, graph) else { return };
    let mut operations = Operations::default();
    let shared = graph.lend(Arc::new(signals));
    let built = shared.ok().and_then(|shared| {
        operations.wait(shared, 0, Until::AtLeast(0)).ok()?.write(shared, 1, 0).ok()?;
        let add = || graph.add_operations(cx, &[], &operations);
        let node = steps.attempt("Graph::add_operations", add)?;
        steps.attempt("NodeSetter::operations", || graph.set(cx, node).operations(&operations));
        steps.attempt("Graph::params", || graph.params::<Vec<CUstreamBatchMemOpParams>>(node));
        Some(node)
    });
    let Some(node) = built else { return steps.done("Graph::drop", || drop(graph)) };
    let made = steps.attempt("Graph::instantiate", || graph.instantiate(cx, InstantiateFlags::empty()));
    let Some(mut executable) = made else { return };
    let change = || executable.set(cx, node).operations(&operations);
    steps.attempt("NodeSetter::operations", change);
    steps.attempt("GraphExec::launch", || executable.launch(cx, stream));
    steps.done("GraphExec::drop", || drop(executable));
}

/// Numbers in a graph that is captured.
fn captured(steps: &Steps, cx: &Current<'_, '_>) {
    let signals = steps.attempt("Signals::new", || Signals::<u32>::new(cx, 2));
    let stream = steps.attempt("Stream::new", || Stream::new(cx));
    let (Some(signals), Some(mut stream)) = (signals, stream) else { return };
    let captured = steps.attempt("Current::capture", || {
        cx.capture(&mut stream, CaptureMode::Global, |capture| {
            let shared = capture.lend(Arc::new(signals))?;
            steps.attempt("Capture::wait_value", || capture.wait_value(shared, 0, Until::AtLeast(0)));
            steps.attempt("Capture::write_value", || capture.write_value(shared, 1, 0));
            Ok(())
        })
    });
    steps.done("Graph::drop", || drop(captured));
    steps.done("Stream::drop", || drop(stream));
}

fn tensors(steps: &Steps, cx: &Current<'_, '_>) {
    let Some(buffer) = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, 1024)) else { return };
    let memory = buffer.as_slice();
    let (flat, solid) = (TensorLayout::new(&[32, 32]), TensorLayout::new(&[32, 4, 4, 2]));
    let tiled = steps.attempt("TensorMap::tiled", || TensorMap::tiled(cx, memory, &flat, &[32, 8]));
    if let Some(mut map) = tiled {
        steps.attempt("TensorMap::replace_memory", || map.replace_memory(cx, memory));
        let small = CUtensorMapAllocClass::CU_TENSOR_MAP_ALLOC_CLASS_SMALL;
        // SAFETY: the small class asks for nothing.
        let set = || unsafe { map.set_allocation_class(cx, small) };
        steps.attempt("TensorMap::set_allocation_class", set);
    }
    columns(steps, cx, memory, &solid);
    steps.done("Buffer::drop", || drop(buffer));
}

fn columns(steps: &Steps, cx: &Current<'_, '_>, memory: Slice<'_, u32>, solid: &TensorLayout<'_>) {
    let none: [&[i32]; 2] = [&[0, 0], &[0, 0]];
    steps.attempt("TensorMap::im2col", || TensorMap::im2col(cx, memory, solid, none, 32, 16));
    let mode = CUtensorMapIm2ColWideMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W;
    let wide = || TensorMap::im2col_wide(cx, memory, solid, [0, 0], 32, 16, mode);
    steps.attempt("TensorMap::im2col_wide", wide);
}
