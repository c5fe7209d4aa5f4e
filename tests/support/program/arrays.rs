//! Rows of memory, arrays, and what is lent of them.

use cuprum::memory::{
    Array, ArrayFlags, ArrayShape, ArrayView, HostBlock, HostBlockMut, MemoryError, MipmappedArray, Pitched,
    PitchedBuffer, PitchedMut,
};
use cuprum::{Buffer, Current, Stream};

use super::Steps;

const PLANE: ArrayShape = ArrayShape::TwoD { width: 4, height: 2 };
const LAYERS: ArrayShape = ArrayShape::TwoDLayered { width: 4, height: 2, layers: 2 };
const NONE: ArrayFlags = ArrayFlags::empty();

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    rows(steps, cx);
    let plane = steps.attempt("Array::from_slice", || Array::from_slice(cx, PLANE, NONE, &[1u32; 8]));
    if let Some(plane) = plane {
        copies(steps, cx, &plane);
        for stream in [Stream::new, Stream::non_blocking] {
            if let Some(stream) = steps.attempt("Stream::new", || stream(cx)) {
                lent(steps, cx, &stream, &plane);
                steps.done("Stream::drop", || drop(stream));
            }
        }
        steps.attempt("Array::close", || plane.close());
    }
    if let Some(shared) = steps.attempt("Array::new", || Array::<u32>::new(cx, PLANE, NONE)).map(Array::share)
    {
        let second = shared.clone();
        steps.done("SharedArray::drop", || drop(shared));
        steps.done("SharedArray::drop", || drop(second));
    }
    levels(steps, cx);
}

fn rows(steps: &Steps, cx: &Current<'_, '_>) {
    let mut host = [1u32; 8];
    let from_slice = || PitchedBuffer::from_slice(cx, &host, (4, 2));
    let Some(mut first) = steps.attempt("PitchedBuffer::from_slice", from_slice) else { return };
    if let Some(mut solid) =
        steps.attempt("PitchedBuffer::alloc", || PitchedBuffer::<u8>::alloc(cx, (4, 2, 2)))
    {
        steps.attempt("PitchedBuffer::copy_from_host", || solid.copy_from_host(cx, &[1; 16]));
        steps.attempt("PitchedBuffer::to_vec", || solid.to_vec(cx));
        let upper = |rows: PitchedMut<'_, u8>| -> Result<(), MemoryError> {
            let mut upper = rows.part(.., ..1, ..).ok_or(MemoryError::Overlap)?;
            upper.fill(cx, 2)
        };
        steps.attempt("PitchedMut::fill", || upper(solid.as_pitched_mut()));
        steps.attempt("PitchedBuffer::close", || solid.close());
    }
    if let Some(mut halves) =
        steps.attempt("PitchedBuffer::alloc", || PitchedBuffer::<u16>::alloc(cx, (4, 2)))
    {
        steps.attempt("PitchedMut::fill", || halves.as_pitched_mut().fill(cx, 2));
        steps.done("PitchedBuffer::drop", || drop(halves));
    }
    steps.attempt("PitchedBuffer::copy_to_host", || first.copy_to_host(cx, &mut host));
    steps.attempt("PitchedBuffer::fill", || first.fill(cx, 3));
    steps.attempt("Pitched::copy_to_host", || first.as_pitched().copy_to_host(cx, &mut host));
    let block = |host| HostBlockMut::new(host, (4, 2));
    steps.attempt("Pitched::copy_to", || first.as_pitched().copy_to(cx, block(&mut host)?));
    steps.attempt("Pitched::to_vec", || first.as_pitched().to_vec(cx));
    let mut all = first.as_pitched_mut();
    steps.attempt("PitchedMut::copy_from_host", || all.copy_from_host(cx, &host));
    steps.attempt("PitchedMut::copy_from", || all.copy_from(cx, HostBlock::new(&host, (4, 2))?));
    if let Some(linear) = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, 8)) {
        // Rows without gaps, of which the driver did not choose the distance.
        let unaligned = || Pitched::over(linear.as_slice(), (4, 2));
        steps.attempt("PitchedMut::copy_from", || all.copy_from(cx, unaligned()?));
        steps.done("Buffer::drop", || drop(linear));
    }
    steps.attempt("PitchedMut::set_bytes", || all.set_bytes(cx, 4));
    steps.done("PitchedBuffer::drop", || drop(first));
}

fn copies(steps: &Steps, cx: &Current<'_, '_>, plane: &Array<'_, u32>) {
    let mut host = [2u32; 8];
    steps.attempt("Array::copy_from_host", || plane.copy_from_host(cx, &host));
    steps.attempt("Array::copy_to_host", || plane.copy_to_host(cx, &mut host));
    steps.attempt("Array::to_vec", || plane.to_vec(cx));
    let view = plane.view();
    steps.attempt("ArrayView::descriptor", || view.descriptor(cx));
    // SAFETY: the array is alive, and has memory.
    steps.attempt("ArrayView::from_raw", || unsafe { ArrayView::<u32>::from_raw(cx, view.as_raw()) });
    let all = view.all();
    steps.attempt("ArrayPart::copy_from_host", || all.copy_from_host(cx, &host));
    steps.attempt("ArrayPart::copy_to_host", || all.copy_to_host(cx, &mut host));
    steps.attempt("ArrayPart::copy_to", || all.copy_to(cx, HostBlockMut::new(&mut host, (4, 2))?));
    steps.attempt("ArrayPart::to_vec", || all.to_vec(cx));
    let Some(layers) = steps.attempt("Array::new", || Array::<u32>::new(cx, LAYERS, NONE)) else { return };
    let second = || layers.view().part(.., .., 1..).ok_or(MemoryError::Overlap);
    steps.attempt("ArrayPart::copy_from", || second()?.copy_from(cx, all));
    steps.done("Array::drop", || drop(layers));
}

fn lent(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>, plane: &Array<'_, u32>) {
    let solid = steps.attempt("PitchedBuffer::alloc", || PitchedBuffer::<u32>::alloc(cx, (4, 2, 2)));
    let halves = steps.attempt("PitchedBuffer::alloc", || PitchedBuffer::<u16>::alloc(cx, (4, 2)));
    let bytes = steps.attempt("PitchedBuffer::alloc", || PitchedBuffer::<u8>::alloc(cx, (4, 2)));
    let layers = steps.attempt("Array::new", || Array::<u32>::new(cx, LAYERS, NONE));
    let (Some(mut solid), Some(mut halves), Some(mut bytes), Some(layers)) = (solid, halves, bytes, layers)
    else {
        return;
    };
    let (input, mut output) = ([1u32; 16], [0; 16]);
    steps.attempt("Current::scope", || {
        cx.scope(stream, |scope| {
            let rows = steps.attempt("Scope::lend_pitched", || scope.lend_pitched(solid.as_pitched_mut()));
            let layers = steps.attempt("Scope::lend_array", || scope.lend_array(layers.view().all()));
            let plane = steps.attempt("Scope::lend_array", || scope.lend_array(plane.view().all()));
            let (Some(rows), Some(layers), Some(plane)) = (rows, layers, plane) else { return };
            let block = |extent: (usize, usize, usize)| HostBlock::new(&input, extent);
            steps.attempt("LentPitched::copy_from", || rows.copy_from(block((4, 2, 2))?));
            steps.attempt("LentArray::copy_from", || layers.copy_from(&rows));
            steps.attempt("LentArray::copy_from", || plane.copy_from(block((4, 2, 1))?));
            steps.attempt("LentPitched::copy_to_host", || rows.copy_to_host(&mut output));
            steps.attempt("LentArray::copy_to_host", || layers.copy_to_host(&mut output));
            steps.attempt("LentArray::copy_to_host", || plane.copy_to_host(&mut output[..8]));
            steps.attempt("LentPitched::fill", || rows.fill(1));
            if let Some(halves) =
                steps.attempt("Scope::lend_pitched", || scope.lend_pitched(halves.as_pitched_mut()))
            {
                steps.attempt("LentPitched::fill", || halves.fill(1));
            }
            if let Some(bytes) =
                steps.attempt("Scope::lend_pitched", || scope.lend_pitched(bytes.as_pitched_mut()))
            {
                steps.attempt("LentPitched::copy_from", || bytes.copy_from(HostBlock::new(&[1; 8], (4, 2))?));
                steps.attempt("LentPitched::set_bytes", || bytes.set_bytes(1));
                steps.attempt("LentPitched::copy_to_host", || bytes.copy_to_host(&mut [0; 8]));
            }
        })
    });
    steps.session().scope_ended();
    steps.done("PitchedBuffer::drop", || drop((solid, halves, bytes)));
    steps.done("Array::drop", || drop(layers));
}

fn levels(steps: &Steps, cx: &Current<'_, '_>) {
    let mipmapped = || MipmappedArray::<u32>::new(cx, PLANE, NONE, 2);
    if let Some(mipmapped) = steps.attempt("MipmappedArray::new", mipmapped) {
        if let Some(level) = steps.attempt("MipmappedArray::level", || mipmapped.level(cx, 1)) {
            steps.attempt("ArrayPart::copy_from_host", || level.all().copy_from_host(cx, &[1; 2]));
        }
        steps.attempt("MipmappedArray::close", || mipmapped.close());
    }
    if let Some(shared) = steps.attempt("MipmappedArray::new", mipmapped).map(MipmappedArray::share) {
        let second = shared.clone();
        steps.done("SharedMipmappedArray::drop", || drop(shared));
        steps.done("SharedMipmappedArray::drop", || drop(second));
    }
}
