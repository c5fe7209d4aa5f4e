//! OpenGL that EGL finds: Mesa's, in software, or a GPU's.
//!
//! Each test is a process of its own, for the libraries are found by variables of its environment.
//! On a GPU (`CUPRUM_DEVICE=gpu`) the machine's own are taken.

use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer, RegisteredImage};
use cuprum::memory::{ArrayShape, MemoryError, Texel};
use cuprum::sys::{CUGLDeviceList, CUgraphicsMapResourceFlags, CUresult};
use cuprum::texture::{Sampler, Surface, Texture};
use cuprum::{Current, In, InOut, LaunchConfig, Stream};

use crate::child::in_children;
use crate::common::{driver, in_context, kernels, on_gpu};
use crate::egl::{
    ARRAY_BUFFER, Gl, TEXTURE_2D, TEXTURE_2D_ARRAY, TEXTURE_3D, TEXTURE_CUBE_MAP, TEXTURE_RECTANGLE,
};
use crate::mesa;
use crate::sampling::{access, fetch};
use crate::stood_in::{NONE, R8, R32F, R32UI, RGBA8, words};

const RED: u32 = 0x1903;
const RED_INTEGER: u32 = 0x8D94;
const UNSIGNED_BYTE: u32 = 0x1401;
const UNSIGNED_INT: u32 = 0x1405;

/// Runs a test in a child that finds OpenGL, with a context of it that is current.
fn with_opengl(name: &str, test: impl FnOnce(&mut Current<'_, '_>, Gl)) {
    with_opengl_alone(name, |gl| in_context(|cx| test(cx, gl)));
}

fn with_opengl_alone(name: &str, test: impl FnOnce(Gl)) {
    let its_own = on_gpu() || std::env::var_os("CUPRUM_OPENGL").is_some_and(|which| which == "system");
    let fetched = if its_own { Vec::new() } else { mesa::environment().to_vec() };
    let environment: Vec<_> = fetched.iter().map(|(name, value)| (*name, value.as_str())).collect();
    in_children(name, &[&environment], || test(Gl::current(on_gpu()).expect("OpenGL by EGL")));
}

macro_rules! here {
    ($test:literal) => {
        concat!(module_path!(), "::", $test)
    };
}

fn registered<'ctx>(cx: &Current<'_, 'ctx>, name: u32) -> RegisteredBuffer<'ctx> {
    // SAFETY: the tests keep the buffer, and have OpenGL use it only while it is not mapped, on
    // this thread.
    unsafe { RegisteredBuffer::new(cx, name, NONE) }.unwrap()
}

fn image<'ctx>(
    cx: &Current<'_, 'ctx>,
    name: u32,
    target: u32,
    flags: RegisterFlags,
) -> Result<RegisteredImage<'ctx>, cuprum::Error> {
    // SAFETY: the tests keep the image, and have OpenGL use it only while it is not mapped, on this
    // thread.
    unsafe { RegisteredImage::new(cx, name, target, flags) }
}

#[test]
#[ignore = "fetches OpenGL"]
fn a_kernel_computes_on_buffers_of_opengl() {
    with_opengl(here!("a_kernel_computes_on_buffers_of_opengl"), |cx, gl| {
        let count = 1000;
        let bytes = |factor: f32| -> Vec<u8> {
            (0..count).flat_map(|at| (at as f32 * factor).to_ne_bytes()).collect()
        };
        let names = [gl.buffer(&bytes(1.0)), gl.buffer(&bytes(2.0)), gl.buffer(&bytes(0.0))];
        let module = kernels!(cx, "vector_add");
        let kernel = module.function("vector_add").unwrap();
        let kernel = kernel.bind::<(In<f32>, In<f32>, InOut<f32>, u32)>().unwrap();
        let stream = Stream::new(cx).unwrap();
        let [mut a, mut b, mut c] = names.map(|name| registered(cx, name));
        for turn in 1..=3 {
            let mut mapped = graphics::map(cx, &stream, (&mut a, &mut b, &mut c)).unwrap();
            let (a, b, mut c) = mapped.views();
            let config = LaunchConfig::for_elements(count, 128);
            let arguments = (
                a.as_slice::<f32>(cx).unwrap(),
                b.as_slice::<f32>(cx).unwrap(),
                c.as_mut_slice::<f32>(cx).unwrap(),
                count as u32,
            );
            // SAFETY: each has so many elements, and stays mapped until this stream has run the
            // kernel.
            unsafe { kernel.launch(cx, &stream, config, arguments) }.unwrap();
            mapped.unmap(cx).unwrap();
            let sums = gl.read_buffer(names[2], count * 4);
            let sums: Vec<_> = words(&sums).into_iter().map(f32::from_bits).collect();
            let wanted: Vec<_> = (0..count).map(|at| at as f32 * 3.0 + (turn - 1) as f32).collect();
            assert_eq!(sums, wanted, "turn {turn}");
            // OpenGL writes one of them meanwhile.
            let more: Vec<u8> = (0..count).flat_map(|at| (at as f32 + turn as f32).to_ne_bytes()).collect();
            // SAFETY: the name is of a buffer.
            unsafe { (gl.gl.glBindBuffer)(ARRAY_BUFFER, names[0]) };
            // SAFETY: so many bytes are there.
            unsafe { (gl.gl.glBufferSubData)(ARRAY_BUFFER, 0, more.len() as isize, more.as_ptr().cast()) };
        }
        assert_eq!(gl.error(), 0);
    });
}

#[test]
#[ignore = "fetches OpenGL"]
fn a_kernel_writes_a_texture_of_opengl_through_a_surface() {
    with_opengl(here!("a_kernel_writes_a_texture_of_opengl_through_a_surface"), |cx, gl| {
        let name = gl.texture(TEXTURE_2D, R32UI, 1, [4, 3, 1]);
        let texels: Vec<u32> = (100..112).collect();
        let (at, data) = (TEXTURE_2D, texels.as_ptr().cast());
        // SAFETY: so many texels are there.
        unsafe { (gl.gl.glTexSubImage2D)(at, 0, 0, 0, 4, 3, RED_INTEGER, UNSIGNED_INT, data) };
        let stream = Stream::default_in(cx);
        let mut picture = image(cx, name, TEXTURE_2D, RegisterFlags::SURFACE).unwrap();
        let mut mapped = graphics::map(cx, &stream, &mut picture).unwrap();
        let view = mapped.views();
        let array = view.array::<u32>(cx, 0, 0).unwrap();
        assert_eq!(array.shape(), ArrayShape::TwoD { width: 4, height: 3 });
        assert_eq!(array.all().to_vec(cx).unwrap(), texels);
        let texture = Texture::new(cx, array, &Sampler::default()).unwrap();
        let read = "tex.2d.v4.u32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];";
        assert_eq!(fetch(cx, &texture, read, &[vec![3, 2]])[0][0], 111);
        drop(texture);
        let surface = Surface::new(cx, array).unwrap();
        let write = "sust.b.2d.b32.zero [%t, {%c0, %c1}], %c2;";
        access(cx, &surface, write, &[vec![0, 0, 7], vec![12, 2, 9]]);
        drop(surface);
        mapped.unmap(cx).unwrap();
        let mut read = [0u32; 12];
        // SAFETY: there is room for so many texels.
        unsafe { (gl.gl.glGetTexImage)(TEXTURE_2D, 0, RED_INTEGER, UNSIGNED_INT, read.as_mut_ptr().cast()) };
        assert_eq!((read[0], read[1], read[10], read[11]), (7, 101, 110, 9));
        assert_eq!(gl.error(), 0);
    });
}

/// Formats that CUDA shares: texels come back unchanged.
#[test]
#[ignore = "fetches OpenGL"]
fn texels_of_each_format_keep_their_bits() {
    with_opengl(here!("texels_of_each_format_keep_their_bits"), |cx, gl| {
        round_trip::<u8>(cx, &gl, R8, 1);
        round_trip::<[u8; 2]>(cx, &gl, 0x822B, 2);
        round_trip::<[u8; 4]>(cx, &gl, RGBA8, 4);
        round_trip::<u16>(cx, &gl, 0x822A, 2);
        round_trip::<[u16; 2]>(cx, &gl, 0x822C, 4);
        round_trip::<[u16; 4]>(cx, &gl, 0x805B, 8);
        round_trip::<[cuprum::memory::Half; 2]>(cx, &gl, 0x822F, 4);
        round_trip::<[cuprum::memory::Half; 4]>(cx, &gl, 0x881A, 8);
        round_trip::<f32>(cx, &gl, R32F, 4);
        round_trip::<[f32; 2]>(cx, &gl, 0x8230, 8);
        round_trip::<[f32; 4]>(cx, &gl, 0x8814, 16);
        round_trip::<i8>(cx, &gl, 0x8231, 1);
        round_trip::<[i8; 4]>(cx, &gl, 0x8D8E, 4);
        round_trip::<[u8; 4]>(cx, &gl, 0x8D7C, 4);
        round_trip::<[i16; 4]>(cx, &gl, 0x8D88, 8);
        round_trip::<[u16; 4]>(cx, &gl, 0x8D76, 8);
        round_trip::<[i32; 4]>(cx, &gl, 0x8D82, 16);
        round_trip::<[u32; 4]>(cx, &gl, 0x8D70, 16);
        round_trip::<[u8; 4]>(cx, &gl, 0x8C43, 4);
        for (refused, why) in
            [(0x881B, "GL_RGB16F"), (0x81A6, "GL_DEPTH_COMPONENT24"), (0x8059, "GL_RGB10_A2")]
        {
            let name = gl.texture(TEXTURE_2D, refused, 1, [4, 4, 1]);
            // An H100 registers at least one of them.
            let code = image(cx, name, TEXTURE_2D, NONE).err().map(cuprum::Error::code);
            assert!(on_gpu() || code == Some(CUresult::CUDA_ERROR_INVALID_VALUE), "{why}: {code:?}");
        }
        assert_eq!(gl.error(), 0);
    });
}

/// Writes a picture of five by three, maps it again, and compares.
fn round_trip<T: Texel + PartialEq + std::fmt::Debug>(
    cx: &Current<'_, '_>,
    gl: &Gl,
    format: u32,
    bytes: usize,
) {
    assert_eq!(size_of::<T>(), bytes);
    let name = gl.texture(TEXTURE_2D, format, 1, [5, 3, 1]);
    let stream = Stream::default_in(cx);
    let mut picture = image(cx, name, TEXTURE_2D, NONE).unwrap();
    // Halves and floats of small numbers, which are no NaNs, and any integers.
    let seed: Vec<u8> = (0..15 * bytes).map(|at| (at * 7 % 60) as u8).collect();
    let source = cuprum::Buffer::from_slice(cx, &seed).unwrap();
    let linear = source.as_slice().to_vec(cx).unwrap();
    // SAFETY: any bytes are texels, and so many are there.
    let texels: Vec<T> =
        linear.chunks_exact(bytes).map(|one| unsafe { one.as_ptr().cast::<T>().read_unaligned() }).collect();
    let mut mapped = graphics::map(cx, &stream, &mut picture).unwrap();
    cx.copy(&mut mapped.views().array::<T>(cx, 0, 0).unwrap().all(), &texels).unwrap();
    mapped.unmap(cx).unwrap();
    let mut mapped = graphics::map(cx, &stream, &mut picture).unwrap();
    let back = mapped.views().array::<T>(cx, 0, 0).unwrap().all().to_vec(cx).unwrap();
    assert_eq!(back, texels, "format {format:#x}");
}

#[test]
#[ignore = "fetches OpenGL"]
fn levels_layers_faces_and_slices_are_apart() {
    with_opengl(here!("levels_layers_faces_and_slices_are_apart"), |cx, gl| {
        let stream = Stream::default_in(cx);
        let shapes = [
            (TEXTURE_2D, [8, 4, 1], 3, 1),
            (TEXTURE_2D_ARRAY, [8, 4, 3], 2, 3),
            (TEXTURE_CUBE_MAP, [8, 8, 1], 2, 6),
        ];
        for (target, sides, levels, layers) in shapes {
            let name = gl.texture(target, R8, levels, sides);
            let mut picture = image(cx, name, target, NONE).unwrap();
            let mut mapped = graphics::map(cx, &stream, &mut picture).unwrap();
            let view = mapped.views();
            for (level, layer) in
                (0..levels as u32).flat_map(|level| (0..layers).map(move |layer| (level, layer)))
            {
                let array = view.array::<u8>(cx, layer, level).unwrap();
                let (width, height) = (sides[0] as usize >> level, sides[1] as usize >> level);
                assert_eq!(array.shape(), ArrayShape::TwoD { width, height }, "{target:#x}, level {level}");
                let texels = vec![(10 * level + layer + 1) as u8; width * height];
                cx.copy(&mut array.all(), &texels).unwrap();
            }
            assert!(view.array::<u8>(cx, layers, 0).is_err());
            // An H100 maps all levels that the sides have room for, those too that OpenGL has not
            // made.
            assert!(on_gpu() || view.array::<u8>(cx, 0, levels as u32).is_err());
            let all = view.mipmapped::<u8>(cx).unwrap();
            let largest = all.level(cx, 0).unwrap();
            assert_eq!(largest.shape().extent().depth, layers as usize);
            if target == TEXTURE_CUBE_MAP {
                let error = largest.all().to_vec(cx).unwrap_err();
                assert!(
                    matches!(error, MemoryError::Driver(error) if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE)
                );
                assert_eq!(largest.part(.., .., 0..1).unwrap().to_vec(cx).unwrap(), [1; 64]);
            } else {
                let every: Vec<u8> = (1..=layers as u8).flat_map(|layer| [layer; 32]).collect();
                assert_eq!(largest.all().to_vec(cx).unwrap(), every);
            }
            mapped.unmap(cx).unwrap();
            for (level, layer) in (0..levels).flat_map(|level| (0..layers).map(move |layer| (level, layer))) {
                let texels = read_layer(&gl, target, level, layer, sides);
                assert!(
                    texels.iter().all(|&texel| texel == (10 * level as u32 + layer + 1) as u8),
                    "{target:#x}"
                );
            }
        }
        assert_eq!(gl.error(), 0);
    });
}

#[test]
#[ignore = "fetches OpenGL"]
fn solids_and_rectangles_are_one_array() {
    with_opengl(here!("solids_and_rectangles_are_one_array"), |cx, gl| {
        let stream = Stream::default_in(cx);
        let name = gl.texture(TEXTURE_3D, R8, 1, [4, 3, 2]);
        let mut solid = image(cx, name, TEXTURE_3D, NONE).unwrap();
        let mut mapped = graphics::map(cx, &stream, &mut solid).unwrap();
        let view = mapped.views();
        let array = view.array::<u8>(cx, 0, 0).unwrap();
        assert_eq!(array.shape(), ArrayShape::ThreeD { width: 4, height: 3, depth: 2 });
        let texels: Vec<u8> = (1..25).collect();
        cx.copy(&mut array.all(), &texels).unwrap();
        mapped.unmap(cx).unwrap();
        let mut read = [0u8; 24];
        // SAFETY: there is room for so many texels, of rows of four.
        unsafe { (gl.gl.glGetTexImage)(TEXTURE_3D, 0, RED, UNSIGNED_BYTE, read.as_mut_ptr().cast()) };
        assert_eq!(read, texels[..]);
        let name = gl.texture(TEXTURE_RECTANGLE, RGBA8, 1, [2, 2, 1]);
        let mut flat = image(cx, name, TEXTURE_RECTANGLE, NONE).unwrap();
        graphics::map(cx, &stream, &mut flat).unwrap().unmap(cx).unwrap();
        if !on_gpu() {
            // Another target: NVIDIA's driver does not compare.
            let error = image(cx, name, TEXTURE_2D, NONE).unwrap_err();
            assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        assert_eq!(gl.error(), 0);
    });
}

/// The texels of a layer or face, which OpenGL returns with rows of a multiple of four bytes.
fn read_layer(gl: &Gl, target: u32, level: i32, layer: u32, sides: [i32; 3]) -> Vec<u8> {
    const PACK_ALIGNMENT: u32 = 0x0D05;
    let face = if target == TEXTURE_CUBE_MAP { 0x8515 + layer } else { target };
    let one = ((sides[0] >> level) * (sides[1] >> level)) as usize;
    let mut all = vec![0u8; one * sides[2] as usize];
    // SAFETY: takes numbers.
    unsafe { (gl.gl.glPixelStorei)(PACK_ALIGNMENT, 1) };
    // SAFETY: there is room for so many texels.
    unsafe { (gl.gl.glGetTexImage)(face, level, RED, UNSIGNED_BYTE, all.as_mut_ptr().cast()) };
    // SAFETY: takes numbers.
    unsafe { (gl.gl.glPixelStorei)(PACK_ALIGNMENT, 4) };
    if target == TEXTURE_2D_ARRAY { all.split_off(one * layer as usize)[..one].to_vec() } else { all }
}

/// The program's bindings and settings stay.
#[test]
#[ignore = "fetches OpenGL"]
fn the_state_of_opengl_stays() {
    with_opengl(here!("the_state_of_opengl_stays"), |cx, gl| {
        /// Bindings of buffers and textures, and the layout of texels in memory.
        const SETTINGS: [u32; 12] =
            [0x8894, 0x8F36, 0x8F37, 0x88ED, 0x88EF, 0x8069, 0x8514, 0x8C1D, 0x0D05, 0x0CF5, 0x0D02, 0x0CF2];
        let (one, two) = (gl.buffer(&[1; 64]), gl.buffer(&[2; 64]));
        let cube = gl.texture(TEXTURE_CUBE_MAP, RGBA8, 2, [4, 4, 1]);
        let _bound = gl.texture(TEXTURE_CUBE_MAP, RGBA8, 1, [4, 4, 1]);
        let _flat = gl.texture(TEXTURE_2D, RGBA8, 1, [4, 4, 1]);
        for (target, name) in [(0x8F36, one), (0x8F37, two), (0x88EB, one), (0x88EC, two)] {
            // SAFETY: the name is of a buffer.
            unsafe { (gl.gl.glBindBuffer)(target, name) };
        }
        for (setting, value) in [(0x0D05, 8), (0x0CF5, 2), (0x0D02, 7), (0x0CF2, 9)] {
            // SAFETY: takes numbers.
            unsafe { (gl.gl.glPixelStorei)(setting, value) };
        }
        let before = SETTINGS.map(|setting| gl.integer(setting));
        let stream = Stream::default_in(cx);
        let (mut buffer, mut picture) =
            (registered(cx, one), image(cx, cube, TEXTURE_CUBE_MAP, NONE).unwrap());
        let mut mapped = graphics::map(cx, &stream, (&mut buffer, &mut picture)).unwrap();
        let (buffer, picture) = mapped.views();
        assert_eq!(buffer.as_slice::<u8>(cx).unwrap().to_vec(cx).unwrap(), [1; 64]);
        assert_eq!(picture.array::<[u8; 4]>(cx, 5, 1).unwrap().all().to_vec(cx).unwrap(), [[0; 4]; 4]);
        mapped.unmap(cx).unwrap();
        assert_eq!(SETTINGS.map(|setting| gl.integer(setting)), before);
        assert_eq!(gl.error(), 0);
    });
}

/// Storage that the host may not change (`glBufferStorage` without flags), and a buffer that the
/// host has mapped.
#[test]
#[ignore = "fetches OpenGL"]
fn unchangeable_storage_is_written_all_the_same() {
    with_opengl(here!("unchangeable_storage_is_written_all_the_same"), |cx, gl| {
        let name = gl.buffer(&[]);
        // SAFETY: the buffer is bound; so many bytes are there.
        unsafe { (gl.gl.glBufferStorage)(ARRAY_BUFFER, 4, [1u8, 2, 3, 4].as_ptr().cast(), 0) };
        let stream = Stream::default_in(cx);
        let mut buffer = registered(cx, name);
        buffer.set_use(cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD).unwrap();
        let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
        cx.copy(&mut mapped.views().as_mut_slice::<u8>(cx).unwrap(), &[5, 6, 7, 8]).unwrap();
        mapped.unmap(cx).unwrap();
        assert_eq!(gl.read_buffer(name, 4), [5, 6, 7, 8]);
        assert_eq!(gl.error(), 0);
    });
}

/// Without OpenGL on the thread there are errors, and registered objects are released all the same.
#[test]
#[ignore = "fetches OpenGL"]
fn another_context_of_opengl_or_none_is_refused() {
    with_opengl(here!("another_context_of_opengl_or_none_is_refused"), |cx, gl| {
        let code = |result: Result<(), cuprum::Error>| result.err().map(cuprum::Error::code);
        let stream = Stream::default_in(cx);
        let name = gl.buffer(&[1; 4]);
        let mut buffer = registered(cx, name);
        gl.make_none_current();
        let lost = Some(CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
        assert_eq!(code(graphics::map(cx, &stream, &mut buffer).map(drop)), lost);
        gl.make_another_current();
        let theirs = gl.buffer(&[2; 4]);
        assert_eq!(theirs, name, "the same name, of something else");
        if !on_gpu() {
            // NVIDIA's driver does not compare: the caller of the registration has to ensure it.
            assert_eq!(code(graphics::map(cx, &stream, &mut buffer).map(drop)), lost);
        }
        gl.make_current();
        let mut mapped = graphics::map(cx, &stream, &mut buffer).unwrap();
        cx.fill_bytes(&mut mapped.views().as_mut_slice::<u8>(cx).unwrap(), 9).unwrap();
        gl.make_none_current();
        assert_eq!(code(mapped.unmap(cx)), lost);
        gl.destroy();
        // It could not be unmapped before, and is unregistered all the same.
        assert_eq!(code(buffer.close()), lost);
    });
}

#[test]
#[ignore = "fetches OpenGL"]
fn the_device_of_opengl_is_reported() {
    with_opengl_alone(here!("the_device_of_opengl_is_reported"), |gl| {
        println!("{}", gl.renderer());
        assert_eq!(
            graphics::devices(driver(), CUGLDeviceList::CU_GL_DEVICE_LIST_ALL).unwrap(),
            [driver().device(0).unwrap()]
        );
        gl.make_none_current();
        let error = graphics::devices(driver(), CUGLDeviceList::CU_GL_DEVICE_LIST_ALL).unwrap_err();
        assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    });
}
