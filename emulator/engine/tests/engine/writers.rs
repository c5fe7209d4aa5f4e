//! Atomic operations of launches at the same time, and of the host.

use crate::device::{Args, Device, MODES};
use cuprum_engine::memory::Writer;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Adds to words of a buffer, in each of ten rounds: 32 bits with and without the old value,
/// 64 bits by swaps, floats.
const COUNT: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 sums)
{
.reg .b32 %r<4>;
.reg .b64 %w<4>;
.reg .f32 %f;
.reg .pred %p<2>;
ld.param.u64 %w0, [sums];
mov.u32 %r0, 0;
ROUND:
atom.global.add.u32 %r1, [%w0], 1;
red.global.add.u32 [%w0+4], 3;
ld.global.u64 %w1, [%w0+8];
SWAP:
add.u64 %w2, %w1, 1;
mov.b64 %w3, %w1;
atom.global.cas.b64 %w1, [%w0+8], %w1, %w2;
setp.ne.u64 %p0, %w1, %w3;
@%p0 bra SWAP;
red.global.add.f32 [%w0+16], 0f3F800000;
red.global.or.b32 [%w0+20], %r1;
add.u32 %r0, %r0, 1;
setp.lt.u32 %p1, %r0, 10;
@%p1 bra ROUND;
ret;
}";

const LAUNCHES: [u32; 2] = [120, 10];
const THREADS: u32 = 64;
const PAUSE: Duration = Duration::from_millis(20);

#[test]
fn all_additions_of_two_launches_and_the_host_count() {
    for mode in MODES {
        let mut device = Device::load(COUNT).unwrap();
        device.options.mode = mode;
        let sums = device.buffer(&[0u32; 8]);
        let region = device.memory.find(sums.address()).unwrap();
        // SAFETY: an aligned word of the buffer, which only atomic operations access until the end.
        let word = unsafe { AtomicU32::from_ptr(region.host.cast()) };
        let is_over = AtomicBool::new(false);
        let added = std::thread::scope(|scope| {
            let launch = |times: u32| {
                let (device, sums) = (&device, &sums);
                move || {
                    for _ in 0..times {
                        device.launch("count", 1, THREADS, &Args::default().buffer(sums)).unwrap();
                        // Later launches begin alone again.
                        std::thread::sleep(PAUSE / times);
                    }
                }
            };
            let launches = LAUNCHES.map(|times| scope.spawn(launch(times)));
            let host = scope.spawn(|| {
                let mut added = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let writer = Writer::new();
                    for _ in 0..50 {
                        word.fetch_add(1, Ordering::Relaxed);
                    }
                    drop(writer);
                    added += 50;
                    std::thread::sleep(Duration::from_micros(20));
                }
                added
            });
            launches.into_iter().for_each(|thread| thread.join().unwrap());
            is_over.store(true, Ordering::Relaxed);
            host.join().unwrap()
        });
        let additions = (LAUNCHES[0] + LAUNCHES[1]) * THREADS * 10;
        let [first, second, ..] = sums.read::<u32>()[..] else { unreachable!() };
        let (swapped, float) = (sums.read::<u64>()[1], sums.read::<f32>()[4]);
        assert_eq!((first, second), (additions + added, 3 * additions), "{mode:?}");
        assert_eq!((swapped, float), (u64::from(additions), additions as f32), "{mode:?}");
    }
}
