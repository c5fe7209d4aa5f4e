//! Reports of host accesses to device addresses.
//!
//! Such an access faults, as on hardware (`memory::space`), and would end the process without an
//! explanation. A handler of `SIGSEGV` reports the allocation and passes the signal on to the
//! previous handler: Rust's standard library, Python's `faulthandler`, or none, which ends the
//! process. Linux on x86-64 and AArch64 only.
//!
//! As signal handlers must, the handler allocates nothing, waits for no lock, and writes with
//! `write`. The faulting access is in the client's code, so it does not interrupt the
//! driver, unless the client passed a device address to the driver as an output.

use crate::driver::state::{note_host_access, settings};

/// Starts watching for such accesses. Called by `cuInit`.
pub(crate) fn watch() {
    if settings().reports {
        os::watch(note_host_access);
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod os {
    use core::ffi::{c_int, c_void};
    use core::fmt::{self, Write};
    use core::{mem, ptr};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use crate::driver::state::memory;
    use crate::memory::{Memory, RegionKind};

    const SIGSEGV: c_int = 11;
    const SA_SIGINFO: c_int = 4;
    const SA_ONSTACK: c_int = 0x0800_0000;
    const SA_NODEFER: c_int = 0x4000_0000;
    const SIG_DFL: usize = 0;
    const SIG_IGN: usize = 1;
    /// Code of a signal that a thread sent to itself.
    const SI_TKILL: c_int = -6;
    const STDERR: c_int = 2;
    /// Maximum number of reports, in case a handler always repeats the access.
    const MOST: u32 = 16;

    /// The C library's `struct sigaction`, the same in glibc and musl.
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Action {
        /// `SIG_DFL`, `SIG_IGN`, or the address of a function.
        handler: usize,
        mask: [u64; 16],
        flags: c_int,
        restorer: usize,
    }

    /// The first fields of `siginfo_t`.
    #[repr(C)]
    struct Info {
        signal: c_int,
        errno: c_int,
        code: c_int,
        _padding: c_int,
        /// For a fault, the address that was accessed.
        address: u64,
    }

    /// The fields of `ucontext_t` that the handler reads.
    #[cfg(target_arch = "x86_64")]
    #[repr(C)]
    struct Machine {
        _before: [u64; 24],
        /// Bit 1 is set for a write, bit 4 for a jump.
        error: u64,
        _between: [u64; 2],
        /// The address of the thread's last fault.
        address: u64,
    }

    #[cfg(target_arch = "aarch64")]
    #[repr(C)]
    struct Machine {
        _before: [u64; 22],
        /// The address of the thread's last fault.
        address: u64,
    }

    unsafe extern "C" {
        fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
        fn raise(signal: c_int) -> c_int;
        fn write(fd: c_int, bytes: *const c_void, count: usize) -> isize;
        fn __errno_location() -> *mut c_int;
    }

    /// Data of the handler: the memory, the function that notes a permitted access, and the
    /// previous handler.
    struct Watched {
        memory: &'static Memory,
        note: fn(u64, bool),
        previous: Action,
    }

    static WATCHED: OnceLock<Watched> = OnceLock::new();

    const NOTHING: Action = Action { handler: SIG_DFL, mask: [0; 16], flags: 0, restorer: 0 };

    pub(super) fn watch(note: fn(u64, bool)) {
        let mut first = false;
        let watched = WATCHED.get_or_init(|| {
            first = true;
            let mut previous = NOTHING;
            // SAFETY: only a query; `previous` is a valid output.
            unsafe { sigaction(SIGSEGV, ptr::null(), &mut previous) };
            Watched { memory: memory(), note, previous }
        });
        if !first {
            return;
        }
        let (previous, handler) = (&watched.previous, on_fault as extern "C" fn(_, _, _));
        // This handler calls the previous one, so it runs on that stack with those signals blocked.
        let ours = Action {
            handler: handler as usize,
            mask: previous.mask,
            flags: SA_SIGINFO | SA_ONSTACK | (previous.flags & SA_NODEFER),
            restorer: 0,
        };
        // SAFETY: a handler that may interrupt any code (module documentation), and all data that
        // it reads is initialized. The code stays loaded: `cuprum-libcuda` is linked so, and
        // `stay_loaded` pins programs that embed this crate.
        unsafe { sigaction(SIGSEGV, &ours, ptr::null_mut()) };
    }

    extern "C" fn on_fault(signal: c_int, info: *const Info, machine: *const Machine) {
        let Some(watched) = WATCHED.get() else { return };
        // SAFETY: a signal with SA_SIGINFO passes both, which live until the handler returns.
        let info_here = unsafe { &*info };
        // SAFETY: as above.
        let machine_here = unsafe { &*machine };
        if let Some(address) = accessed(info_here, machine_here) {
            let memory = watched.memory;
            if memory.is_device_address(address) && memory.open_to_host(address) {
                // The access is repeated, and succeeds.
                (watched.note)(address, writes(machine_here));
                return;
            }
            if memory.is_device_address(address) {
                tell(memory, address, machine_here);
            }
        }
        hand_on(&watched.previous, signal, info, machine);
    }

    /// Returns the address whose access caused the signal. A handler that raises the signal again,
    /// such as Python's `faulthandler`, leaves the last fault of its thread in the registers.
    fn accessed(info: &Info, machine: &Machine) -> Option<u64> {
        match info.code {
            1.. => Some(info.address),
            SI_TKILL => Some(machine.address),
            _ => None,
        }
    }

    /// Only x86-64 has guarded memory.
    fn writes(machine: &Machine) -> bool {
        verb(machine) == "wrote to"
    }

    #[cfg(target_arch = "x86_64")]
    fn verb(machine: &Machine) -> &'static str {
        match machine.error {
            error if error & 16 != 0 => "jumped to",
            error if error & 2 != 0 => "wrote to",
            _ => "read",
        }
    }

    #[cfg(target_arch = "aarch64")]
    fn verb(_machine: &Machine) -> &'static str {
        "accessed"
    }

    /// Separate from the handler, which may run with little stack after an overflow.
    #[cold]
    #[inline(never)]
    fn tell(memory: &Memory, address: u64, machine: &Machine) {
        static TOLD: AtomicU32 = AtomicU32::new(0);
        if TOLD.fetch_add(1, Ordering::Relaxed) >= MOST {
            return;
        }
        let mut text = Text { bytes: [0; 768], len: 0 };
        // Text that does not fit is dropped.
        let _ = compose(&mut text, memory, address, verb(machine));
        // SAFETY: C's own variable for this thread's error number.
        let errno = unsafe { __errno_location() };
        // SAFETY: as above; only this thread uses it.
        let kept = unsafe { errno.read() };
        // SAFETY: the initialized bytes, which live until the call returns.
        unsafe { write(STDERR, text.bytes.as_ptr().cast(), text.len) };
        // SAFETY: as above.
        unsafe { errno.write(kept) };
    }

    fn compose(text: &mut Text, memory: &Memory, address: u64, verb: &str) -> fmt::Result {
        writeln!(text, "software CUDA device: the host {verb} {address:#x}, an address of the device")?;
        let nearest = memory.nearest_at_once(address);
        if let Some(nearest) = &nearest {
            writeln!(text, "  {}", **nearest)?;
        }
        text.write_str(match nearest {
            Some(nearest) if nearest.kind == RegionKind::MappedHost => {
                "  the host reaches such memory where it is mapped and cuMemSetAccess has given access to the host\n"
            }
            Some(nearest) if nearest.kind.host_visible() => {
                "  the host may use such memory from its allocation until it is freed, and nothing beside it\n"
            }
            _ => {
                "  the host reaches device memory by copies (cuMemcpyDtoH, cuMemcpyHtoD); both sides reach memory of \
                 cuMemAllocManaged and cuMemHostAlloc\n"
            }
        })
    }

    /// Text in a fixed-size buffer.
    struct Text {
        bytes: [u8; 768],
        len: usize,
    }

    impl Write for Text {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = self.bytes.get_mut(self.len..).unwrap_or_default();
            let taken = text.len().min(room.len());
            room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
            self.len += taken;
            if taken == text.len() { Ok(()) } else { Err(fmt::Error) }
        }
    }

    /// Handles the signal as if this handler did not exist.
    fn hand_on(previous: &Action, signal: c_int, info: *const Info, machine: *const Machine) {
        // SAFETY: it is valid, as in the caller.
        let is_fault = unsafe { (*info).code } > 0;
        match previous.handler {
            // The kernel does not allow a fault to be ignored.
            SIG_IGN if !is_fault => {}
            SIG_DFL | SIG_IGN => {
                // SAFETY: restores the default action.
                unsafe { sigaction(signal, &NOTHING, ptr::null_mut()) };
                // After the return a fault repeats by itself; a signal that was sent does not.
                if !is_fault {
                    // SAFETY: C's own function, allowed in handlers.
                    unsafe { raise(signal) };
                }
            }
            handler if previous.flags & SA_SIGINFO != 0 => {
                type Three = unsafe extern "C" fn(c_int, *const Info, *const Machine);
                // SAFETY: the client installed it as a function of three arguments.
                let handler = unsafe { mem::transmute::<usize, Three>(handler) };
                // SAFETY: the arguments that the system passes.
                unsafe { handler(signal, info, machine) };
            }
            handler => {
                type One = unsafe extern "C" fn(c_int);
                // SAFETY: the client installed it as a function of one argument.
                let handler = unsafe { mem::transmute::<usize, One>(handler) };
                // SAFETY: the argument that the system passes.
                unsafe { handler(signal) };
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
mod os {
    pub(super) fn watch(_note: fn(u64, bool)) {}
}
