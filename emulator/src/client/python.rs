//! The lines of Python that the calling thread executes.
//!
//! They come from the process's own interpreter, by functions of its stable ABI.

use crate::report::Frame;

/// Returns the frames of the calling thread, the innermost first; `None` if it does not run Python.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn frames(most: usize) -> Option<Vec<Frame>> {
    abi::frames(most).filter(|frames| !frames.is_empty())
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn frames(_most: usize) -> Option<Vec<Frame>> {
    None
}

#[cfg(all(target_os = "linux", not(miri)))]
mod abi {
    use core::ffi::{CStr, c_char, c_int, c_void};
    use core::ptr::NonNull;
    use std::sync::OnceLock;

    use crate::report::Frame;

    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    fn find(name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: a NUL-terminated name; null searches this process.
        NonNull::new(unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) })
    }

    /// A Python object, frame or thread. Never dereferenced here.
    type Object = *mut c_void;

    /// Declares functions of the interpreter: one field each, looked up by name.
    macro_rules! interpreter {
        ($($name:ident: $type:ty),* $(,)?) => {
            #[allow(non_snake_case, reason = "the names are Python's")]
            #[derive(Debug, Clone, Copy)]
            struct Interpreter {
                $($name: $type,)*
                /// Its name begins with an underscore before Python 3.13.
                is_finalizing: unsafe extern "C" fn() -> c_int,
            }

            impl Interpreter {
                fn load() -> Option<Self> {
                    const NAMES: [&CStr; 2] = [c"Py_IsFinalizing", c"_Py_IsFinalizing"];
                    let finalizing = NAMES.iter().find_map(|name| find(name))?;
                    Some(Self {
                        $($name: {
                            let address = find(const {
                                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                                    Ok(name) => name,
                                    Err(_) => panic!("a name has no NUL in it"),
                                }
                            })?;
                            // SAFETY: Python documents this signature for this function.
                            unsafe { core::mem::transmute::<NonNull<c_void>, $type>(address) }
                        },)*
                        // SAFETY: as above.
                        is_finalizing: unsafe {
                            core::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn() -> c_int>(finalizing)
                        },
                    })
                }
            }
        };
    }

    interpreter! {
        Py_IsInitialized: unsafe extern "C" fn() -> c_int,
        PyGILState_GetThisThreadState: unsafe extern "C" fn() -> Object,
        PyGILState_Ensure: unsafe extern "C" fn() -> c_int,
        PyGILState_Release: unsafe extern "C" fn(c_int),
        PyErr_Occurred: unsafe extern "C" fn() -> Object,
        PyErr_Clear: unsafe extern "C" fn(),
        PyEval_GetFrame: unsafe extern "C" fn() -> Object,
        PyFrame_GetBack: unsafe extern "C" fn(Object) -> Object,
        PyFrame_GetCode: unsafe extern "C" fn(Object) -> Object,
        PyFrame_GetLineNumber: unsafe extern "C" fn(Object) -> c_int,
        PyObject_GetAttrString: unsafe extern "C" fn(Object, *const c_char) -> Object,
        PyUnicode_AsUTF8AndSize: unsafe extern "C" fn(Object, *mut isize) -> *const c_char,
        Py_IncRef: unsafe extern "C" fn(Object),
        Py_DecRef: unsafe extern "C" fn(Object),
    }

    /// Returns the interpreter of the process, unless loaded after the first call.
    fn interpreter() -> Option<&'static Interpreter> {
        static INTERPRETER: OnceLock<Option<Interpreter>> = OnceLock::new();
        INTERPRETER.get_or_init(Interpreter::load).as_ref()
    }

    /// The interpreter's lock, held by this thread until dropped.
    struct Locked {
        python: &'static Interpreter,
        state: c_int,
    }

    impl Drop for Locked {
        fn drop(&mut self) {
            // SAFETY: matches the `PyGILState_Ensure` of this thread that created the value.
            unsafe { (self.python.PyGILState_Release)(self.state) };
        }
    }

    impl Locked {
        /// Takes the lock if the thread runs Python, which is not ending or handling an error.
        fn new() -> Option<Self> {
            let python = interpreter()?;
            // SAFETY: callable at any time, from any thread.
            let is_up = unsafe { (python.Py_IsInitialized)() } != 0;
            // SAFETY: as above.
            let is_ending = unsafe { (python.is_finalizing)() } != 0;
            // An interpreter that shuts down ends or blocks this thread.
            if !is_up || is_ending {
                return None;
            }
            // SAFETY: the interpreter is initialized; null for a thread without Python.
            if unsafe { (python.PyGILState_GetThisThreadState)() }.is_null() {
                return None;
            }
            // SAFETY: the interpreter is initialized and not ending, and the caller holds no lock
            // that a Python thread waits for.
            let locked = Self { python, state: unsafe { (python.PyGILState_Ensure)() } };
            // SAFETY: the lock is held.
            let in_error = !unsafe { (python.PyErr_Occurred)() }.is_null();
            (!in_error).then_some(locked)
        }

        /// Owns an object that Python returned. For null, returns `None` and clears the error.
        fn own(&self, object: Object) -> Option<Owned<'_>> {
            if object.is_null() {
                // SAFETY: the lock is held, and no error was set before this call.
                unsafe { (self.python.PyErr_Clear)() };
                return None;
            }
            Some(Owned { locked: self, object })
        }

        fn innermost(&self) -> Option<Owned<'_>> {
            // SAFETY: the lock is held; the reference is borrowed from the thread.
            let frame = unsafe { (self.python.PyEval_GetFrame)() };
            let frame = NonNull::new(frame)?.as_ptr();
            // SAFETY: the frame is live because this thread runs in it; the lock is held.
            unsafe { (self.python.Py_IncRef)(frame) };
            self.own(frame)
        }
    }

    struct Owned<'a> {
        locked: &'a Locked,
        object: Object,
    }

    impl Drop for Owned<'_> {
        fn drop(&mut self) {
            // SAFETY: releases the reference that this value owns; the lock outlives it.
            unsafe { (self.locked.python.Py_DecRef)(self.object) };
        }
    }

    impl<'a> Owned<'a> {
        fn text(&self, name: &CStr) -> Option<String> {
            let python = self.locked.python;
            // SAFETY: a live object and a NUL-terminated name; the lock is held.
            let attribute = unsafe { (python.PyObject_GetAttrString)(self.object, name.as_ptr()) };
            let attribute = self.locked.own(attribute)?;
            let mut length = 0;
            // SAFETY: a live object and a valid output; returns null for anything but a string.
            let text = unsafe { (python.PyUnicode_AsUTF8AndSize)(attribute.object, &mut length) };
            if text.is_null() {
                // SAFETY: the lock is held, and this call set the error.
                unsafe { (python.PyErr_Clear)() };
                return None;
            }
            // SAFETY: Python's text has this length and lives as long as the object.
            let bytes =
                unsafe { core::slice::from_raw_parts(text.cast::<u8>(), usize::try_from(length).ok()?) };
            Some(String::from_utf8_lossy(bytes).into_owned())
        }

        /// Returns the function, file and line of a frame.
        fn describe(&self) -> Option<Frame> {
            let python = self.locked.python;
            // SAFETY: a live frame, and the lock is held.
            let code = self.locked.own(unsafe { (python.PyFrame_GetCode)(self.object) })?;
            // SAFETY: as above.
            let line = unsafe { (python.PyFrame_GetLineNumber)(self.object) };
            let mut frame = Frame::new(&code.text(c"co_name")?);
            frame.file = code.text(c"co_filename");
            frame.line = u32::try_from(line).unwrap_or(0);
            Some(frame)
        }

        fn outer(&self) -> Option<Owned<'a>> {
            // SAFETY: a live frame, and the lock is held.
            let outer = unsafe { (self.locked.python.PyFrame_GetBack)(self.object) };
            (!outer.is_null()).then_some(Owned { locked: self.locked, object: outer })
        }
    }

    pub(super) fn frames(most: usize) -> Option<Vec<Frame>> {
        let locked = Locked::new()?;
        let mut frames = Vec::new();
        let mut next = locked.innermost();
        while let Some(frame) = next.filter(|_| frames.len() < most) {
            frames.extend(frame.describe());
            next = frame.outer();
        }
        Some(frames)
    }
}
