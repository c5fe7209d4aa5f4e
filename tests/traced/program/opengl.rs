//! Buffers and images of OpenGL, for which the emulator's stand-in stands in.

use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer, RegisteredImage};
use cuprum::sys::{CUGLDeviceList, CUgraphicsMapResourceFlags};
use cuprum::{Current, Stream};
use cuprum_emulator::opengl::StandIn;

use super::Steps;

const NONE: RegisterFlags = RegisterFlags::empty();
/// `GL_R8`.
const FORMAT: u32 = 0x8229;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let gl = StandIn::make_current();
    steps.attempt("graphics::devices", || {
        graphics::devices(cx.context().driver(), CUGLDeviceList::CU_GL_DEVICE_LIST_ALL)
    });
    let Some(stream) = steps.attempt("Stream::new", || Stream::new(cx)) else { return };
    buffer(steps, cx, &gl, &stream);
    image(steps, cx, &gl, &stream);
    both(steps, cx, &gl, &stream);
    steps.done("Stream::drop", || drop(stream));
}

fn buffer(steps: &Steps, cx: &Current<'_, '_>, gl: &StandIn, stream: &Stream<'_>) {
    let name = gl.buffer(&[1; 64]);
    // SAFETY: the stand-in keeps its buffer, and does nothing meanwhile.
    let register = || unsafe { RegisteredBuffer::new(cx, name, NONE) };
    let Some(mut buffer) = steps.attempt("RegisteredBuffer::new", register) else { return };
    steps.attempt("RegisteredBuffer::set_use", || {
        buffer.set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE)
    });
    if let Some(mut mapped) = steps.attempt("graphics::map", || graphics::map(cx, stream, &mut buffer)) {
        let mut view = mapped.views();
        if let Some(slice) = steps.attempt("MappedBuffer::as_slice", || view.as_slice::<u32>(cx)) {
            steps.attempt("Slice::to_vec", || slice.to_vec(cx));
        }
        let slice = steps.attempt("MappedBuffer::as_mut_slice", || view.as_mut_slice::<u32>(cx));
        if let Some(mut slice) = slice {
            steps.attempt("Current::fill", || cx.fill(&mut slice, 7));
        }
        steps.attempt("Mapped::unmap", || mapped.unmap(cx));
    }
    let Some(apart) = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx)) else { return };
    for stream in [stream, &Stream::default_in(cx), &apart] {
        let mapped = steps.attempt("graphics::map", || graphics::map(cx, stream, &mut buffer));
        steps.done("Mapped::drop", || drop(mapped));
    }
    steps.done("Stream::drop", || drop(apart));
    steps.attempt("RegisteredBuffer::close", || buffer.close());
    let buffer = steps.attempt("RegisteredBuffer::new", register);
    steps.done("RegisteredBuffer::drop", || drop(buffer));
}

fn image(steps: &Steps, cx: &Current<'_, '_>, gl: &StandIn, stream: &Stream<'_>) {
    let (name, target) = (gl.texture(FORMAT, 4, 2, &[1; 8]), 0x0DE1);
    // SAFETY: the stand-in keeps its image, and does nothing meanwhile.
    let register = || unsafe { RegisteredImage::new(cx, name, target, RegisterFlags::SURFACE) };
    let Some(mut image) = steps.attempt("RegisteredImage::new", register) else { return };
    steps.attempt("RegisteredImage::set_use", || {
        image.set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)
    });
    if let Some(mut mapped) = steps.attempt("graphics::map", || graphics::map(cx, stream, &mut image)) {
        let view = mapped.views();
        if let Some(array) = steps.attempt("MappedImage::array", || view.array::<u8>(cx, 0, 0)) {
            steps.attempt("ArrayPart::to_vec", || array.all().to_vec(cx));
        }
        if let Some(levels) = steps.attempt("MappedImage::mipmapped", || view.mipmapped::<u8>(cx)) {
            steps.attempt("MipmappedView::level", || levels.level(cx, 0));
        }
        steps.attempt("Mapped::unmap", || mapped.unmap(cx));
    }
    steps.attempt("RegisteredImage::close", || image.close());
    let image = steps.attempt("RegisteredImage::new", register);
    steps.done("RegisteredImage::drop", || drop(image));
}

fn both(steps: &Steps, cx: &Current<'_, '_>, gl: &StandIn, stream: &Stream<'_>) {
    let names = [gl.buffer(&[1; 16]), gl.buffer(&[2; 16])];
    let registered = names.map(|name| {
        // SAFETY: the stand-in keeps its buffers, and does nothing meanwhile.
        steps.attempt("RegisteredBuffer::new", || unsafe { RegisteredBuffer::new(cx, name, NONE) })
    });
    let [Some(mut one), Some(mut other)] = registered else { return };
    {
        let mapped = steps.attempt("graphics::map", || graphics::map(cx, stream, (&mut one, &mut other)));
        if let Some(mapped) = mapped {
            steps.attempt("Mapped::unmap", || mapped.unmap(cx));
        }
    }
    steps.done("RegisteredBuffer::drop", || drop(one));
    steps.done("RegisteredBuffer::drop", || drop(other));
}
