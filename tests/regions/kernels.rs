//! Launches with arguments that are known at run time.

use cuprum::launch::{LaunchError, Mismatch};
use cuprum::memory::{ArrayFlags, ArrayShape};
use cuprum::region::{Arg, Pool, RegionError, SharedFunction};
use cuprum::{Current, LaunchConfig, Module};

use crate::common::kernels;
use crate::{BYTES, DEFERRED, bytes, filled, in_modes, in_pool, refused};

fn saxpy(cx: &Current<'_, 'static>, pool: &Pool) -> SharedFunction {
    pool.function(&kernels!(cx, "saxpy").share(), "saxpy").unwrap()
}

const LEN: u32 = 1024;

#[test]
fn arguments_are_compared_with_the_parameters() {
    in_pool(|cx, pool| {
        let (queue, saxpy) = (pool.queue(cx).unwrap(), saxpy(cx, pool));
        let (x, y) = (filled(cx, &queue, 0), filled(cx, &queue, 0));
        let config = LaunchConfig::for_elements(1, 1);
        let launch = |config, arguments: &[Arg<'_>]| {
            // SAFETY: saxpy touches as many floats as its first argument says, and that is 0 or 1.
            unsafe { queue.launch(cx, &saxpy, config, arguments, &[]) }
        };
        let all: [Arg<'_>; 4] = [1u32.into(), 2f32.into(), (&x).into(), Arg::Region(&y)];
        launch(config, &all).unwrap();
        let few = refused(launch(config, &all[..3]));
        assert_eq!(few, RegionError::Arguments(Mismatch::Count { kernel: 4, signature: 3 }));
        let wide = refused(launch(config, &[Arg::U64(1), all[1], all[2], all[3]]));
        assert_eq!(wide, RegionError::Arguments(Mismatch::Size { index: 0, kernel: 4, signature: 8 }));
        let number = refused(launch(config, &[all[0], all[1], Arg::U32(0), all[3]]));
        assert_eq!(number, RegionError::Arguments(Mismatch::Size { index: 2, kernel: 8, signature: 4 }));
        let address = y.as_raw().to_ne_bytes();
        launch(config, &[Arg::Bytes(&[0; 4]), all[1], all[2], Arg::Bytes(&address)]).unwrap();
        let large = refused(launch(LaunchConfig::new(1, 4096), &all));
        assert!(matches!(large, RegionError::Launch(LaunchError::Block { .. })), "{large}");
        let missing = refused(pool.function(&kernels!(cx, "saxpy").share(), "daxpy"));
        assert!(matches!(missing, RegionError::Module(_)), "{missing}");
    });
}

/// A kernel, its arguments after the first, the offsets of all its parameters, and the bytes that
/// it stores.
type Case<'a> = (&'a str, &'a [Arg<'a>], &'a [usize], Vec<u8>);

/// The layouts and the bytes stored are in the header of `kernels/signatures.cu`.
#[test]
fn arguments_of_all_sizes_arrive_at_their_offsets() {
    // Fields of a struct of three floats, a double and a number of two bytes, with its padding.
    let body = [[1f32, 2.0].map(f32::to_ne_bytes).concat(), [3f32.to_ne_bytes(), [0; 4]].concat()].concat();
    let body = [&body[..], &4f64.to_ne_bytes(), &5u16.to_ne_bytes(), &[0; 6]].concat();
    let table: Vec<u8> = (0..64u32).flat_map(u32::to_ne_bytes).collect();
    let four: Vec<u8> = [1f32, 2.0, 3.0, 4.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
    let two = [5u32, 6].map(u32::to_ne_bytes).concat();
    let scalars = [Arg::U8(1), Arg::U16(2), Arg::I32(-3), Arg::U64(4), Arg::F32(5.0), Arg::F64(6.0)];
    let scalars_stored =
        [&[1][..], &2u16.to_ne_bytes(), &(-3i32).to_ne_bytes(), &4u64.to_ne_bytes(), &5f32.to_ne_bytes()];
    let cases: [Case<'_>; 4] = [
        (
            "mixed_scalars",
            &scalars,
            &[0, 8, 10, 12, 16, 24, 32],
            [scalars_stored.concat(), 6f64.to_ne_bytes().to_vec()].concat(),
        ),
        (
            "vector_after_pointer",
            &[Arg::I32(7), Arg::Bytes(&four), Arg::Bytes(&two)],
            &[0, 8, 16, 32],
            [&7i32.to_ne_bytes()[..], &four, &two].concat(),
        ),
        (
            "structure_by_value",
            &[Arg::Bytes(&body), Arg::I8(-8)],
            &[0, 8, 40],
            [&body[..12], &body[16..26], &[248]].concat(),
        ),
        ("large_structure", &[Arg::Bytes(&table)], &[0, 8], table.clone()),
    ];
    in_pool(|cx, pool| {
        let (queue, module) = (pool.queue(cx).unwrap(), kernels!(cx, "signatures").share());
        for (name, given, offsets, stored) in cases {
            let function = pool.function(&module, name).unwrap();
            let found: Vec<usize> = function.parameters().iter().map(|parameter| parameter.0).collect();
            assert_eq!(found, offsets, "{name}");
            let out = queue.alloc(cx, stored.len()).unwrap();
            let arguments = [&[Arg::Region(&out)], given].concat();
            // SAFETY: the kernel stores as many bytes as `out` has.
            unsafe { queue.launch(cx, &function, LaunchConfig::new(1, 1), &arguments, &[]) }.unwrap();
            assert_eq!(bytes(cx, pool, &queue, &out), stored, "{name}");
        }
        let pointers = pool.function(&module, "many_pointers").unwrap();
        let all = queue.alloc(cx, 16 * 4).unwrap();
        let parts: Vec<_> = (0..16).map(|at| all.slice(at * 4..at * 4 + 4).unwrap()).collect();
        let arguments: Vec<_> = parts.iter().map(Arg::Region).collect();
        // SAFETY: the kernel stores one number of four bytes at each of 16 pointers.
        unsafe { queue.launch(cx, &pointers, LaunchConfig::new(1, 1), &arguments, &[]) }.unwrap();
        let numbers: Vec<u8> = (0..16u32).flat_map(u32::to_ne_bytes).collect();
        assert_eq!(bytes(cx, pool, &queue, &all), numbers);
    });
}

#[test]
fn values_agree_with_saxpy_also_packed_on_the_heap() {
    // 100 numbers of eight bytes, of which the last is stored: more than are packed on the stack.
    let parameters: Vec<String> = (0..100).map(|at| format!(".param .u64 p{at}")).collect();
    let ptx = format!(
        ".version 7.0 .target sm_52 .address_size 64 .visible .entry last(.param .u64 out, {}) {{
            .reg .b64 %r<3>;
            ld.param.u64 %r0, [out];
            cvta.to.global.u64 %r1, %r0;
            ld.param.u64 %r2, [p99];
            st.global.u64 [%r1], %r2;
            ret;
        }}",
        parameters.join(", ")
    );
    in_pool(|cx, pool| {
        let queue = pool.queue(cx).unwrap();
        let last = pool.function(&Module::load_ptx(cx, &ptx).unwrap().share(), "last").unwrap();
        let out = queue.alloc(cx, 8).unwrap();
        let mut arguments = vec![Arg::Region(&out)];
        arguments.extend((0..100u64).map(Arg::from));
        // SAFETY: it writes eight bytes to `out`.
        unsafe { queue.launch(cx, &last, LaunchConfig::new(1, 1), &arguments, &[]) }.unwrap();
        assert_eq!(bytes(cx, pool, &queue, &out), 99u64.to_ne_bytes());
        let nothing = ".version 7.0 .target sm_52 .address_size 64 .visible .entry nothing() { ret; }";
        let nothing = pool.function(&Module::load_ptx(cx, nothing).unwrap().share(), "nothing").unwrap();
        // SAFETY: it does nothing.
        unsafe { queue.launch(cx, &nothing, LaunchConfig::new(1, 1), &[], &[]) }.unwrap();
    });
}

#[test]
fn code_stays_loaded_while_its_kernel_is_queued() {
    in_modes!(DEFERRED, code_stays_loaded_while_its_kernel_is_queued, || {
        in_pool(|cx, pool| {
            let (queue, saxpy) = (pool.queue(cx).unwrap(), saxpy(cx, pool));
            let (x, y) = (filled(cx, &queue, 0), filled(cx, &queue, 0));
            let arguments = [Arg::U32(LEN), Arg::F32(1.0), Arg::Region(&x), Arg::Region(&y)];
            let config = LaunchConfig::for_elements(LEN as usize, 128);
            // SAFETY: saxpy touches LEN floats of each, which they have.
            unsafe { queue.launch(cx, &saxpy, config, &arguments, &[]) }.unwrap();
            let mark = queue.mark(cx).unwrap();
            drop(saxpy);
            pool.trim(cx).unwrap();
            // A GPU may be done by now.
            let is_done = mark.is_done().unwrap();
            assert!(!is_done || crate::common::on_gpu(), "unloading waits for the kernel");
            mark.synchronize().unwrap();
            pool.trim(cx).unwrap();
        });
    });
}

#[test]
fn a_recorded_kernel_keeps_its_code_and_its_memory() {
    in_modes!(DEFERRED, a_recorded_kernel_keeps_its_code_and_its_memory, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let (x, y) = (queue.alloc(cx, BYTES).unwrap(), queue.alloc(cx, BYTES).unwrap());
            queue.fill(cx, &x, 1f32).unwrap();
            queue.fill(cx, &y, 2f32).unwrap();
            let recording = queue.record(cx).unwrap();
            let saxpy = saxpy(cx, pool);
            let arguments = [Arg::U32(LEN), Arg::F32(3.0), Arg::Region(&x), Arg::Region(&y)];
            let config = LaunchConfig::for_elements(LEN as usize, 128);
            // SAFETY: saxpy touches LEN floats of each, which they have.
            unsafe { queue.launch(cx, &saxpy, config, &arguments, &[]) }.unwrap();
            drop((saxpy, x));
            let replay = recording.end(cx).unwrap();
            pool.trim(cx).unwrap();
            for _ in 0..2 {
                queue.replay(cx, &replay).unwrap();
            }
            drop(replay);
            let read = queue.read(cx, &y, pool.pinned(cx, BYTES).unwrap()).unwrap().wait().unwrap();
            assert_eq!(read.elements::<f32>().unwrap(), [8.0; LEN as usize]);
        });
    });
}

#[test]
fn textures_surfaces_and_tensor_maps_are_arguments() {
    use cuprum::sys::CUtensorMapSwizzle;
    use cuprum::texture::{Sampler, Surface, TensorLayout, TensorMap, Texture};

    // Both objects are stored as their numbers, followed by the first words of the map.
    let ptx = ".version 7.0 .target sm_52 .address_size 64 .visible .entry objects(
            .param .u64 out, .param .u64 texture, .param .u64 surface, .param .align 64 .b8 map[128]) {
            .reg .b64 %r<5>;
            ld.param.u64 %r0, [out];
            cvta.to.global.u64 %r1, %r0;
            ld.param.u64 %r2, [texture];
            st.global.u64 [%r1], %r2;
            ld.param.u64 %r3, [surface];
            st.global.u64 [%r1+8], %r3;
            ld.param.u64 %r4, [map+8];
            st.global.u64 [%r1+16], %r4;
            ret;
        }";
    in_pool(|cx, pool| {
        let queue = pool.queue(cx).unwrap();
        let objects = pool.function(&Module::load_ptx(cx, ptx).unwrap().share(), "objects").unwrap();
        let shape = ArrayShape::TwoD { width: 16, height: 16 };
        let array = cuprum::memory::Array::<f32>::new(cx, shape, ArrayFlags::SURFACE).unwrap();
        let (texture, surface) =
            (Texture::new(cx, &array, &Sampler::default()).unwrap(), Surface::new(cx, &array).unwrap());
        let (out, tensor) = (queue.alloc(cx, 24).unwrap(), queue.alloc(cx, 64 * 32 * 4).unwrap());
        let swizzle = CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B;
        let layout = TensorLayout { swizzle, ..TensorLayout::new(&[64, 32]) };
        let map = TensorMap::tiled::<f32>(cx, &tensor, &layout, &[32, 8]).unwrap();
        let small = tensor.slice(4..).unwrap();
        assert!(TensorMap::tiled::<f32>(cx, &small, &layout, &[32, 8]).is_err(), "it lies outside");
        let arguments = [
            Arg::Region(&out),
            Arg::Texture(&texture),
            Arg::Surface(&surface),
            Arg::TensorMap(&map, &tensor),
        ];
        // SAFETY: it writes 24 bytes to `out`, and reaches nothing through the objects.
        unsafe { queue.launch(cx, &objects, LaunchConfig::new(1, 1), &arguments, &[]) }.unwrap();
        let words = queue.read(cx, &out, pool.pinned(cx, 24).unwrap()).unwrap().wait().unwrap();
        let map = map.as_raw().opaque[1];
        assert_eq!(words.elements::<u64>().unwrap(), [texture.as_raw(), surface.as_raw(), map]);
    });
}
