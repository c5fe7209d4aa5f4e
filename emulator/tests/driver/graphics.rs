//! OpenGL's buffers and images by the C functions, with the stand-in: codes, order, contents.

use core::ptr::{null_mut, without_provenance_mut};

use cuprum_emulator::opengl::StandIn;
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const OK: CUresult = CUresult::CUDA_SUCCESS;
const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const NO_OPENGL: CUresult = CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
const NOT_MAPPED: CUresult = CUresult::CUDA_ERROR_NOT_MAPPED;
const ALREADY_MAPPED: CUresult = CUresult::CUDA_ERROR_ALREADY_MAPPED;
const NULL: CUstream = CUstream::null();
const TEXTURE_2D: u32 = 0x0DE1;

fn register(name: u32, flags: u32) -> (CUresult, CUgraphicsResource) {
    let mut resource = CUgraphicsResource::null();
    (code!(cuGraphicsGLRegisterBuffer(&mut resource, name, flags)), resource)
}

fn registered(name: u32) -> CUgraphicsResource {
    let (code, resource) = register(name, 0);
    assert_eq!(code, OK);
    resource
}

fn map(resources: &mut [CUgraphicsResource]) -> CUresult {
    code!(cuGraphicsMapResources(resources.len() as u32, resources.as_mut_ptr(), NULL))
}

fn unmap(resources: &mut [CUgraphicsResource]) -> CUresult {
    code!(cuGraphicsUnmapResources(resources.len() as u32, resources.as_mut_ptr(), NULL))
}

fn pointer(resource: CUgraphicsResource) -> (CUresult, u64, usize) {
    let (mut address, mut bytes) = (0, 0);
    let code = code!(cuGraphicsResourceGetMappedPointer_v2(&mut address, &mut bytes, resource));
    (code, address, bytes)
}

fn array(resource: CUgraphicsResource, index: u32, level: u32) -> (CUresult, CUarray) {
    let mut array = CUarray::null();
    (code!(cuGraphicsSubResourceGetMappedArray(&mut array, resource, index, level)), array)
}

#[test]
fn without_opengl_nothing_is_registered() {
    let _context = TestContext::new();
    assert_eq!(register(1, 0).0, NO_OPENGL);
    let mut resource = CUgraphicsResource::null();
    assert_eq!(code!(cuGraphicsGLRegisterImage(&mut resource, 1, TEXTURE_2D, 0)), NO_OPENGL);
    let (mut count, mut device) = (7, 7);
    let all = CUGLDeviceList::CU_GL_DEVICE_LIST_ALL;
    assert_eq!(code!(cuGLGetDevices_v2(&mut count, &mut device, 1, all)), NO_OPENGL);
    assert_eq!((count, device), (7, 7));
    let gl = StandIn::make_current();
    assert_eq!(code!(cuGLGetDevices_v2(&mut count, &mut device, 1, all)), OK);
    assert_eq!((count, device), (1, 0));
    assert_eq!(code!(cuGLGetDevices_v2(&mut count, null_mut(), 0, all)), INVALID_VALUE);
    assert_eq!(code!(cuGLGetDevices_v2(&mut count, &mut device, 1, CUGLDeviceList(4))), INVALID_VALUE);
    assert_eq!(count, 0);
    assert_eq!(code!(cuGraphicsGLRegisterBuffer(null_mut(), gl.buffer(&[1]), 0)), INVALID_VALUE);
}

/// The codes of an H100 with driver 580.
#[test]
fn what_cannot_be_registered_has_its_code() {
    let _context = TestContext::new();
    assert_eq!(
        (register(1, 4).0, register(0, 0).0),
        (INVALID_VALUE, INVALID_VALUE),
        "before OpenGL is asked"
    );
    let gl = StandIn::make_current();
    let (buffer, texture) = (gl.buffer(&[1]), gl.texture(0x8229, 1, 1, &[1]));
    for flags in [3, 4, 8, 16] {
        assert_eq!(register(buffer, flags).0, INVALID_VALUE, "{flags}");
    }
    assert_eq!((register(12345, 0).0, register(gl.buffer(&[]), 0).0), (INVALID_HANDLE, OUT_OF_MEMORY));
    let mut resource = CUgraphicsResource::null();
    let mut image =
        |name, target, flags| code!(cuGraphicsGLRegisterImage(&mut resource, name, target, flags));
    assert_eq!(
        [image(0, TEXTURE_2D, 0), image(texture, 0, 0), image(texture, TEXTURE_2D, 16)],
        [INVALID_VALUE; 3]
    );
    // One-dimensional textures, faces of a cube, and cubes by index.
    assert_eq!([0x0DE0, 0x8515, 0x9009].map(|target| image(texture, target, 0)), [INVALID_VALUE; 3]);
    assert_eq!(image(12345, TEXTURE_2D, 0), INVALID_HANDLE);
    assert_eq!(image(gl.texture(0x881B, 1, 1, &[]), TEXTURE_2D, 0), INVALID_VALUE, "three halves");
    assert_eq!(image(texture, TEXTURE_2D, 3), OK, "both flags");
    assert_eq!(image(texture, 0x8D41, 0), CUresult::CUDA_ERROR_NOT_SUPPORTED, "a renderbuffer");
}

#[test]
fn each_wrong_order_has_its_code() {
    let _context = TestContext::new();
    let gl = StandIn::make_current();
    let (one, two) = (registered(gl.buffer(&[1; 64])), registered(gl.buffer(&[2; 64])));
    assert_eq!((pointer(one).0, unmap(&mut [one])), (NOT_MAPPED, NOT_MAPPED));
    assert_eq!((map(&mut []), unmap(&mut [])), (INVALID_VALUE, INVALID_VALUE));
    assert_eq!(map(&mut [one, CUgraphicsResource::null()]), INVALID_HANDLE);
    assert_eq!(map(&mut [CUgraphicsResource(without_provenance_mut(0x1234))]), INVALID_HANDLE);
    assert_eq!(map(&mut [one, one]), ALREADY_MAPPED);
    assert_eq!(pointer(one).0, NOT_MAPPED, "all or none");
    assert_eq!(map(&mut [one]), OK);
    assert_eq!(map(&mut [two, one]), ALREADY_MAPPED);
    assert_eq!(pointer(two).0, NOT_MAPPED, "all or none");
    assert_eq!(code!(cuGraphicsResourceSetMapFlags_v2(one, 0)), ALREADY_MAPPED);
    assert_eq!(code!(cuGraphicsResourceSetMapFlags_v2(two, 3)), INVALID_VALUE);
    assert_eq!(array(one, 0, 0).0, CUresult::CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
    assert_eq!(unmap(&mut [one, two]), NOT_MAPPED);
    assert_eq!(pointer(one).0, OK, "still mapped");
    assert_eq!(unmap(&mut [one]), OK);
    ok!(cuGraphicsUnregisterResource(one));
    assert_eq!(code!(cuGraphicsUnregisterResource(one)), INVALID_HANDLE);
    assert_eq!(map(&mut [one]), INVALID_HANDLE);
    ok!(cuGraphicsUnregisterResource(two));
}

#[test]
fn an_address_is_another_each_time_and_freed_between() {
    let _context = TestContext::new();
    let gl = StandIn::make_current();
    let name = gl.buffer(&[1; 64]);
    let mut buffer = [registered(name)];
    assert_eq!(map(&mut buffer), OK);
    let (_, first, bytes) = pointer(buffer[0]);
    assert_eq!(bytes, 64);
    assert_eq!(read::<u8>(first, 64), [1; 64]);
    ok!(cuMemsetD8_v2(first, 7, 32));
    assert_eq!(unmap(&mut buffer), OK);
    assert_eq!(gl.read_buffer(name).unwrap()[30..34], [7, 7, 1, 1]);
    assert_eq!(code!(cuMemsetD8_v2(first, 9, 1)), INVALID_VALUE);
    assert_eq!(map(&mut buffer), OK);
    assert_ne!(pointer(buffer[0]).1, first);
    assert_eq!(code!(cuMemFree_v2(pointer(buffer[0]).1)), INVALID_VALUE, "it is OpenGL's");
    // It cannot be unregistered while it is mapped, and stays mapped.
    ok!(cuMemsetD8_v2(pointer(buffer[0]).1, 9, 64));
    assert_eq!(code!(cuGraphicsUnregisterResource(buffer[0])), ALREADY_MAPPED);
    assert_eq!((unmap(&mut buffer), gl.read_buffer(name).unwrap()[0]), (OK, 9));
    ok!(cuGraphicsUnregisterResource(buffer[0]));
}

#[test]
fn arrays_of_an_image_go_when_it_is_unmapped() {
    let _context = TestContext::new();
    let gl = StandIn::make_current();
    let name = gl.texture(0x8229, 5, 3, &[1, 2, 3]);
    let (mut resource, mut levels) = (CUgraphicsResource::null(), CUmipmappedArray::null());
    ok!(cuGraphicsGLRegisterImage(&mut resource, name, TEXTURE_2D, 4));
    assert_eq!(map(&mut [resource]), OK);
    assert_eq!(pointer(resource).0, CUresult::CUDA_ERROR_NOT_MAPPED_AS_POINTER);
    let (code, whole) = array(resource, 0, 0);
    assert_eq!((code, array(resource, 0, 0).1), (OK, whole), "the same handle each time");
    assert_eq!((array(resource, 1, 0).0, array(resource, 0, 1).0), (INVALID_VALUE, INVALID_VALUE));
    let mut described = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
    ok!(cuArray3DGetDescriptor_v2(&mut described, whole));
    assert_eq!((described.Width, described.Height, described.Depth), (5, 3, 0));
    assert_eq!(described.Flags, CUDA_ARRAY3D_SURFACE_LDST);
    ok!(cuGraphicsResourceGetMappedMipmappedArray(&mut levels, resource));
    assert_eq!(unmap(&mut [resource]), OK);
    assert_eq!(code!(cuArray3DGetDescriptor_v2(&mut described, whole)), INVALID_HANDLE);
    assert_eq!(array(resource, 0, 0).0, NOT_MAPPED);
}

/// Only the end of the context does this without OpenGL on the thread.
#[test]
fn the_end_of_a_context_unregisters() {
    let gl = StandIn::make_current();
    let name = gl.buffer(&[1; 64]);
    let left = {
        let _context = TestContext::new();
        let resource = registered(name);
        assert_eq!(map(&mut [resource]), OK);
        ok!(cuMemsetD8_v2(pointer(resource).1, 9, 64));
        drop(gl);
        assert_eq!((unmap(&mut [resource]), map(&mut [resource])), (NO_OPENGL, NO_OPENGL));
        assert_eq!(code!(cuGraphicsUnregisterResource(resource)), NO_OPENGL);
        resource
    };
    let (_context, _gl) = (TestContext::new(), StandIn::make_current());
    assert_eq!(code!(cuGraphicsUnregisterResource(left)), INVALID_HANDLE);
}
