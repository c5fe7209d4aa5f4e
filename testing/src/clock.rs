//! Processor time of a thread, so that other programs on the machine do not count.

use std::time::Duration;

pub struct Start(Duration);

impl Start {
    pub fn now() -> Self {
        Self(thread_time())
    }

    /// Returns the processor time of this thread since the start.
    pub fn elapsed(&self) -> Duration {
        thread_time().saturating_sub(self.0)
    }
}

#[cfg(target_os = "linux")]
pub fn process_time() -> Duration {
    const CLOCK_PROCESS_CPUTIME_ID: core::ffi::c_int = 2;
    time_of(CLOCK_PROCESS_CPUTIME_ID)
}

#[cfg(not(target_os = "linux"))]
pub fn process_time() -> Duration {
    thread_time()
}

#[cfg(target_os = "linux")]
fn thread_time() -> Duration {
    const CLOCK_THREAD_CPUTIME_ID: core::ffi::c_int = 3;
    time_of(CLOCK_THREAD_CPUTIME_ID)
}

#[cfg(target_os = "linux")]
fn time_of(clock: core::ffi::c_int) -> Duration {
    #[repr(C)]
    struct Timespec {
        seconds: core::ffi::c_long,
        nanoseconds: core::ffi::c_long,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: core::ffi::c_int, time: *mut Timespec) -> core::ffi::c_int;
    }
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the C library's function with a valid output, in C's layout on 64-bit Linux.
    let code = unsafe { clock_gettime(clock, &mut time) };
    assert_eq!(code, 0);
    Duration::new(time.seconds.try_into().unwrap(), time.nanoseconds.try_into().unwrap())
}

/// On other systems, returns wall time.
#[cfg(not(target_os = "linux"))]
fn thread_time() -> Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed()
}
