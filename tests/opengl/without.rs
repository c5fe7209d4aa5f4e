//! No context of OpenGL: each call says so, and nothing is made. True of any device.

use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer, RegisteredImage};
use cuprum::sys::{CUGLDeviceList, CUresult, FnId};
use cuprum::{Current, Error, Stream};

use crate::common::{driver, in_context};

const NONE: RegisterFlags = RegisterFlags::empty();

/// Codes that drivers return if no context of OpenGL is current.
fn is_without_opengl(error: Error) -> bool {
    let codes = [
        CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
        // Of NVIDIA's driver where the system has no libGL (H200, driver 580).
        CUresult::CUDA_ERROR_OPERATING_SYSTEM,
        // Of the software device, where it never finds OpenGL.
        CUresult::CUDA_ERROR_NOT_SUPPORTED,
    ];
    codes.contains(&error.code())
}

fn buffer<'ctx>(cx: &Current<'_, 'ctx>) -> Result<RegisteredBuffer<'ctx>, Error> {
    // SAFETY: nothing is registered without OpenGL.
    unsafe { RegisteredBuffer::new(cx, 1, NONE) }
}

#[test]
fn nothing_is_registered_without_opengl() {
    in_context(|cx| {
        let error = buffer(cx).unwrap_err();
        assert!(is_without_opengl(error), "{error}");
        assert_eq!(error.call(), FnId::cuGraphicsGLRegisterBuffer);
        // SAFETY: nothing is registered without OpenGL.
        let error = unsafe { RegisteredImage::new(cx, 1, 0x0DE1, NONE) }.unwrap_err();
        assert!(is_without_opengl(error), "{error}");
        assert_eq!(cx.context().poisoned_by(), None::<Error>, "the context is as it was");
    });
}

#[test]
fn no_device_is_reported_without_opengl() {
    for which in [
        CUGLDeviceList::CU_GL_DEVICE_LIST_ALL,
        CUGLDeviceList::CU_GL_DEVICE_LIST_CURRENT_FRAME,
        CUGLDeviceList::CU_GL_DEVICE_LIST_NEXT_FRAME,
    ] {
        let error = graphics::devices(driver(), which).unwrap_err();
        assert!(is_without_opengl(error), "{which:?}: {error}");
        assert_eq!(error.call(), FnId::cuGLGetDevices_v2);
    }
}

#[test]
fn of_no_resources_nothing_is_mapped() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let mut mapped =
            graphics::map(cx, &stream, [(); 0].map(|()| -> &mut RegisteredBuffer<'_> { unreachable!() }))
                .unwrap();
        assert_eq!(mapped.views().len(), 0);
        mapped.unmap(cx).unwrap();
    });
}
