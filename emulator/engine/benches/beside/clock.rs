//! Time of a run: processor time on one core, which other programs do not affect, else wall time.
//!
//! Processor time still grows if another hardware thread shares the core. Native code that waits
//! for its own results is hardly affected, but the emulator is: [`Reference`] measures this.

use std::hint::black_box;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub(crate) struct Time {
    /// Sum over all threads of this process. Same as `wall` if the system has no such clock.
    pub(crate) processor: Duration,
    pub(crate) wall: Duration,
}

impl Time {
    pub(crate) const LONGEST: Time = Time { processor: Duration::MAX, wall: Duration::MAX };

    pub(crate) fn of(run: impl FnOnce()) -> Time {
        let (start, before) = (Instant::now(), processor_time());
        run();
        let (after, wall) = (processor_time(), start.elapsed());
        let processor = before.zip(after).map_or(wall, |(before, after)| after.saturating_sub(before));
        Time { processor, wall }
    }

    /// Returns the shorter of two runs: the first brings the data back into the caches.
    pub(crate) fn of_either(mut run: impl FnMut()) -> Time {
        Time::of(&mut run).min(Time::of(run))
    }

    pub(crate) fn min(self, other: Time) -> Time {
        Time { processor: self.processor.min(other.processor), wall: self.wall.min(other.wall) }
    }
}

/// A loop that keeps the whole core busy. Its speed shows the available share of the core.
pub(crate) struct Reference {
    pub(crate) slowest: f64,
    pub(crate) fastest: f64,
}

impl Reference {
    pub(crate) const fn new() -> Reference {
        Reference { slowest: f64::INFINITY, fastest: 0.0 }
    }

    /// Runs it once, for some tens of microseconds.
    pub(crate) fn round(&mut self) {
        const ROUNDS: u32 = 20_000;
        const CHAINS: usize = 12;
        let time = Time::of(|| {
            let mut sums = black_box([1u64; CHAINS]);
            for i in 0..ROUNDS {
                for sum in &mut sums {
                    *sum = sum.rotate_left(1) ^ u64::from(i);
                }
            }
            black_box(sums);
        });
        let rate = f64::from(ROUNDS) * CHAINS as f64 / time.processor.as_secs_f64() / 1e9;
        self.slowest = self.slowest.min(rate);
        self.fastest = self.fastest.max(rate);
    }
}

/// Clock of the one-core columns.
pub(crate) const CLOCK: &str = if cfg!(target_os = "linux") { "processor time" } else { "wall time" };

#[cfg(target_os = "linux")]
fn processor_time() -> Option<Duration> {
    #[repr(C)]
    struct Timespec {
        seconds: std::ffi::c_long,
        nanoseconds: std::ffi::c_long,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    const PROCESS: i32 = 2;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the C library has this function, which writes only the given structure.
    let failed = unsafe { clock_gettime(PROCESS, &mut time) } != 0;
    (!failed).then(|| Duration::new(time.seconds as u64, time.nanoseconds as u32))
}

#[cfg(not(target_os = "linux"))]
fn processor_time() -> Option<Duration> {
    None
}
