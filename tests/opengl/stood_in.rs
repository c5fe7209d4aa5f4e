//! Buffers and images of the software device's stand-in for OpenGL.

use cuprum::context::{Context, ContextFlags, ContextStack, PrimaryContext};
use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer, RegisteredImage};
use cuprum::memory::{ArrayFlags, ArrayShape, MemoryError};
use cuprum::sys::{CUGLDeviceList, CUgraphicsMapResourceFlags, CUresult};
use cuprum::texture::{Sampler, Surface, Texture, TextureError};
use cuprum::{Buffer, Current, Device, Driver, Error, Stream};
use cuprum_emulator::opengl::StandIn;

use crate::sampling::{access, fetch};

pub(crate) const NONE: RegisterFlags = RegisterFlags::empty();
pub(crate) const R8: u32 = 0x8229;
pub(crate) const R32UI: u32 = 0x8236;
pub(crate) const R32F: u32 = 0x822E;
pub(crate) const RG16F: u32 = 0x822F;
pub(crate) const RGBA8: u32 = 0x8058;
const DEPTH24: u32 = 0x81A6;

/// The software device, whatever `CUPRUM_DEVICE` names: no other meets the stand-in.
pub(crate) fn device() -> Device {
    Driver::init(cuprum_emulator::library()).unwrap().device(0).unwrap()
}

/// Runs a test in a context of its own, with a stand-in that is current.
pub(crate) fn with_opengl(test: impl FnOnce(&mut Current<'_, '_>, &StandIn)) {
    let context = Context::create(device(), ContextFlags::empty()).unwrap();
    let gl = StandIn::make_current();
    let mut stack = ContextStack::take().unwrap();
    test(&mut stack.push(&context).unwrap(), &gl);
}

pub(crate) fn registered<'ctx>(
    cx: &Current<'_, 'ctx>,
    name: u32,
    flags: RegisterFlags,
) -> Result<RegisteredBuffer<'ctx>, Error> {
    // SAFETY: a stand-in for OpenGL keeps its buffers, and does nothing meanwhile.
    unsafe { RegisteredBuffer::new(cx, name, flags) }
}

pub(crate) fn image<'ctx>(
    cx: &Current<'_, 'ctx>,
    name: u32,
    flags: RegisterFlags,
) -> Result<RegisteredImage<'ctx>, Error> {
    // SAFETY: a stand-in for OpenGL keeps its images, and does nothing meanwhile.
    unsafe { RegisteredImage::new(cx, name, 0x0DE1, flags) }
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[test]
fn a_buffer_is_written_by_each_in_turn() {
    with_opengl(|cx, gl| {
        let name = gl.buffer(&bytes(&[1, 2, 3, 4]));
        let stream = Stream::new(cx).unwrap();
        let mut buffer = registered(cx, name, NONE).unwrap();
        assert_eq!(buffer.context(), cx.context());
        for turn in 0..3 {
            let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
            let mut view = mapped.views();
            let slice = view.as_slice::<u32>(cx).unwrap();
            assert_eq!(slice.to_vec(cx).unwrap(), [1 + turn, 2, 3, 4], "what OpenGL wrote");
            let slice = view.as_mut_slice::<u32>(cx).unwrap();
            cx.copy(&mut slice.into_slice(1..).unwrap(), &[20, 30, 40]).unwrap();
            mapped.unmap(cx).unwrap();
            assert_eq!(words(&gl.read_buffer(name).unwrap()), [1 + turn, 20, 30, 40], "what CUDA wrote");
            assert!(gl.write_buffer(name, &bytes(&[2 + turn, 2, 3, 4])));
        }
        buffer.close().unwrap();
        assert_eq!(words(&gl.read_buffer(name).unwrap()), [4, 2, 3, 4]);
    });
}

#[test]
fn work_of_the_stream_is_done_when_opengl_gets_the_buffer() {
    with_opengl(|cx, gl| {
        let name = gl.buffer(&[0; 4096]);
        let stream = Stream::non_blocking(cx).unwrap();
        let (mut buffer, source) =
            (registered(cx, name, NONE).unwrap(), Buffer::from_slice(cx, &[7u32; 1024]).unwrap());
        cx.synchronize().unwrap();
        let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
        {
            let mut view = mapped.views();
            let target = view.as_mut_slice::<u32>(cx).unwrap();
            cx.scope(&stream, |scope| Ok(scope.copy(&scope.lend(target)?, &scope.lend(source.as_slice())?)?))
                .unwrap();
        }
        drop(mapped);
        assert_eq!(words(&gl.read_buffer(name).unwrap()), [7; 1024]);
    });
}

#[test]
fn elements_are_as_many_as_fit() {
    with_opengl(|cx, gl| {
        let name = gl.buffer(&[1, 0, 0, 0, 2, 0, 0]);
        let stream = Stream::default_in(cx);
        let mut buffer = registered(cx, name, NONE).unwrap();
        let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
        let mut view = mapped.views();
        assert_eq!(view.as_slice::<u32>(cx).unwrap().to_vec(cx).unwrap(), [1]);
        assert_eq!(view.as_slice::<u8>(cx).unwrap().len(), 7);
        assert_eq!(view.as_slice::<u64>(cx).unwrap().len(), 0);
        assert_eq!(view.as_mut_slice::<u16>(cx).unwrap().len(), 3);
        // The byte that belongs to no element stays.
        cx.fill(&mut view.as_mut_slice::<u32>(cx).unwrap(), 0).unwrap();
        mapped.unmap(cx).unwrap();
        assert_eq!(gl.read_buffer(name).unwrap(), [0, 0, 0, 0, 2, 0, 0]);
    });
}

#[test]
fn an_image_is_read_by_textures_and_written_by_surfaces() {
    with_opengl(|cx, gl| {
        let name = gl.texture(R32UI, 3, 2, &bytes(&[1, 2, 3, 4, 5, 6]));
        let stream = Stream::default_in(cx);
        let mut picture = image(cx, name, RegisterFlags::SURFACE).unwrap();
        let mut mapped = graphics::map(cx, &stream, &mut picture).unwrap();
        let view = mapped.views();
        let array = view.array::<u32>(cx, 0, 0).unwrap();
        assert_eq!(array.shape(), ArrayShape::TwoD { width: 3, height: 2 });
        assert_eq!(array.flags(), ArrayFlags::SURFACE);
        assert_eq!(array.all().to_vec(cx).unwrap(), [1, 2, 3, 4, 5, 6]);
        let write = "sust.b.2d.b32.zero [%t, {%c0, %c1}], %c2;";
        access(cx, &Surface::new(cx, array).unwrap(), write, &[vec![8, 1, 60], vec![0, 0, 10]]);
        let texture = Texture::new(cx, array, &Sampler::default()).unwrap();
        let read = "tex.2d.v4.u32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];";
        let texels = fetch(cx, &texture, read, &[vec![0, 0], vec![1, 0], vec![2, 1]]);
        assert_eq!(texels.map_first(), [10, 2, 60]);
        drop(texture);
        mapped.unmap(cx).unwrap();
        assert_eq!(words(&gl.read_texture(name).unwrap()), [10, 2, 3, 4, 5, 60]);
    });
}

/// First results of each row.
trait First {
    fn map_first(&self) -> Vec<u32>;
}

impl First for Vec<[u32; 4]> {
    fn map_first(&self) -> Vec<u32> {
        self.iter().map(|row| row[0]).collect()
    }
}

#[test]
fn all_levels_are_there_as_one() {
    with_opengl(|cx, gl| {
        let name = gl.texture(R32F, 2, 2, &bytes(&[1.5f32, 2.5, 3.5, 4.5].map(f32::to_bits)));
        let stream = Stream::default_in(cx);
        let mut picture = image(cx, name, NONE).unwrap();
        let mut mapped = graphics::map(cx, &stream, &mut picture).unwrap();
        let view = mapped.views();
        let levels = view.mipmapped::<f32>(cx).unwrap();
        assert_eq!(
            (levels.shape(), levels.flags()),
            (ArrayShape::TwoD { width: 2, height: 2 }, ArrayFlags::empty())
        );
        assert_eq!(levels.context(), cx.context());
        assert_eq!(levels.level(cx, 0).unwrap().all().to_vec(cx).unwrap(), [1.5, 2.5, 3.5, 4.5]);
        assert_eq!(levels.level(cx, 1).unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        let texture =
            Texture::new(cx, levels, &Sampler { normalized_coordinates: true, ..Sampler::default() })
                .unwrap();
        texture.close().unwrap();
        let wrong = view.mipmapped::<u32>(cx).unwrap_err();
        assert!(matches!(wrong, MemoryError::Texel { channels: 1, .. }), "{wrong}");
    });
}

#[test]
fn texels_are_compared_with_the_format() {
    with_opengl(|cx, gl| {
        let stream = Stream::default_in(cx);
        let mut picture = image(cx, gl.texture(RGBA8, 1, 1, &[1, 2, 3, 4]), NONE).unwrap();
        let mut mapped = graphics::map(cx, &stream, &mut picture).unwrap();
        let view = mapped.views();
        assert_eq!(view.array::<[u8; 4]>(cx, 0, 0).unwrap().all().to_vec(cx).unwrap(), [[1, 2, 3, 4]]);
        assert!(matches!(view.array::<u8>(cx, 0, 0), Err(MemoryError::Texel { channels: 4, .. })));
        assert!(matches!(view.array::<u32>(cx, 0, 0), Err(MemoryError::Texel { .. })));
        let array = view.array::<[u8; 4]>(cx, 0, 0).unwrap();
        assert_eq!(Surface::new(cx, array).unwrap_err(), TextureError::NoSurfaces);
        for (index, level) in [(1, 0), (0, 1)] {
            let error = view.array::<[u8; 4]>(cx, index, level).unwrap_err();
            assert!(
                matches!(error, MemoryError::Driver(error) if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE)
            );
        }
        drop(mapped);
        let halves = image(cx, gl.texture(RG16F, 4, 4, &[]), NONE).unwrap();
        halves.close().unwrap();
    });
}

#[test]
fn several_are_mapped_at_once() {
    with_opengl(|cx, gl| {
        let (first, second) = (gl.buffer(&[1; 4]), gl.buffer(&[2; 8]));
        let texture = gl.texture(R8, 2, 1, &[3, 4]);
        let stream = Stream::new(cx).unwrap();
        let mut buffers = [first, second].map(|name| registered(cx, name, NONE).unwrap());
        let mut picture = image(cx, texture, NONE).unwrap();
        let mut mapped = graphics::map(cx, &stream, (buffers.each_mut(), &mut picture)).unwrap();
        let ([mut one, mut two], picture) = mapped.views();
        let texels = picture.array::<u8>(cx, 0, 0).unwrap().all().to_vec(cx).unwrap();
        cx.copy(&mut one.as_mut_slice::<u8>(cx).unwrap(), &[texels[0]; 4]).unwrap();
        let mut both = two.as_mut_slice::<u8>(cx).unwrap();
        cx.copy(&mut both, &[texels[1]; 8]).unwrap();
        mapped.unmap(cx).unwrap();
        assert_eq!(
            (gl.read_buffer(first).unwrap(), gl.read_buffer(second).unwrap()),
            (vec![3; 4], vec![4; 8])
        );
    });
}

#[test]
fn uses_say_what_is_copied() {
    with_opengl(|cx, gl| {
        let stream = Stream::default_in(cx);
        let turn = |buffer: &mut RegisteredBuffer<'_>| {
            let mut mapped = graphics::map(cx, &stream, buffer).unwrap();
            let mut view = mapped.views();
            let seen = view.as_slice::<u8>(cx).unwrap().to_vec(cx).unwrap();
            cx.fill_bytes(&mut view.as_mut_slice::<u8>(cx).unwrap(), 9).unwrap();
            mapped.unmap(cx).unwrap();
            seen
        };
        let name = gl.buffer(&[5; 4]);
        let mut buffer = registered(cx, name, RegisterFlags::READ_ONLY).unwrap();
        assert_eq!(
            (turn(&mut buffer), gl.read_buffer(name).unwrap()),
            (vec![5; 4], vec![5; 4]),
            "written in vain"
        );
        buffer.set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE).unwrap();
        assert_eq!((turn(&mut buffer), gl.read_buffer(name).unwrap()), (vec![5; 4], vec![9; 4]));
        gl.write_buffer(name, &[6; 4]);
        buffer.set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD).unwrap();
        assert_ne!(turn(&mut buffer), [6; 4], "what it held is lost");
        assert_eq!(gl.read_buffer(name).unwrap(), [9; 4]);
        buffer.set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY).unwrap();
        assert_eq!(turn(&mut buffer), [9; 4]);
    });
}

#[test]
fn the_devices_are_told() {
    let _gl = StandIn::make_current();
    let driver = device().driver();
    assert_eq!(graphics::devices(driver, CUGLDeviceList::CU_GL_DEVICE_LIST_ALL).unwrap(), [device()]);
    assert_eq!(
        graphics::devices(driver, CUGLDeviceList::CU_GL_DEVICE_LIST_CURRENT_FRAME).unwrap(),
        [device()]
    );
}

#[test]
fn objects_that_cannot_be_registered_are_refused() {
    with_opengl(|cx, gl| {
        let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
        let buffer = |name, flags| registered(cx, name, flags).map(drop).unwrap_err().code();
        let name = gl.buffer(&[1]);
        assert_eq!(buffer(name + 1, NONE), CUresult::CUDA_ERROR_INVALID_HANDLE, "no such buffer");
        assert_eq!(buffer(gl.buffer(&[]), NONE), CUresult::CUDA_ERROR_OUT_OF_MEMORY, "without storage");
        assert_eq!(buffer(name, RegisterFlags::SURFACE), invalid, "a flag of images");
        assert_eq!(buffer(name, RegisterFlags::READ_ONLY | RegisterFlags::WRITE_DISCARD), invalid);
        let picture = |name| image(cx, name, NONE).map(drop).unwrap_err().code();
        assert_eq!(picture(name), CUresult::CUDA_ERROR_INVALID_HANDLE, "a buffer is no image");
        assert_eq!(picture(gl.texture(DEPTH24, 1, 1, &[1, 2, 3])), invalid, "of depth");
        let texture = gl.texture(R8, 1, 1, &[1]);
        // SAFETY: as in `image`.
        let cube = unsafe { RegisteredImage::new(cx, texture, 0x8513, NONE) };
        assert_eq!(cube.unwrap_err().code(), invalid, "another target, which the software device refuses");
    });
}

/// In a struct, with a context that it shares, on its thread.
#[test]
fn a_struct_keeps_them_with_their_context() {
    struct Renderer {
        vertices: RegisteredBuffer<'static>,
        stream: Stream<'static>,
        context: cuprum::Shared<cuprum::ContextRef>,
    }

    let gl = StandIn::make_current();
    let name = gl.buffer(&[0; 16]);
    let context = PrimaryContext::retain(device()).unwrap().share();
    let mut renderer = context
        .enter(|cx| {
            Ok(Renderer {
                vertices: registered(cx, name, NONE).unwrap(),
                stream: Stream::new(cx).unwrap(),
                context: context.clone(),
            })
        })
        .unwrap();
    drop(context);
    let Renderer { vertices, stream, context } = &mut renderer;
    context
        .enter(|cx| {
            let mut mapped = graphics::map(cx, stream, vertices).unwrap();
            cx.fill(&mut mapped.views().as_mut_slice::<u32>(cx).unwrap(), 3).unwrap();
            mapped.unmap(cx).unwrap();
            Ok(())
        })
        .unwrap();
    assert_eq!(words(&gl.read_buffer(name).unwrap()), [3; 4]);
}
