//! Misuse: forgotten guards, destroyed OpenGL contexts, other contexts, captures, faults. No case
//! touches memory that does not exist, and each is an error or a leak.

use std::mem;

use cuprum::context::{Context, ContextFlags};
use cuprum::graph::CaptureMode;
use cuprum::graphics::{self, RegisteredBuffer};
use cuprum::sys::{CUGLDeviceList, CUgraphicsMapResourceFlags, CUresult, FnId};
use cuprum::{Current, Error, LaunchConfig, Stream};
use cuprum_emulator::opengl::StandIn;
use cuprum_emulator::report::LeakKind;

use crate::child::in_child;
use crate::common::kernels;
use crate::stood_in::{NONE, R8, device, image, registered, with_opengl, words};

fn code<T>(result: Result<T, Error>) -> CUresult {
    result.err().map_or(CUresult::CUDA_SUCCESS, Error::code)
}

#[test]
fn a_guard_that_is_forgotten_leaves_it_mapped() {
    with_opengl(|cx, gl| {
        let name = gl.buffer(&[1; 4]);
        let stream = Stream::default_in(cx);
        let mut buffer = registered(cx, name, NONE).unwrap();
        let forget = |buffer: &mut RegisteredBuffer<'_>, value| {
            let mut mapped = graphics::map(cx, &stream, buffer).unwrap();
            cx.fill_bytes(&mut mapped.views().as_mut_slice::<u8>(cx).unwrap(), value).unwrap();
            mem::forget(mapped);
        };
        forget(&mut buffer, 9);
        assert_eq!(gl.read_buffer(name).unwrap(), [1; 4], "OpenGL was not given it back");
        assert_eq!(
            code(buffer.set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)),
            CUresult::CUDA_ERROR_ALREADY_MAPPED
        );
        // It is unmapped before it is mapped again, by itself or with another one, and before it
        // goes.
        let mut other = registered(cx, gl.buffer(&[2; 4]), NONE).unwrap();
        let mapped = graphics::map(cx, &stream, (&mut other, &mut buffer)).unwrap();
        assert_eq!(gl.read_buffer(name).unwrap(), [9; 4]);
        mapped.unmap(cx).unwrap();
        forget(&mut buffer, 8);
        forget(&mut buffer, 7);
        assert_eq!(gl.read_buffer(name).unwrap(), [8; 4]);
        buffer.close().unwrap();
        assert_eq!(gl.read_buffer(name).unwrap(), [7; 4]);
        graphics::map(cx, &stream, &mut registered(cx, name, NONE).unwrap()).unwrap().unmap(cx).unwrap();
    });
}

/// A process of its own, in which nothing else is registered.
#[test]
fn opengl_that_has_ended_is_an_error() {
    in_child(concat!(module_path!(), "::opengl_that_has_ended_is_an_error"), opengl_goes);
}

fn opengl_goes() {
    let left = || cuprum_emulator::alive().iter().filter(|left| left.kind == LeakKind::Graphics).count();
    with_opengl(|cx, _| {
        let stream = Stream::default_in(cx);
        let inner = StandIn::make_current();
        let (name, texture) = (inner.buffer(&[1; 4]), inner.texture(R8, 1, 1, &[1]));
        let (mut buffer, mut picture) =
            (registered(cx, name, NONE).unwrap(), image(cx, texture, NONE).unwrap());
        let mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
        // The outer one is current again, which has other things under these names, or none.
        drop(inner);
        let lost = CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
        assert_eq!(code(mapped.unmap(cx)), lost);
        assert_eq!(
            (code(graphics::map(cx, &stream, &mut buffer)), code(graphics::map(cx, &stream, &mut picture))),
            (lost, lost)
        );
        // A mapped resource is not unregistered, and stays until the context ends.
        assert_eq!((code(buffer.close()), code(picture.close())), (lost, CUresult::CUDA_SUCCESS));
        assert_eq!(left(), 1);
    });
    assert_eq!(left(), 0);
}

#[test]
fn objects_deleted_in_opengl_are_not_mapped() {
    with_opengl(|cx, gl| {
        let (name, texture) = (gl.buffer(&[1; 4]), gl.texture(R8, 1, 1, &[1]));
        let stream = Stream::default_in(cx);
        let (mut buffer, mut picture) =
            (registered(cx, name, NONE).unwrap(), image(cx, texture, NONE).unwrap());
        let mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
        assert!(gl.delete(name) && gl.delete(texture));
        assert_eq!(code(mapped.unmap(cx)), CUresult::CUDA_ERROR_UNMAP_FAILED);
        assert_eq!(code(graphics::map(cx, &stream, &mut picture)), CUresult::CUDA_ERROR_MAP_FAILED);
    });
}

#[test]
fn resources_and_streams_of_another_context_are_refused() {
    with_opengl(|cx, gl| {
        let stream = Stream::new(cx).unwrap();
        let mut buffer = registered(cx, gl.buffer(&[1; 4]), NONE).unwrap();
        let context = Context::create(device(), ContextFlags::empty()).unwrap();
        {
            let cx = cx.push(&context).unwrap();
            let own = Stream::new(&cx).unwrap();
            assert!(
                graphics::map(&cx, &stream, &mut buffer).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT
            );
            assert!(
                graphics::map(&cx, &own, &mut buffer).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT
            );
            assert!(
                buffer
                    .set_use(&cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)
                    .unwrap_err()
                    .code()
                    == cuprum::Error::WRONG_CONTEXT
            );
        }
        let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
        {
            let cx = cx.push(&context).unwrap();
            let view = mapped.views();
            assert!(view.as_slice::<u8>(&cx).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
            // It is unmapped all the same, in its own context.
            assert!(mapped.unmap(&cx).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
        }
        graphics::map(cx, &stream, &mut buffer).unwrap().unmap(cx).unwrap();
        let mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
        {
            let _cx = cx.push(&context).unwrap();
            drop(mapped);
        }
        graphics::map(cx, &stream, &mut buffer).unwrap().unmap(cx).unwrap();
    });
}

/// A process of its own, because the capture refuses the work of concurrent tests.
#[test]
fn nothing_is_mapped_during_a_capture_of_the_whole_process() {
    let name = concat!(module_path!(), "::nothing_is_mapped_during_a_capture_of_the_whole_process");
    let body = |cx: &mut Current<'_, '_>, gl: &StandIn| {
        let (mut captured, stream) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let mut buffer = registered(cx, gl.buffer(&[1; 4]), NONE).unwrap();
        let mut lent = registered(cx, gl.buffer(&[2; 4]), NONE).unwrap();
        let kept = &*cx;
        let mode = CaptureMode::Global;
        let result = kept.capture(&mut captured, mode, |_| {
            let error = graphics::map(kept, &stream, &mut buffer).unwrap_err();
            assert!(error.is_capture(), "{error}");
            // It may be mapped, as far as is known. It is unregistered once, when neither call is
            // refused.
            let error = graphics::map(kept, &stream, &mut lent).unwrap_err();
            assert!(error.is_capture(), "{error}");
            assert_eq!(code(lent.close()), CUresult::CUDA_SUCCESS);
            Ok(())
        });
        drop(result);
        graphics::map(cx, &stream, &mut buffer).unwrap().unmap(cx).unwrap();
    };
    in_child(name, || with_opengl(body));
}

/// A process of its own: the fault ends the context.
#[test]
fn a_fault_while_it_is_mapped_leaves_opengl_its_own() {
    in_child(concat!(module_path!(), "::a_fault_while_it_is_mapped_leaves_opengl_its_own"), || {
        with_opengl(|cx, gl| {
            let name = gl.buffer(&[1; 4]);
            let stream = Stream::new(cx).unwrap();
            let mut buffer = registered(cx, name, NONE).unwrap();
            let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
            let mut view = mapped.views();
            cx.fill_bytes(&mut view.as_mut_slice::<u8>(cx).unwrap(), 9).unwrap();
            let module = kernels!(cx, "faults");
            let kernel = module.function("null_write").unwrap().bind::<()>().unwrap();
            // SAFETY: it faults, and the test is about the fault; the device stops it.
            unsafe { kernel.launch(cx, &stream, LaunchConfig::new(1, 1), ()) }.unwrap();
            let error = mapped.unmap(cx).unwrap_err();
            assert!(error.is_sticky(), "{error}");
            assert_eq!(gl.read_buffer(name).unwrap(), [1; 4]);
            assert!(buffer.close().unwrap_err().is_sticky());
        });
    });
}

/// An address that a program keeps is invalid afterwards, and a launch with it reports so.
#[test]
fn an_address_that_is_kept_is_freed_memory() {
    in_child(concat!(module_path!(), "::an_address_that_is_kept_is_freed_memory"), || {
        with_opengl(|cx, gl| {
            let stream = Stream::new(cx).unwrap();
            let mut buffer = registered(cx, gl.buffer(&[0; 64]), NONE).unwrap();
            let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
            let kept = mapped.views().as_slice::<u32>(cx).unwrap().as_raw();
            mapped.unmap(cx).unwrap();
            // SAFETY: not valid any more, which is under test; the device stops it.
            let stale = unsafe { cuprum::memory::ForeignBuffer::<u32>::from_raw(cx, kept, 16) };
            let error = stale.unwrap().as_slice().to_vec(cx).unwrap_err();
            assert!(error.to_string().contains("INVALID_VALUE"), "{error}");
        });
    });
}

#[test]
fn a_panic_unmaps() {
    with_opengl(|cx, gl| {
        let name = gl.buffer(&[0; 4]);
        let stream = Stream::new(cx).unwrap();
        let mut buffer = registered(cx, name, NONE).unwrap();
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
            cx.fill(&mut mapped.views().as_mut_slice::<u32>(cx).unwrap(), 5).unwrap();
            panic!("of the test");
        }));
        assert!(unwound.is_err());
        assert_eq!(words(&gl.read_buffer(name).unwrap()), [5]);
        graphics::map(cx, &stream, &mut buffer).unwrap().unmap(cx).unwrap();
    });
}

/// An older driver lacks the flags and the query of devices, and has the rest.
#[test]
fn an_older_driver_names_the_missing_function() {
    in_child(concat!(module_path!(), "::an_older_driver_names_the_missing_function"), || {
        cuprum_emulator::Settings::default().driver_version(6, 0).install().unwrap();
        with_opengl(|cx, gl| {
            let name = gl.buffer(&[0; 4]);
            let stream = Stream::new(cx).unwrap();
            let mut buffer = registered(cx, name, NONE).unwrap();
            let error = buffer
                .set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)
                .unwrap_err();
            assert!(
                error.code() == cuprum::Error::UNRESOLVED
                    && error.call() == FnId::cuGraphicsResourceSetMapFlags_v2
            );
            let error =
                graphics::devices(device().driver(), CUGLDeviceList::CU_GL_DEVICE_LIST_ALL).unwrap_err();
            assert!(error.code() == cuprum::Error::UNRESOLVED, "{error}");
            graphics::map(cx, &stream, &mut buffer).unwrap().unmap(cx).unwrap();
        });
    });
}
