//! The driver's process: forks, its end, and the ends of its threads.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

static FORKED: AtomicBool = AtomicBool::new(false);

/// True if this process is a forked child of the process that called `cuInit`. The driver does not
/// work there, as on hardware: its threads do not exist, and its locks may stay locked.
pub(crate) fn is_forked_child() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Starts watching for forks. Called by `cuInit`.
pub(crate) fn watch_forks() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(os::watch);
}

/// Prevents the library of this code from being unloaded, even if its host closes it, because its
/// exit handlers and threads still run in it. Called by `cuInit`. Linux only.
pub(crate) fn stay_loaded() {
    static DONE: Once = Once::new();
    DONE.call_once(loaded::stay);
}

/// Returns the library that called the driver on this thread, if the system can report it.
pub(crate) fn calling_library() -> Option<String> {
    loaded::caller()
}

static AT_EXIT: OnceLock<fn()> = OnceLock::new();

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> core::ffi::c_int;
}

/// Registers a function that runs at the normal end of the process, but not in a forked child. Only
/// the first registration has an effect.
pub(crate) fn at_exit(run: fn()) {
    extern "C" fn handler() {
        if let Some(run) = AT_EXIT.get().filter(|_| !is_forked_child()) {
            // A panic must not unwind into C; nothing can receive it.
            let _ = catch_unwind(run);
        }
    }
    if AT_EXIT.set(run).is_ok() {
        // SAFETY: C's own function, with a handler of its type that does not unwind. If it fails
        // because memory is exhausted, nothing is reported at the end.
        unsafe { atexit(handler) };
    }
}

static AT_THREAD_END: OnceLock<fn()> = OnceLock::new();

/// Registers a function that the calling thread runs once at its end, if possible after the
/// destructors of the client's thread-local variables. There can be only one such function.
pub(crate) fn at_thread_end(run: fn()) {
    AT_THREAD_END.get_or_init(|| run);
    os::watch_thread();
}

fn end_thread() {
    if let Some(run) = AT_THREAD_END.get() {
        // A panic must not unwind into C; nothing can receive it.
        let _ = catch_unwind(run);
    }
}

#[cfg(all(unix, not(miri)))]
mod os {
    use super::{FORKED, OnceLock, Ordering, end_thread};
    use core::ffi::{c_int, c_void};
    use core::ptr;
    use std::cell::Cell;

    type Handler = Option<unsafe extern "C" fn()>;

    unsafe extern "C" {
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
        fn pthread_key_create(key: *mut Key, destructor: Destructor) -> c_int;
        fn pthread_setspecific(key: Key, value: *const c_void) -> c_int;
    }

    type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;
    #[cfg(target_vendor = "apple")]
    type Key = core::ffi::c_ulong;
    #[cfg(not(target_vendor = "apple"))]
    type Key = core::ffi::c_uint;

    thread_local! {
        static WATCHED: Cell<bool> = const { Cell::new(false) };
    }

    unsafe extern "C" fn at_end(_: *mut c_void) {
        WATCHED.set(false);
        end_thread();
    }

    /// Watches for the end of this thread. Values of keys are destroyed after thread-local
    /// variables of C++ and of Rust. This driver's key is newer than the keys that its clients
    /// created before they loaded it.
    pub(super) fn watch_thread() {
        static KEY: OnceLock<Option<Key>> = OnceLock::new();
        if WATCHED.replace(true) {
            return;
        }
        let key = KEY.get_or_init(|| {
            let mut key = 0;
            // SAFETY: a valid output for the key, and a function of its type that does not unwind.
            let made = unsafe { pthread_key_create(&mut key, Some(at_end)) };
            (made == 0).then_some(key)
        });
        // Without a key, the thread's state is never freed.
        if let Some(key) = *key {
            // SAFETY: the driver's own key. Its values must only differ from null.
            unsafe { pthread_setspecific(key, ptr::without_provenance(1)) };
        }
    }

    unsafe extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
    }

    pub(super) fn watch() {
        // SAFETY: the handler stores one atomic, which is allowed in a forked child. glibc drops
        // the handlers of a library that is unloaded. If the call fails because memory is
        // exhausted, children are not recognized.
        unsafe { pthread_atfork(None, None, Some(in_child)) };
    }
}

#[cfg(any(not(unix), miri))]
mod os {
    pub(super) fn watch() {}

    struct End;

    impl Drop for End {
        fn drop(&mut self) {
            super::end_thread();
        }
    }

    thread_local! {
        static END: End = const { End };
    }

    pub(super) fn watch_thread() {
        // Fails only after it has run.
        let _ = END.try_with(|_| ());
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod loaded {
    use core::ffi::{c_char, c_int, c_void};
    use core::ptr;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    use cuprum_sys::mapped_at;

    /// Binds and loads nothing, and prevents the library from being unloaded.
    const RTLD_LAZY_NOLOAD_NODELETE: c_int = 1 | 4 | 0x1000;

    unsafe extern "C" {
        fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
        #[cfg(target_env = "gnu")]
        fn backtrace(addresses: *mut *mut c_void, count: c_int) -> c_int;
    }

    /// Does nothing for an executable: it cannot be opened as a library, and `dlopen` returns null.
    pub(super) fn stay() {
        let Some(own) = mapped_at((stay as *const c_void).addr()) else { return };
        let Ok(file) = CString::new(own.file.as_os_str().as_bytes()) else { return };
        // SAFETY: the linker's name of a library that stays loaded while its code runs. Opening it
        // again runs no initializer.
        unsafe { dlopen(file.as_ptr(), RTLD_LAZY_NOLOAD_NODELETE) };
    }

    /// Returns the file of the first code on this thread's stack outside this and the C library.
    #[cfg(target_env = "gnu")]
    pub(super) fn caller() -> Option<String> {
        let own = mapped_at((caller as *const c_void).addr())?.base;
        let mut addresses = [ptr::null_mut(); 64];
        // SAFETY: the array has room for that many addresses.
        let count = unsafe { backtrace(addresses.as_mut_ptr(), addresses.len() as c_int) };
        let frames = addresses.iter().take(usize::try_from(count).unwrap_or(0));
        let caller = frames.filter_map(|code| mapped_at(code.addr())).find(|mapped| mapped.base != own)?.file;
        let is_system = caller.file_name().is_some_and(|name| name.as_bytes().starts_with(b"libc.so"));
        (!is_system).then(|| caller.display().to_string())
    }

    #[cfg(not(target_env = "gnu"))]
    pub(super) fn caller() -> Option<String> {
        None
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod loaded {
    pub(super) fn stay() {}

    pub(super) fn caller() -> Option<String> {
        None
    }
}
