//! Pitched memory, arrays, and loans of both.

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
        steps.done("Shared<Array>::drop", || drop(shared));
        steps.done("Shared<Array>::drop", || drop(second));
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
        steps.attempt("Current::copy", || cx.copy(&mut solid, &[1; 16]));
        steps.attempt("PitchedBuffer::to_vec", || solid.to_vec(cx));
        let upper = |rows: PitchedMut<'_, u8>| -> Result<(), MemoryError> {
            let mut upper = rows.part(.., ..1, ..).ok_or(MemoryError::Overlap)?;
            cx.fill(&mut upper, 2)
        };
        steps.attempt("Current::fill", || upper(solid.as_pitched_mut()));
        steps.attempt("PitchedBuffer::close", || solid.close());
    }
    if let Some(mut halves) =
        steps.attempt("PitchedBuffer::alloc", || PitchedBuffer::<u16>::alloc(cx, (4, 2)))
    {
        steps.attempt("Current::fill", || cx.fill(&mut halves, 2));
        steps.done("PitchedBuffer::drop", || drop(halves));
    }
    steps.attempt("Current::copy", || cx.copy(&mut host, &first));
    steps.attempt("Current::fill", || cx.fill(&mut first, 3));
    steps.attempt("Current::copy", || cx.copy(&mut host, &first.as_pitched()));
    let block = |host| HostBlockMut::new(host, (4, 2));
    steps.attempt("Current::copy", || cx.copy(&mut block(&mut host)?, &first.as_pitched()));
    steps.attempt("Pitched::to_vec", || first.as_pitched().to_vec(cx));
    let mut all = first.as_pitched_mut();
    steps.attempt("Current::copy", || cx.copy(&mut all, &host));
    steps.attempt("Current::copy", || cx.copy(&mut all, &HostBlock::new(&host, (4, 2))?));
    if let Some(linear) = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, 8)) {
        // Rows without gaps, of which the driver did not choose the distance.
        let unaligned = || Pitched::over(linear.as_slice(), (4, 2));
        steps.attempt("Current::copy", || cx.copy(&mut all, &unaligned()?));
        steps.done("Buffer::drop", || drop(linear));
    }
    steps.attempt("Current::fill_bytes", || cx.fill_bytes(&mut all, 4));
    steps.done("PitchedBuffer::drop", || drop(first));
}

fn copies(steps: &Steps, cx: &Current<'_, '_>, plane: &Array<'_, u32>) {
    let mut host = [2u32; 8];
    steps.attempt("Current::copy", || cx.copy(&mut plane.view(), &host));
    steps.attempt("Current::copy", || cx.copy(&mut host, plane));
    steps.attempt("Array::to_vec", || plane.to_vec(cx));
    let view = plane.view();
    steps.attempt("ArrayView::descriptor", || view.descriptor(cx));
    // SAFETY: the array is alive, and has memory.
    steps.attempt("ArrayView::from_raw", || unsafe { ArrayView::<u32>::from_raw(cx, view.as_raw()) });
    let mut all = view.all();
    steps.attempt("Current::copy", || cx.copy(&mut all, &host));
    steps.attempt("Current::copy", || cx.copy(&mut host, &all));
    steps.attempt("Current::copy", || cx.copy(&mut HostBlockMut::new(&mut host, (4, 2))?, &all));
    steps.attempt("ArrayPart::to_vec", || all.to_vec(cx));
    let Some(layers) = steps.attempt("Array::new", || Array::<u32>::new(cx, LAYERS, NONE)) else { return };
    let second = || layers.view().part(.., .., 1..).ok_or(MemoryError::Overlap);
    steps.attempt("Current::copy", || cx.copy(&mut second()?, &all));
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
            let rows = steps.attempt("Scope::lend", || scope.lend(solid.as_pitched_mut()));
            let layers = steps.attempt("Scope::lend", || scope.lend(layers.view().all()));
            let plane = steps.attempt("Scope::lend", || scope.lend(plane.view().all()));
            let (Some(rows), Some(layers), Some(plane)) = (rows, layers, plane) else { return Ok(()) };
            let block = |extent: (usize, usize, usize)| HostBlock::new(&input, extent);
            steps.attempt("Scope::copy", || scope.copy(&rows, &block((4, 2, 2))?));
            steps.attempt("Scope::copy", || scope.copy(&layers, &rows));
            steps.attempt("Scope::copy", || scope.copy(&plane, &block((4, 2, 1))?));
            steps.attempt("Scope::read", || scope.read(&mut output, &rows));
            steps.attempt("Scope::read", || scope.read(&mut output, &layers));
            steps.attempt("Scope::read", || scope.read(&mut output[..8], &plane));
            steps.attempt("Scope::fill", || scope.fill(&rows, 1));
            if let Some(halves) = steps.attempt("Scope::lend", || scope.lend(halves.as_pitched_mut())) {
                steps.attempt("Scope::fill", || scope.fill(&halves, 1));
            }
            if let Some(bytes) = steps.attempt("Scope::lend", || scope.lend(bytes.as_pitched_mut())) {
                steps.attempt("Scope::copy", || scope.copy(&bytes, &HostBlock::new(&[1; 8], (4, 2))?));
                steps.attempt("Scope::fill_bytes", || scope.fill_bytes(&bytes, 1));
                steps.attempt("Scope::read", || scope.read(&mut [0; 8], &bytes));
            }
            Ok(())
        })
    });
    steps.session().scope_ended();
    steps.done("PitchedBuffer::drop", || drop((solid, halves, bytes)));
    steps.done("Array::drop", || drop(layers));
}

fn levels(steps: &Steps, cx: &Current<'_, '_>) {
    let mipmapped = || MipmappedArray::<u32>::new(cx, PLANE, NONE, 2);
    if let Some(mipmapped) = steps.attempt("MipmappedArray::new", mipmapped) {
        if let Some(level) = steps.attempt("MipmappedView::level", || mipmapped.view().level(cx, 1)) {
            steps.attempt("Current::copy", || cx.copy(&mut level.all(), &[1; 2]));
        }
        steps.attempt("MipmappedArray::close", || mipmapped.close());
    }
    if let Some(shared) = steps.attempt("MipmappedArray::new", mipmapped).map(MipmappedArray::share) {
        let second = shared.clone();
        steps.done("Shared<MipmappedArray>::drop", || drop(shared));
        steps.done("Shared<MipmappedArray>::drop", || drop(second));
    }
}
