//! Runs OpenCL C kernels on PoCL, which compiles them for this processor, limited to one thread.
//!
//! The binding is minimal and releases nothing: the objects live as long as the benchmark.

use super::contest::{Arg, Contest};
use super::{Absent, fetched};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

const SOURCE: &str = include_str!("kernels.cl");

/// A platform, device, context, queue, program, kernel or buffer.
type Object = *mut c_void;

macro_rules! functions {
    ($($name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty;)*) => {
        #[allow(non_snake_case, reason = "the names are OpenCL's")]
        #[derive(Clone, Copy)]
        struct Functions {
            $($name: unsafe extern "C" fn($($arg: $ty),*) -> $out,)*
        }

        impl Functions {
            fn load(library: &Library) -> Result<Functions, libloading::Error> {
                Ok(Functions {
                    // SAFETY: the function of this name has this type in every OpenCL from 1.2 on.
                    $($name: unsafe {
                        *library.get::<unsafe extern "C" fn($($ty),*) -> $out>(
                            concat!(stringify!($name), "\0").as_bytes(),
                        )?
                    },)*
                })
            }
        }
    };
}

functions! {
    clGetPlatformIDs(entries: u32, platforms: *mut Object, count: *mut u32) -> i32;
    clGetDeviceIDs(platform: Object, kind: u64, entries: u32, devices: *mut Object, count: *mut u32) -> i32;
    clGetDeviceInfo(device: Object, what: u32, bytes: usize, value: *mut c_void, size: *mut usize) -> i32;
    clCreateContext(properties: *const isize, devices: u32, device: *const Object, notify: *const c_void,
        data: *mut c_void, error: *mut i32) -> Object;
    clCreateCommandQueue(context: Object, device: Object, properties: u64, error: *mut i32) -> Object;
    clCreateProgramWithSource(context: Object, count: u32, texts: *const *const c_char, lengths: *const usize,
        error: *mut i32) -> Object;
    clBuildProgram(program: Object, devices: u32, device: *const Object, options: *const c_char,
        notify: *const c_void, data: *mut c_void) -> i32;
    clGetProgramBuildInfo(program: Object, device: Object, what: u32, bytes: usize, value: *mut c_void,
        size: *mut usize) -> i32;
    clCreateKernel(program: Object, name: *const c_char, error: *mut i32) -> Object;
    clCreateBuffer(context: Object, flags: u64, bytes: usize, host: *const c_void, error: *mut i32) -> Object;
    clSetKernelArg(kernel: Object, index: u32, bytes: usize, value: *const c_void) -> i32;
    clEnqueueNDRangeKernel(queue: Object, kernel: Object, dimensions: u32, offset: *const usize,
        global: *const usize, local: *const usize, waits: u32, wait: *const Object, event: *mut Object) -> i32;
    clEnqueueReadBuffer(queue: Object, buffer: Object, blocking: u32, offset: usize, bytes: usize,
        host: *mut c_void, waits: u32, wait: *const Object, event: *mut Object) -> i32;
    clFinish(queue: Object) -> i32;
}

/// Panics if OpenCL returned an error. Once PoCL is available, an error is a bug here.
fn succeeded(call: &str, code: i32) {
    assert_eq!(code, 0, "OpenCL: {call} answers {code}");
}

pub(crate) struct Pocl {
    cl: Functions,
    context: Object,
    queue: Object,
    program: Object,
    pub(crate) version: String,
}

impl Pocl {
    /// Loads PoCL as `fetch.sh` has downloaded it. No other thread of this process may run yet.
    pub(crate) fn open() -> Result<Pocl, Absent> {
        let folder = fetched("pocl").ok_or(Absent::NotFetched)?;
        let settings = [
            ("OCL_ICD_VENDORS", folder.join("pocl.icd").into_os_string()),
            ("POCL_CACHE_DIR", folder.join("compiled").into_os_string()),
            ("POCL_DEVICES", "pthread".into()),
            ("POCL_MAX_PTHREAD_COUNT", "1".into()),
        ];
        for (name, value) in settings {
            // SAFETY: the caller guarantees that no other thread reads the environment now.
            unsafe { std::env::set_var(name, value) };
        }
        let library = load_in_order(&folder).map_err(Absent::Broken)?;
        let cl = Functions::load(&library).map_err(|error| Absent::Broken(error.to_string()))?;
        std::mem::forget(library);
        Ok(Pocl::start(cl))
    }

    fn start(cl: Functions) -> Pocl {
        const ANY_DEVICE: u64 = 0xffff_ffff;
        const DRIVER_VERSION: u32 = 0x102d;
        const BUILD_LOG: u32 = 0x1183;
        let (mut platform, mut device, mut error) = (null_mut(), null_mut(), 0);
        // SAFETY: there is room for one platform.
        let code = unsafe { (cl.clGetPlatformIDs)(1, &mut platform, null_mut()) };
        succeeded("clGetPlatformIDs", code);
        // SAFETY: OpenCL returned the platform, and there is room for one device.
        let code = unsafe { (cl.clGetDeviceIDs)(platform, ANY_DEVICE, 1, &mut device, null_mut()) };
        succeeded("clGetDeviceIDs", code);
        let version = text(|bytes, value| {
            // SAFETY: the device is live, and `value` has room for that many bytes.
            unsafe { (cl.clGetDeviceInfo)(device, DRIVER_VERSION, bytes, value, null_mut()) }
        });
        // SAFETY: no properties, one live device, no callback.
        let context = unsafe { (cl.clCreateContext)(null(), 1, &device, null(), null_mut(), &mut error) };
        succeeded("clCreateContext", error);
        // SAFETY: context and device are live and belong together.
        let queue = unsafe { (cl.clCreateCommandQueue)(context, device, 0, &mut error) };
        succeeded("clCreateCommandQueue", error);
        let (source, length) = (SOURCE.as_ptr().cast(), SOURCE.len());
        // SAFETY: one text of that length, which is copied.
        let program = unsafe { (cl.clCreateProgramWithSource)(context, 1, &source, &length, &mut error) };
        succeeded("clCreateProgramWithSource", error);
        // SAFETY: program and device are live; the options are NUL-terminated; the call waits.
        let code =
            unsafe { (cl.clBuildProgram)(program, 1, &device, c"-Werror".as_ptr(), null(), null_mut()) };
        let log = text(|bytes, value| {
            // SAFETY: program and device are live, and `value` has room for that many bytes.
            unsafe { (cl.clGetProgramBuildInfo)(program, device, BUILD_LOG, bytes, value, null_mut()) }
        });
        assert_eq!(code, 0, "kernels.cl: {log}");
        Pocl { cl, context, queue, program, version }
    }

    /// Launches the kernel once and checks the results. `None` if there is no such kernel in
    /// OpenCL.
    pub(crate) fn prepare(&self, kernel: &str, contest: &Contest) -> Option<Prepared> {
        if !SOURCE.contains(&format!("kernel void {kernel}(")) {
            return None;
        }
        let mut error = 0;
        let name = CString::new(kernel).unwrap();
        // SAFETY: the program is built, and the name is NUL-terminated.
        let kernel = unsafe { (self.cl.clCreateKernel)(self.program, name.as_ptr(), &mut error) };
        succeeded("clCreateKernel", error);
        let mut buffers = Vec::new();
        for (index, arg) in contest.args.iter().enumerate() {
            match arg {
                Arg::Word(word) => self.set(kernel, index, word),
                Arg::Wide(word) => self.set(kernel, index, word),
                Arg::Apart(_) | Arg::Linked(..) => return None,
                Arg::Buffer(words) => {
                    let buffer = self.buffer(words);
                    self.set(kernel, index, &buffer);
                    buffers.push((buffer, words.len()));
                }
            }
        }
        let local = [contest.block.0 as usize, contest.block.1 as usize];
        let global = [contest.grid.0 as usize * local[0], contest.grid.1 as usize * local[1]];
        let prepared = Prepared { cl: self.cl, queue: self.queue, kernel, global, local };
        prepared.launch();
        let results: Vec<_> = buffers.iter().map(|(buffer, words)| self.read(*buffer, *words)).collect();
        (contest.check)(&results);
        Some(prepared)
    }

    fn set<T>(&self, kernel: Object, index: usize, value: &T) {
        let (bytes, value) = (size_of::<T>(), std::ptr::from_ref(value).cast());
        // SAFETY: the kernel is live; it checks the number of bytes and copies them.
        let code = unsafe { (self.cl.clSetKernelArg)(kernel, index as u32, bytes, value) };
        succeeded("clSetKernelArg", code);
    }

    fn buffer(&self, words: &[u32]) -> Object {
        const READ_WRITE_AND_COPY: u64 = 1 << 0 | 1 << 5;
        let mut error = 0;
        let (bytes, host) = (size_of_val(words), words.as_ptr().cast());
        // SAFETY: that many bytes are readable there, and they are copied.
        let buffer =
            unsafe { (self.cl.clCreateBuffer)(self.context, READ_WRITE_AND_COPY, bytes, host, &mut error) };
        succeeded("clCreateBuffer", error);
        buffer
    }

    fn read(&self, buffer: Object, words: usize) -> Vec<u32> {
        let mut values = vec![0u32; words];
        let (bytes, host) = (4 * words, values.as_mut_ptr().cast());
        // SAFETY: buffer and vector have that many bytes, and the call waits.
        let code = unsafe {
            (self.cl.clEnqueueReadBuffer)(self.queue, buffer, 1, 0, bytes, host, 0, null(), null_mut())
        };
        succeeded("clEnqueueReadBuffer", code);
        values
    }
}

/// A kernel ready for repeated launches.
pub(crate) struct Prepared {
    cl: Functions,
    queue: Object,
    kernel: Object,
    global: [usize; 2],
    local: [usize; 2],
}

impl Prepared {
    pub(crate) fn launch(&self) {
        let (global, local) = (self.global.as_ptr(), self.local.as_ptr());
        // SAFETY: the kernel has all its arguments, and both sizes have two dimensions.
        let code = unsafe {
            (self.cl.clEnqueueNDRangeKernel)(
                self.queue,
                self.kernel,
                2,
                null(),
                global,
                local,
                0,
                null(),
                null_mut(),
            )
        };
        succeeded("clEnqueueNDRangeKernel", code);
        // SAFETY: the queue is live.
        let code = unsafe { (self.cl.clFinish)(self.queue) };
        succeeded("clFinish", code);
    }
}

/// Loads the libraries that PoCL needs, then the one that finds PoCL, which it returns.
fn load_in_order(folder: &Path) -> Result<Library, String> {
    let list = folder.join("libraries");
    let list = std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let mut last = None;
    for name in list.lines() {
        // SAFETY: these are Debian's libraries, whose initialization has no requirements.
        let library = unsafe { Library::new(folder.join(name)) }.map_err(|error| error.to_string())?;
        std::mem::forget(last.replace(library));
    }
    last.ok_or_else(|| "no libraries".into())
}

fn text(ask: impl FnOnce(usize, *mut c_void) -> i32) -> String {
    let mut bytes = vec![0u8; 1 << 16];
    succeeded("a question", ask(bytes.len() - 1, bytes.as_mut_ptr().cast()));
    CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().into_owned()
}
