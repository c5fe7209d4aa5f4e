//! The few functions of NCCL that `15_nccl` calls: found at run time, and given cuprum's raw handles.

use std::error::Error;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr;

use cuprum::sys::{CUdeviceptr, CUstream};
use cuprum::{Buffer, Current, Stream};

/// Names the library; nothing else is tried then.
pub(crate) const VARIABLE: &str = "CUPRUM_NCCL";

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

type Handle = *mut c_void;

/// What the members of a group have in common. One of them makes it, the others are told.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct UniqueId(pub(crate) [u8; 128]);

const FLOAT32: c_int = 7;
const SUM: c_int = 0;

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) -> $answer:ty;)*) => {
        /// The functions of one library.
        #[allow(non_snake_case, reason = "NCCL's names")]
        struct Functions { $($name: unsafe extern "C" fn($($argument),*) -> $answer),* }

        impl Functions {
            /// # Safety
            /// The library is NCCL 2, and is never unloaded.
            unsafe fn load(library: &libloading::Library) -> Result<Self> {
                // SAFETY: the types are those of NCCL 2; the pointers are as good as the library.
                Ok(Self { $($name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }?),* })
            }
        }
    };
}

functions! {
    ncclGetVersion: fn(*mut c_int) -> c_int;
    ncclGetErrorString: fn(c_int) -> *const c_char;
    ncclGetUniqueId: fn(*mut UniqueId) -> c_int;
    ncclCommInitAll: fn(*mut Handle, c_int, *const c_int) -> c_int;
    ncclCommInitRank: fn(*mut Handle, c_int, UniqueId, c_int) -> c_int;
    ncclCommDestroy: fn(Handle) -> c_int;
    // Addresses of the device are `void*` there, and a stream is the driver's.
    ncclAllReduce: fn(CUdeviceptr, CUdeviceptr, usize, c_int, c_int, Handle, CUstream) -> c_int;
    ncclGroupStart: fn() -> c_int;
    ncclGroupEnd: fn() -> c_int;
}

pub(crate) struct Nccl {
    functions: Functions,
    pub(crate) path: PathBuf,
}

impl Nccl {
    /// `CUPRUM_NCCL` alone, if set; else what the system's loader finds, and the wheel of the first `python3`.
    pub(crate) fn open() -> Result<Self> {
        let name = "libnccl.so.2";
        let paths = match std::env::var_os(VARIABLE) {
            Some(path) => vec![PathBuf::from(path)],
            None => [PathBuf::from(name)].into_iter().chain(wheel().map(|lib| lib.join(name))).collect(),
        };
        let mut refusals = Vec::new();
        for path in paths {
            // SAFETY: whoever starts a process decides what its loader loads.
            match unsafe { libloading::Library::new(&path) } {
                // It has threads and what they use: it stays.
                Ok(library) => {
                    let library = Box::leak(Box::new(library));
                    // SAFETY: as above; it is never unloaded.
                    return Ok(Self { functions: unsafe { Functions::load(library) }?, path });
                }
                Err(error) => refusals.push(error.to_string()),
            }
        }
        Err(refusals.join("; ").into())
    }

    fn check(&self, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the function takes any code.
        let text = unsafe { (self.functions.ncclGetErrorString)(code) };
        // SAFETY: the texts are static.
        let text = unsafe { CStr::from_ptr(text) };
        Err(format!("NCCL: {} ({code})", text.to_string_lossy()).into())
    }

    pub(crate) fn version(&self) -> Result<c_int> {
        let mut version = 0;
        // SAFETY: the out-parameter outlives the call.
        self.check(unsafe { (self.functions.ncclGetVersion)(&raw mut version) })?;
        Ok(version)
    }

    pub(crate) fn unique_id(&self) -> Result<UniqueId> {
        let mut id = UniqueId([0; 128]);
        // SAFETY: the out-parameter outlives the call.
        self.check(unsafe { (self.functions.ncclGetUniqueId)(&raw mut id) })?;
        Ok(id)
    }

    /// One member for each of the first `N` devices. NCCL finds their primary contexts; one of them is current.
    pub(crate) fn all<const N: usize>(&self, _current: &Current<'_, '_>) -> Result<[Member<'_>; N]> {
        let mut handles = [ptr::null_mut(); N];
        // SAFETY: room for `N` handles; without a list it takes the devices 0 to `N`.
        self.check(unsafe {
            (self.functions.ncclCommInitAll)(handles.as_mut_ptr(), N as c_int, ptr::null())
        })?;
        Ok(handles.map(|handle| Member { nccl: self, handle }))
    }

    /// Member number `rank` of `ranks`, on the device whose primary context is current. Waits for the others.
    pub(crate) fn join(
        &self,
        _current: &Current<'_, '_>,
        id: UniqueId,
        ranks: c_int,
        rank: c_int,
    ) -> Result<Member<'_>> {
        let mut handle = ptr::null_mut();
        // SAFETY: the out-parameter outlives the call.
        self.check(unsafe { (self.functions.ncclCommInitRank)(&raw mut handle, ranks, id, rank) })?;
        Ok(Member { nccl: self, handle })
    }

    /// Starts together what `calls` calls: one thread that serves several members must say so.
    pub(crate) fn group(&self, calls: impl FnOnce() -> Result<()>) -> Result<()> {
        // SAFETY: it has no arguments.
        self.check(unsafe { (self.functions.ncclGroupStart)() })?;
        let called = calls();
        // SAFETY: the group was started.
        self.check(unsafe { (self.functions.ncclGroupEnd)() })?;
        called
    }
}

/// A communicator: one device of a group.
pub(crate) struct Member<'nccl> {
    nccl: &'nccl Nccl,
    handle: Handle,
}

impl Member<'_> {
    /// Queues the sum over all members of their `send`, into everybody's `receive`.
    ///
    /// # Safety
    /// 1. Buffers and stream are of this member's device, and live until the stream was waited for.
    /// 2. Nobody writes `send` or uses `receive` before that.
    pub(crate) unsafe fn all_reduce(
        &self,
        send: &Buffer<'_, f32>,
        receive: &mut Buffer<'_, f32>,
        stream: &Stream<'_>,
    ) -> Result<()> {
        assert_eq!(send.len(), receive.len());
        let (from, to, stream) = (send.as_raw(), receive.as_raw(), stream.as_raw());
        // SAFETY: both have as many floats; the rest is the caller's word.
        self.nccl.check(unsafe {
            (self.nccl.functions.ncclAllReduce)(from, to, send.len(), FLOAT32, SUM, self.handle, stream)
        })
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is live, and nobody uses it again. An error could not be told.
        unsafe { (self.nccl.functions.ncclCommDestroy)(self.handle) };
    }
}

/// Where pip puts `nvidia-nccl-cu12` and `nvidia-nccl-cu13`, which PyTorch brings along.
fn wheel() -> Option<PathBuf> {
    let script = "import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])";
    let output = Command::new("python3").args(["-c", script]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(PathBuf::from(path.trim_end()).join("lib"))
}
