//! Textures and surfaces.

use cuprum::memory::{Array, ArrayFlags, ArrayShape, MipmappedArray, PitchedBuffer};
use cuprum::texture::{ResourceView, Sampler, Surface, Texture};
use cuprum::{Buffer, Current, Stream};

use super::Steps;

const PLANE: ArrayShape = ArrayShape::TwoD { width: 4, height: 2 };

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let array = steps.attempt("Array::new", || Array::<u32>::new(cx, PLANE, ArrayFlags::SURFACE));
    if let Some(array) = array {
        of_array(steps, cx, &array);
        let shared = array.share();
        let texture = steps.attempt("Texture::new", || Texture::new(cx, &shared, &Sampler::default()));
        let surface = steps.attempt("Surface::new", || Surface::new(cx, &shared));
        steps.done("Shared<Array>::drop", || drop(shared));
        steps.done("Surface::drop", || drop(surface));
        steps.done("Texture::drop", || drop(texture));
    }
    let mipmapped = || MipmappedArray::<u32>::new(cx, PLANE, ArrayFlags::empty(), 2);
    if let Some(mipmapped) = steps.attempt("MipmappedArray::new", mipmapped) {
        let sampler = Sampler { normalized_coordinates: true, ..Sampler::default() };
        let texture = steps.attempt("Texture::new", || Texture::new(cx, &mipmapped, &sampler));
        steps.done("Texture::drop", || drop(texture));
        steps.done("MipmappedArray::drop", || drop(mipmapped));
    }
    if let Some(linear) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, 4)) {
        let texture = steps.attempt("Texture::new", || Texture::new(cx, &linear, &Sampler::default()));
        steps.done("Texture::drop", || drop(texture));
        steps.done("Buffer::drop", || drop(linear));
    }
    if let Some(rows) = steps.attempt("PitchedBuffer::alloc", || PitchedBuffer::<u32>::alloc(cx, (4, 2))) {
        let texture = steps.attempt("Texture::new", || Texture::new(cx, &rows, &Sampler::default()));
        steps.done("Texture::drop", || drop(texture));
        steps.done("PitchedBuffer::drop", || drop(rows));
    }
}

fn of_array(steps: &Steps, cx: &Current<'_, '_>, array: &Array<'_, u32>) {
    let view = ResourceView::of::<i32>();
    let viewed = || Texture::with_view(cx, array, &Sampler::default(), &view);
    let Some(texture) = steps.attempt("Texture::with_view", viewed) else { return };
    if let Some(surface) = steps.attempt("Surface::new", || Surface::new(cx, array)) {
        for stream in [Stream::new, Stream::non_blocking] {
            let Some(stream) = steps.attempt("Stream::new", || stream(cx)) else { continue };
            steps.attempt("Current::scope", || {
                cx.scope(&stream, |scope| {
                    steps.attempt("Scope::lend", || scope.lend(&texture));
                    steps.attempt("Scope::lend", || scope.lend(&surface));
                    Ok(())
                })
            });
            steps.done("Stream::drop", || drop(stream));
        }
        steps.attempt("Surface::close", || surface.close());
    }
    steps.attempt("Texture::close", || texture.close());
}
