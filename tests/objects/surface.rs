//! Surfaces, and the lifetimes of surfaces and textures: refused, shared, moved, lent.

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::memory::{Array, ArrayFlags, ArrayShape, HostBlock, MipmappedArray};
use cuprum::texture::{Sampler, Surface, SurfaceObject, Texture, TextureError, TextureObject};
use cuprum::{LaunchConfig, MemoryError, Stream};

use crate::common::{self, in_context};
use crate::sampling::{access, first_channels, sample, sample_bits};

const NONE: ArrayFlags = ArrayFlags::empty();
const TEX_1D: &str = "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";

#[test]
fn surfaces_are_written_and_read() {
    in_context(|cx| {
        let shape = ArrayShape::TwoD { width: 4, height: 3 };
        let array = Array::<u32>::from_slice(cx, shape, ArrayFlags::SURFACE, &[0; 12]).unwrap();
        let surface = Surface::new(cx, &array).unwrap();
        // Along x, surfaces count bytes.
        let write = "sust.b.2d.b32.zero [%t, {%c0, %c1}], %c2;";
        let rows: Vec<_> = (0..12).map(|at| vec![at % 4 * 4, at / 4, 100 + at]).collect();
        access(cx, &surface, write, &rows);
        assert_eq!(array.to_vec(cx).unwrap(), (100..112).collect::<Vec<_>>());
        let read = "suld.b.2d.b32.zero %d0, [%t, {%c0, %c1}];";
        let outside = vec![16, 0];
        let rows: Vec<_> = rows.into_iter().chain([outside]).collect();
        let read: Vec<u32> = access(cx, &surface, read, &rows).iter().map(|row| row[0]).collect();
        assert_eq!(read, (100..112).chain([0]).collect::<Vec<_>>());
        // A texture of the same array reads the values that the surface wrote.
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let code = "tex.2d.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];";
        assert_eq!(sample_bits(cx, &texture, code, &[vec![3.0, 2.0]])[0][0], 111);
        surface.close().unwrap();

        let shape = ArrayShape::ThreeD { width: 2, height: 2, depth: 2 };
        let array = Array::<u32>::from_slice(cx, shape, ArrayFlags::SURFACE, &[0; 8]).unwrap();
        let write = "sust.b.3d.b32.zero [%t, {%c0, %c1, %c2, %c2}], %c3;";
        let rows: Vec<_> = (0..8).map(|at| vec![at % 2 * 4, at / 2 % 2, at / 4, at + 1]).collect();
        access(cx, &Surface::new(cx, &array).unwrap(), write, &rows);
        assert_eq!(array.to_vec(cx).unwrap(), (1..9).collect::<Vec<_>>());

        let shape = ArrayShape::OneD { width: 4 };
        let mipmapped = MipmappedArray::<u32>::new(cx, shape, ArrayFlags::SURFACE, 3).unwrap();
        let level = mipmapped.view().level(cx, 1).unwrap();
        cx.copy(&mut level.all(), &[0; 2]).unwrap();
        access(cx, &Surface::new(cx, level).unwrap(), "sust.b.1d.b32.zero [%t, {%c0}], %c1;", &[vec![4, 9]]);
        assert_eq!(level.all().to_vec(cx).unwrap(), [0, 9]);
    });
}

#[test]
fn an_array_that_is_not_for_surfaces_gets_none() {
    in_context(|cx| {
        let array = Array::<u32>::new(cx, ArrayShape::OneD { width: 4 }, NONE).unwrap();
        assert_eq!(Surface::new(cx, &array).unwrap_err(), TextureError::NoSurfaces);
    });
}

#[test]
fn textures_and_surfaces_of_another_context_are_refused() {
    let other = common::context();
    in_context(|cx| {
        let shape = ArrayShape::OneD { width: 4 };
        let array = Array::<u32>::new(cx, shape, ArrayFlags::SURFACE).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let surface = Surface::new(cx, &array).unwrap();
        let inner = cx.push(&other).unwrap();
        let wrong = |error: TextureError| matches!(error, TextureError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT);
        assert!(wrong(Texture::new(&inner, &array, &Sampler::default()).unwrap_err()));
        assert!(wrong(Surface::new(&inner, &array).unwrap_err()));
        let stream = Stream::new(&inner).unwrap();
        inner
            .scope(&stream, |scope| {
                let refused = |error: MemoryError| matches!(error, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT);
                assert!(refused(scope.lend(&texture).unwrap_err()));
                assert!(refused(scope.lend(&surface).unwrap_err()));
                assert!(refused(scope.lend(&array).unwrap_err()));
            Ok(())
})
            .unwrap();
    });
}

#[test]
fn a_texture_of_a_shared_array_keeps_it() {
    in_context(|cx| {
        let shape = ArrayShape::OneD { width: 4 };
        let flags = ArrayFlags::SURFACE;
        let shared = Array::from_slice(cx, shape, flags, &[1.0f32, 2.0, 3.0, 4.0]).unwrap().share();
        let texture = Texture::new(cx, &shared, &Sampler::default()).unwrap();
        let surface = Surface::new(cx, &shared).unwrap();
        drop(shared);
        let two = 2.5f32.to_bits();
        access(cx, &surface, "sust.b.1d.b32.zero [%t, {%c0}], %c1;", &[vec![4, two]]);
        drop(surface);
        assert_eq!(first_channels(&sample(cx, &texture, TEX_1D, &[vec![1.0], vec![3.0]])), [2.5, 4.0]);

        let mipmapped = MipmappedArray::<f32>::new(cx, shape, NONE, 2).unwrap().share();
        cx.copy(&mut mipmapped.view().level(cx, 0).unwrap().all(), &[5.0; 4]).unwrap();
        let texture =
            Texture::new(cx, &mipmapped, &Sampler { normalized_coordinates: true, ..Sampler::default() })
                .unwrap();
        drop(mipmapped);
        assert_eq!(first_channels(&sample(cx, &texture, TEX_1D, &[vec![0.5]])), [5.0]);
    });
}

/// All of it in a value that moves to another thread, and is dropped there.
#[test]
fn textures_live_in_structs_and_move_to_threads() {
    struct Picture {
        context: cuprum::Shared<cuprum::ContextRef>,
        texture: Texture<'static>,
        array: cuprum::Shared<Array<'static, f32>>,
    }
    let context = PrimaryContext::retain(common::device()).unwrap().share();
    let picture = {
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&context).unwrap();
        let shape = ArrayShape::OneD { width: 2 };
        let array = Array::from_slice(&cx, shape, NONE, &[1.0f32, 2.0]).unwrap().share();
        let texture = Texture::new(&cx, &array, &Sampler::default()).unwrap();
        Picture { context: context.clone(), texture, array }
    };
    std::thread::spawn(move || {
        let Picture { context, texture, mut array } = picture;
        let read = context.enter(|cx| {
            cx.copy(&mut array, &[3.0, 4.0]).unwrap();
            Ok(first_channels(&sample(cx, &texture, TEX_1D, &[vec![0.0], vec![1.0]])))
        });
        assert_eq!(read.unwrap(), [3.0, 4.0]);
        drop((context, array));
        drop(texture);
    })
    .join()
    .unwrap();
}

#[test]
fn a_texture_lent_to_a_scope_is_read_after_earlier_work() {
    in_context(|cx| {
        let shape = ArrayShape::OneD { width: 4 };
        let array = Array::<f32>::from_slice(cx, shape, ArrayFlags::SURFACE, &[0.0; 4]).unwrap();
        let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
        let surface = Surface::new(cx, &array).unwrap();
        let module = common::load(
            cx,
            ".version 7.0\n.target sm_52\n.address_size 64
            .entry forward(.param .u64 texture, .param .u64 surface) {
                .reg .f32 %f<5>; .reg .b64 %rd<2>; .reg .b32 %r<2>;
                ld.param.u64 %rd0, [texture];
                ld.param.u64 %rd1, [surface];
                mov.f32 %f4, 0f3F800000;
                tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%f4}];
                mov.b32 %r0, %f0;
                mov.u32 %r1, 12;
                sust.b.1d.b32.zero [%rd1, {%r1}], %r0;
                ret;
            }",
        );
        let forward = module.function("forward").unwrap();
        let forward = forward.bind::<(TextureObject, SurfaceObject)>().unwrap();
        let stream = Stream::non_blocking(cx).unwrap();
        let (input, mut output) = ([1.0, 2.0, 3.0, 4.0], [0.0; 4]);
        cx.scope(&stream, |scope| {
            let lent = scope.lend(array.view().all()).unwrap();
            let texture = scope.lend(&texture).unwrap();
            let surface = scope.lend(&surface).unwrap();
            scope.copy(&lent, &HostBlock::new(&input, 4).unwrap()).unwrap();
            let config = LaunchConfig::new(1, 1);
            // SAFETY: the kernel reads and writes the array, in the order of the stream, and the
            // scope waits.
            unsafe { forward.launch(cx, &stream, config, (texture, surface)) }.unwrap();
            Ok(scope.read(&mut output, &lent)?)
        })
        .unwrap();
        assert_eq!(output, [1.0, 2.0, 3.0, 2.0]);
    });
}
