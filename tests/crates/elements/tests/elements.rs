//! Element types of other crates, derived ones and CUDA's vectors, on the device and back.

use bytemuck::TransparentWrapper;
use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::memory::vector::{double3, float4, uint2};
use cuprum::memory::{DeviceData, Plain};
use cuprum::{Buffer, Current, Driver, InOut, LaunchConfig, Module, Stream};
use cuprum_test_elements::{Generic, Nothing, Pair, Particle, Wrapped};
use half::{bf16, f16};
use num_complex::Complex;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn on_device(run: impl FnOnce(&Current<'_, '_>) -> Outcome) -> Outcome {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    run(&stack.push(&context)?)
}

/// The values after a way to the device and back.
fn there_and_back<T: DeviceData>(
    cx: &Current<'_, '_>,
    values: &[T],
) -> Result<Vec<T>, Box<dyn std::error::Error>> {
    Ok(Buffer::from_slice(cx, values)?.to_vec(cx)?)
}

#[test]
fn numbers_of_other_crates_come_back_as_they_were() -> Outcome {
    on_device(|cx| {
        let halves = [f16::from_f32(1.5), f16::NEG_INFINITY, f16::from_bits(0x7e01)];
        let back = there_and_back(cx, &halves)?;
        assert_eq!(back.map_bits(), halves.to_vec().map_bits());
        let complex = [Complex::new(1.0f32, -2.0), Complex::new(0.0, 3.5)];
        assert_eq!(there_and_back(cx, &complex)?, complex);
        let plain = [1u32, 2, 3];
        let back = there_and_back(cx, Plain::wrap_slice(&plain))?;
        assert_eq!(Plain::peel_slice(&back), plain);
        Ok(())
    })
}

/// The bits of halves, of which one is not a number.
trait Bits {
    fn map_bits(self) -> Vec<u16>;
}

impl Bits for Vec<f16> {
    fn map_bits(self) -> Vec<u16> {
        self.into_iter().map(f16::to_bits).collect()
    }
}

#[test]
fn halves_fill_memory() -> Outcome {
    on_device(|cx| {
        let mut buffer = Buffer::<f16>::zeroed(cx, 5)?;
        cx.fill(&mut buffer, f16::from_f32(-0.25))?;
        assert_eq!(buffer.to_vec(cx)?, [f16::from_f32(-0.25); 5]);
        let mut buffer = Buffer::<bf16>::zeroed(cx, 3)?;
        cx.fill(&mut buffer, bf16::from_f32(1e30))?;
        assert_eq!(buffer.to_vec(cx)?, [bf16::from_f32(1e30); 3]);
        Ok(())
    })
}

#[test]
fn derived_structs_come_back_as_they_were() -> Outcome {
    on_device(|cx| {
        let particles = [Particle::new([1.0, 2.0, 3.0], 4.0, 5), Particle::new([-1.0; 3], 0.5, u64::MAX)];
        assert_eq!(there_and_back(cx, &particles)?, particles);
        let pairs = [Pair(float4::new(1.0, 2.0, 3.0, 4.0), Wrapped(7), 8, [9, 10, 11, 12])];
        assert_eq!(there_and_back(cx, &pairs)?, pairs);
        assert_eq!(there_and_back(cx, &[Nothing; 3])?, [Nothing; 3]);
        let generic = there_and_back(cx, &[Generic { both: [1, 2], one: 3 }])?;
        assert_eq!((generic[0].both, generic[0].one), ([1, 2], 3));
        Ok(())
    })
}

#[test]
fn a_vector_has_the_kernels_offset_in_the_parameters() -> Outcome {
    on_device(|cx| {
        let module = Module::load_ptx(cx, include_str!("../../../../kernels/signatures.ptx"))?;
        let function = module.function("vector_after_pointer")?;
        // The same numbers as arrays have other offsets, and the error says so.
        let refused = function.bind::<(InOut<u8>, u32, [f32; 4], [u32; 2])>().unwrap_err();
        assert!(refused.to_string().contains("alignment"), "{refused}");

        let kernel = function.bind::<(InOut<u8>, u32, float4, uint2)>()?;
        let mut out = Buffer::<u8>::zeroed(cx, 28)?;
        let stream = Stream::new(cx)?;
        let arguments = (&mut out, 1, float4::new(2.0, 3.0, 4.0, 5.0), uint2::new(6, 7));
        // SAFETY: the kernel writes 28 bytes, as kernels/signatures.cu says; the copy below waits
        // for it.
        unsafe { kernel.launch(cx, &stream, LaunchConfig::new(1, 1), arguments) }?;
        let words: Vec<u32> = out
            .to_vec(cx)?
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words, [1, 2f32.to_bits(), 3f32.to_bits(), 4f32.to_bits(), 5f32.to_bits(), 6, 7]);
        Ok(())
    })
}

/// Binds kernels of `kernels/vectors.cu`, each of which has a byte before every vector, so that its
/// alignment shows.
macro_rules! binds {
    ($module:expr, $($kernel:ident($($vector:ident),*));* $(;)?) => { $(
        $module.function(stringify!($kernel))?.bind::<($(u8, cuprum::memory::vector::$vector),*)>()?;
    )* };
}

#[test]
fn every_vector_is_aligned_as_nvidias_compiler_does() -> Outcome {
    on_device(|cx| {
        let module = Module::load_ptx(cx, include_str!("../../../../kernels/vectors.ptx"))?;
        binds! { module,
            chars(char2, char3, char4, uchar2, uchar3, uchar4);
            shorts(short2, short3, short4, ushort2, ushort3, ushort4);
            ints(int2, int3, int4, uint2, uint3, uint4);
            longlongs(longlong2, longlong3, longlong4, ulonglong2, ulonglong3, ulonglong4);
            floats(float2, float3, float4, double2, double3, double4);
        }
        let refused = module.function("floats")?.bind::<(u8, double3)>();
        assert!(refused.is_err(), "{refused:?}");
        Ok(())
    })
}
