//! Launches with arguments known only at run time.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use cuprum_sys::{
    CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END, CUtensorMap, FnId,
};

use super::block::Block;
use super::naive::naive;
use super::{Queue, Region, RegionError, SharedFunction};
use crate::context::{ContextRef, Current, context_call};
use crate::launch::{LaunchConfig, Mismatch};
use crate::texture::{Surface, TensorElement, TensorMap, TensorMemory, Texture};

/// An argument of a launch with arguments known at run time. Numbers, regions and bytes convert.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::region::{Arg, Pool, SharedFunction};
/// use cuprum::context::PrimaryContext;
/// use cuprum::{LaunchConfig, Module};
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let sums = context.enter(|cx| {
///     let pool = Pool::new(cx);
///     let queue = pool.queue(cx)?;
///     // saxpy(unsigned n, float alpha, const float* x, float* y)
///     let module = Module::load_ptx(cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?.share();
///     let saxpy: SharedFunction = pool.function(&module, "saxpy")?;
///     assert_eq!(saxpy.parameters(), [(0, 4), (4, 4), (8, 8), (16, 8)]);
///
///     let (x, y) = (queue.alloc(cx, 4000)?, queue.alloc(cx, 4000)?);
///     queue.fill(cx, &x, 1.0f32)?;
///     queue.fill(cx, &y, 2.0f32)?;
///     let arguments = [Arg::U32(1000), Arg::F32(3.0), Arg::Region(&x), Arg::Region(&y)];
///     let config = LaunchConfig::for_elements(1000, 256);
///     // SAFETY: saxpy touches 1000 floats of each region.
///     unsafe { queue.launch(cx, &saxpy, config, &arguments, &[]) }?;
///     let read = queue.read(cx, &y, pool.pinned(cx, 4000)?)?.wait()?;
///     Ok(read.elements::<f32>().expect("floats").to_vec())
/// })?;
/// assert_eq!(sums, [5.0; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "a number is a number")]
pub enum Arg<'a> {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F32(f32),
    F64(f64),
    /// The address of the first byte of a region.
    Region(&'a Region),
    /// A struct, an array or another value passed by value, as its bytes in the kernel.
    Bytes(&'a [u8]),
    /// A texture object.
    Texture(&'a Texture<'a>),
    /// A surface object.
    Surface(&'a Surface<'a>),
    /// A tensor map, and the region described by it.
    TensorMap(&'a TensorMap<'a>, &'a Region),
}

impl<'a> Arg<'a> {
    /// The region that the kernel accesses through the argument.
    #[inline]
    const fn region(&self) -> Option<&'a Region> {
        match self {
            Self::Region(region) | Self::TensorMap(_, region) => Some(region),
            _ => None,
        }
    }

    #[inline]
    fn with_bytes<R>(&self, take: impl FnOnce(&[u8]) -> R) -> R {
        match *self {
            Self::U8(value) => take(&value.to_ne_bytes()),
            Self::I8(value) => take(&value.to_ne_bytes()),
            Self::U16(value) => take(&value.to_ne_bytes()),
            Self::I16(value) => take(&value.to_ne_bytes()),
            Self::U32(value) => take(&value.to_ne_bytes()),
            Self::I32(value) => take(&value.to_ne_bytes()),
            Self::U64(value) => take(&value.to_ne_bytes()),
            Self::I64(value) => take(&value.to_ne_bytes()),
            Self::F32(value) => take(&value.to_ne_bytes()),
            Self::F64(value) => take(&value.to_ne_bytes()),
            Self::Region(region) => take(&region.as_raw().to_ne_bytes()),
            Self::Bytes(bytes) => take(bytes),
            Self::Texture(texture) => take(&texture.as_raw().to_ne_bytes()),
            Self::Surface(surface) => take(&surface.as_raw().to_ne_bytes()),
            Self::TensorMap(map, _) => {
                let start = ptr::from_ref(map.as_raw()).cast::<u8>();
                // SAFETY: a tensor map is 128 bytes of numbers without padding, borrowed here.
                take(unsafe { std::slice::from_raw_parts(start, size_of::<CUtensorMap>()) })
            }
        }
    }
}

macro_rules! numbers {
    ($($number:ty => $variant:ident)*) => { $(
        impl From<$number> for Arg<'_> {
            fn from(value: $number) -> Self {
                Self::$variant(value)
            }
        }
    )* };
}

numbers! { u8 => U8 i8 => I8 u16 => U16 i16 => I16 u32 => U32 i32 => I32 u64 => U64 i64 => I64 f32 => F32 f64 => F64 }

impl<'a> From<&'a Region> for Arg<'a> {
    fn from(region: &'a Region) -> Self {
        Self::Region(region)
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, T: TensorElement> TensorMemory<'a, T> for &'a Region {
    fn place(&self) -> (u64, usize) {
        (self.as_raw(), self.len())
    }

    fn bytes(&self, _element_bytes: usize) -> u64 {
        self.len() as u64
    }

    fn context(&self) -> Option<&ContextRef> {
        Some(Region::context(self))
    }
}

/// Maximum number of argument bytes that are packed without an allocation.
const PACKED: usize = 512;

/// Arguments in the kernel's form, at their offsets.
#[repr(align(64))]
struct Packed([MaybeUninit<u8>; PACKED]);

impl Queue {
    /// Queues a kernel. The arguments are compared with its parameters in number and size, and
    /// passed at their offsets. The host does not wait. A later call reports a fault.
    ///
    /// Notes the regions among the arguments, and the regions in `also`, whose addresses the kernel
    /// gets in another way.
    ///
    /// # Errors
    /// [`RegionError::Arguments`]; [`RegionError::Launch`] for a geometry beyond the limits;
    /// [`RegionError::NotOrdered`]; [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT);
    /// `CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES`.
    ///
    /// # Safety
    /// The kernel is foreign code, and the caller is responsible for it:
    /// 1. The arguments have the same meaning here and in the kernel.
    /// 2. It accesses only memory that it may: the regions among the arguments and in `also` within
    ///    their bytes, and other memory whose addresses it receives. Queues and marks order every
    ///    conflicting access.
    /// 3. Objects that are not regions live until the kernel or, in a recording, the replays have
    ///    finished: textures, surfaces, the arrays under them, and memory of other owners.
    ///
    /// Driver: `cuLaunchKernel`, CUDA 4.0+.
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn launch(
        &self,
        cx: &Current<'_, '_>,
        function: &SharedFunction,
        config: LaunchConfig,
        arguments: &[Arg<'_>],
        also: &[&Region],
    ) -> Result<(), RegionError> {
        function.check(config)?;
        if arguments.len() != function.parameters().len() {
            return Err(function.other_count(arguments.len()).into());
        }
        let (bytes, mut here) = (function.bytes(), Packed([const { MaybeUninit::uninit() }; PACKED]));
        if bytes <= PACKED {
            pack(function, arguments, &mut here.0)?;
            // SAFETY: duties 1 to 3; the arguments are packed at their offsets.
            return unsafe {
                self.launch_packed(cx, function, config, here.0.as_mut_ptr().cast(), (arguments, also))
            };
        }
        let mut there = vec![MaybeUninit::<u8>::uninit(); bytes];
        pack(function, arguments, &mut there)?;
        // SAFETY: as above.
        unsafe { self.launch_packed(cx, function, config, there.as_mut_ptr().cast(), (arguments, also)) }
    }

    /// # Safety
    /// Same as [`launch`](Queue::launch); the arguments are packed at their offsets from `packed`
    /// on.
    #[inline]
    unsafe fn launch_packed(
        &self,
        cx: &Current<'_, '_>,
        function: &SharedFunction,
        config: LaunchConfig,
        packed: *mut c_void,
        (arguments, also): (&[Arg<'_>], &[&Region]),
    ) -> Result<(), RegionError> {
        const CALL: FnId = FnId::cuLaunchKernel;
        let mut bytes = function.bytes();
        let mut extra = [
            CU_LAUNCH_PARAM_BUFFER_POINTER,
            packed,
            CU_LAUNCH_PARAM_BUFFER_SIZE,
            (&raw mut bytes).cast(),
            CU_LAUNCH_PARAM_END,
        ];
        let extra = if bytes == 0 { ptr::null_mut() } else { extra.as_mut_ptr() };
        let regions = arguments.iter().filter_map(Arg::region).chain(also.iter().copied()).map(Region::block);
        let code = Some(function.block()).filter(|_| !naive("kernel"));
        let check = |block: &Block| block.check_context(self.core(), CALL);
        let LaunchConfig { grid, block, shared_bytes } = config;
        let function = function.function().as_raw();
        self.operate_on(cx, CALL, regions.chain(code), check, |context, stream| {
            // SAFETY: function and stream are live and of the current context, and the arguments
            // outlive the call; the caller guarantees the kernel.
            unsafe {
                context_call!(
                    context,
                    cuLaunchKernel(
                        function,
                        grid.x,
                        grid.y,
                        grid.z,
                        block.x,
                        block.y,
                        block.z,
                        shared_bytes,
                        stream,
                        ptr::null_mut(),
                        extra,
                    )
                )
            }
        })
    }
}

/// Writes the arguments at the parameters' offsets, to a buffer that is large enough.
#[inline]
fn pack(
    function: &SharedFunction,
    arguments: &[Arg<'_>],
    to: &mut [MaybeUninit<u8>],
) -> Result<(), Mismatch> {
    for (index, (argument, &(offset, size))) in arguments.iter().zip(function.parameters()).enumerate() {
        argument.with_bytes(|bytes| {
            let place = to.get_mut(offset..offset + size).filter(|place| place.len() == bytes.len());
            let Some(place) = place else {
                return Err(Mismatch::Size { index, kernel: size, signature: bytes.len() });
            };
            for (to, from) in place.iter_mut().zip(bytes) {
                to.write(*from);
            }
            Ok(())
        })?;
    }
    Ok(())
}
