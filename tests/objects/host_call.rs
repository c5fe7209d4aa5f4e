//! Calls of kernels with memory of the host.

use cuprum::launch::{HostIn, HostInOut, HostOut, LaunchError};
use cuprum::memory::{PinnedFlags, RegisterFlags, Registered};
use cuprum::{AnyError, Buffer, In, InOut, LaunchConfig, PinnedBuffer, Stream};

use crate::common::{in_context, kernels};

type Saxpy = (u32, f32, In<f32>, InOut<f32>);
type Add = (In<f32>, In<f32>, InOut<f32>, u32);

const LEN: usize = 1000;

fn config() -> LaunchConfig {
    LaunchConfig::for_elements(LEN, 128)
}

#[test]
fn inputs_are_copied_in_and_outputs_are_copied_out() {
    in_context(|cx| {
        let module = kernels!(cx, "vector_add");
        let add = module.function("vector_add").unwrap().bind::<Add>().unwrap();
        let (a, b) = (std::array::from_fn::<f32, LEN, _>(|i| i as f32), vec![0.5; LEN]);
        for stream in [Stream::default_in(cx), Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()] {
            let mut sums = vec![-1.0; LEN];
            let arguments = (HostIn(&a), HostIn(&b[..]), HostOut(&mut sums), LEN as u32);
            // SAFETY: vector_add touches as many elements of each.
            unsafe { add.call(cx, &stream, config(), arguments) }.unwrap();
            assert!(sums.iter().zip(&a).all(|(sum, a)| *sum == a + 0.5));
        }
    });
}

#[test]
fn changed_memory_goes_both_ways_next_to_device_memory() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap().bind::<Saxpy>().unwrap();
        let stream = Stream::new(cx).unwrap();
        let x = Buffer::from_slice(cx, &[2f32; LEN]).unwrap();
        let mut y: Box<[f32]> = (0..LEN).map(|i| i as f32).collect();
        let n = LEN as u32;
        // SAFETY: saxpy touches n elements of each.
        unsafe { saxpy.call(cx, &stream, config(), (n, 10.0, &x, HostInOut(&mut y))) }.unwrap();
        assert!(y.iter().enumerate().all(|(i, y)| *y == i as f32 + 20.0));
        // Without host memory it is a launch that waits.
        let mut sum = Buffer::from_slice(cx, &[1f32; LEN]).unwrap();
        // SAFETY: as above.
        unsafe { saxpy.call(cx, &stream, config(), (n, 1.0, HostIn(&y), &mut sum)) }.unwrap();
        // SAFETY: as above.
        unsafe { saxpy.call(cx, &stream, config(), (n, 1.0, &x, &mut sum)) }.unwrap();
        assert!(stream.is_done(cx).unwrap());
        let sums = sum.to_vec(cx).unwrap();
        assert!(sums.iter().enumerate().all(|(i, sum)| *sum == i as f32 + 23.0));
    });
}

#[test]
fn page_locked_memory_is_given_by_its_owner() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap().bind::<Saxpy>().unwrap();
        let stream = Stream::non_blocking(cx).unwrap();
        let x = PinnedBuffer::from_slice(cx, &[3f32; LEN], PinnedFlags::empty()).unwrap();
        let mut y = Registered::new(cx, vec![1f32; LEN], RegisterFlags::empty()).unwrap();
        // SAFETY: saxpy touches LEN elements of each.
        unsafe { saxpy.call(cx, &stream, config(), (LEN as u32, 2.0, HostIn(&x), HostInOut(&mut y))) }
            .unwrap();
        assert_eq!(y[..], [7.0; LEN]);
        let mut z = PinnedBuffer::from_slice(cx, &[0f32; LEN], PinnedFlags::empty()).unwrap();
        let none = LaunchConfig::new(1, 1);
        // SAFETY: of 0 elements it touches none.
        unsafe { saxpy.call(cx, &stream, none, (0, 2.0, HostIn(&x), HostInOut(&mut z))) }.unwrap();
        assert_eq!(z[..], [0.0; LEN], "what the kernel left is what was copied in");
    });
}

#[test]
fn nothing_is_copied_for_nothing_and_a_bad_geometry_is_refused() {
    in_context(|cx| {
        let module = kernels!(cx, "signatures");
        let kernel = module.function("no_arguments").unwrap().bind::<()>().unwrap();
        let stream = Stream::new(cx).unwrap();
        // SAFETY: it does nothing.
        unsafe { kernel.call(cx, &stream, LaunchConfig::new(1, 1), ()) }.unwrap();
        // SAFETY: as above.
        let refused = unsafe { kernel.call(cx, &stream, LaunchConfig::new(0, 1), ()) };
        assert!(matches!(refused, Err(AnyError::Launch(LaunchError::Empty { .. }))), "{refused:?}");
        let saxpy = kernels!(cx, "saxpy");
        let saxpy = saxpy.function("saxpy").unwrap().bind::<Saxpy>().unwrap();
        let (x, mut y): ([f32; 0], [f32; 0]) = ([], []);
        // SAFETY: of 0 elements it touches none.
        unsafe { saxpy.call(cx, &stream, config(), (0, 1.0, HostIn(&x), HostInOut(&mut y))) }.unwrap();
    });
}
