//! Host memory as an argument of a call, which copies it to the device and back.

use std::marker::PhantomData;

use cuprum_sys::CUdeviceptr;

use super::signature::{Argument, In, InOut, Parameter};
use crate::context::Current;
use crate::memory::{
    Buffer, DeviceData, HostOwner, MemoryError, PinnedBuffer, PinnedMut, Registered, SliceMut, same_length,
};
use crate::stream::{Lent, Scope};

/// Host elements that a kernel reads: copied to the device before it runs. For a parameter [`In`].
///
/// Accepts slices, arrays, vectors, and page-locked memory.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::launch::{HostIn, HostInOut};
/// use cuprum::{In, InOut, LaunchConfig, Module, Stream};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
/// let (x, mut y) = ([1.0f32; 1000], vec![2.0f32; 1000]);
/// let (stream, config) = (Stream::new(&cx)?, LaunchConfig::for_elements(x.len(), 256));
/// // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
/// unsafe { saxpy.call(&cx, &stream, config, (1000u32, 3f32, HostIn(&x), HostInOut(&mut y))) }?;
/// assert_eq!(y, [5.0; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "one reference")]
pub struct HostIn<'a, M: HostElements + ?Sized>(pub &'a M);

/// Host elements that a kernel writes: copied back after it has run. For a parameter [`InOut`].
///
/// The device memory has unspecified contents. Elements that are not written are also copied back.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::launch::{HostIn, HostOut};
/// use cuprum::{In, InOut, LaunchConfig, Module, Stream};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/vector_add.ptx")?)?;
/// type Add = (In<f32>, In<f32>, InOut<f32>, u32);
/// let add = module.function("vector_add")?.bind::<Add>()?;
/// let (a, b, mut sums) = ([1.0f32; 100], [2.0f32; 100], [0.0f32; 100]);
/// let (stream, config) = (Stream::new(&cx)?, LaunchConfig::for_elements(a.len(), 256));
/// // SAFETY: vector_add(a, b, out, n) writes n elements of `out`, and reads n of the others.
/// unsafe { add.call(&cx, &stream, config, (HostIn(&a), HostIn(&b), HostOut(&mut sums), 100u32)) }?;
/// assert_eq!(sums, [3.0; 100]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "one reference")]
pub struct HostOut<'a, M: HostElements + ?Sized>(pub &'a mut M);

/// Host elements that a kernel changes: copied to the device before it runs, and back afterwards.
/// For a parameter [`InOut`].
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::launch::{HostIn, HostInOut};
/// use cuprum::{In, InOut, LaunchConfig, Module, Stream};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
/// let (stream, mut y) = (Stream::new(&cx)?, [1.0f32, 2.0]);
/// // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
/// unsafe { saxpy.call(&cx, &stream, LaunchConfig::new(1, 2), (2, 3.0, HostIn(&[1.0; 2]), HostInOut(&mut y))) }?;
/// assert_eq!(y, [4.0, 5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "one reference")]
pub struct HostInOut<'a, M: HostElements + ?Sized>(pub &'a mut M);

/// Host memory that a call copies to the device and back. The host waits for copies of slices,
/// arrays and vectors. The stream copies page-locked memory ([`PinnedBuffer`], [`Registered`])
/// asynchronously.
///
/// ```
/// use cuprum::launch::{HostElements, HostIn};
///
/// /// Accepts all inputs of a call: slices, arrays, vectors, page-locked memory.
/// fn input<M: HostElements + ?Sized>(elements: &M) -> HostIn<'_, M> {
///     HostIn(elements)
/// }
///
/// input(&vec![1.0f32, 2.0]);
/// input(&[1u8, 2, 3][..2]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no elements that a call could copy to the device",
    note = "slices, arrays, vectors, `PinnedBuffer` and `Registered` have, of plain data"
)]
pub trait HostElements: sealed::HostElements {}

impl<M: sealed::HostElements + ?Sized> HostElements for M {}

pub(super) mod sealed {
    use super::{DeviceData, Lent, MemoryError, Scope, SliceMut};

    pub trait HostElements {
        type Element: DeviceData;
        /// The work after the kernel.
        type Back<'scope>: Back<'scope>
        where
            Self: 'scope;

        fn elements(&self) -> Result<&[Self::Element], MemoryError>;

        /// With `in_too`, also queues the copy to the device.
        fn back<'scope>(
            &'scope mut self,
            lent: Lent<'scope, SliceMut<'scope, Self::Element>>,
            scope: &Scope<'scope, '_>,
            in_too: bool,
        ) -> Result<Self::Back<'scope>, MemoryError>;
    }

    pub trait Back<'scope> {
        fn copy(self, scope: &Scope<'scope, '_>) -> Result<(), MemoryError>;
    }

    /// A value for a parameter in a call.
    pub trait CallArgument<P> {
        type Staged<'ctx>: Staged;
        /// Allocates device memory for the value.
        fn stage<'ctx>(self, cx: &super::Current<'_, 'ctx>) -> Result<Self::Staged<'ctx>, MemoryError>;
    }

    /// The value, with its device memory.
    pub trait Staged {
        type Raw: Copy;
        type Back<'scope>: Back<'scope>
        where
            Self: 'scope;

        /// Queues the copy to the device. Returns the kernel argument and the copy back.
        fn queue<'scope>(
            &'scope mut self,
            scope: &Scope<'scope, '_>,
        ) -> Result<(Self::Raw, Self::Back<'scope>), MemoryError>;
    }
}

use sealed::{Back, Staged};

impl<'scope> Back<'scope> for () {
    fn copy(self, _: &Scope<'scope, '_>) -> Result<(), MemoryError> {
        Ok(())
    }
}

/// A copy back that the host waits for. Until then the stream may read the elements.
#[derive(Debug)]
pub struct BackToSlice<'scope, T: DeviceData> {
    lent: Lent<'scope, SliceMut<'scope, T>>,
    host: *mut T,
    _elements: PhantomData<&'scope mut [T]>,
}

impl<'scope, T: DeviceData> Back<'scope> for BackToSlice<'scope, T> {
    fn copy(self, scope: &Scope<'scope, '_>) -> Result<(), MemoryError> {
        // SAFETY: as many elements as were lent, borrowed mutably for the scope.
        unsafe { scope.read_to(self.host, &self.lent) }
    }
}

/// An asynchronous copy back.
#[derive(Debug)]
pub struct BackToLocked<'scope, T: DeviceData>(
    Lent<'scope, SliceMut<'scope, T>>,
    Lent<'scope, PinnedMut<'scope, T>>,
);

impl<'scope, T: DeviceData> Back<'scope> for BackToLocked<'scope, T> {
    fn copy(self, scope: &Scope<'scope, '_>) -> Result<(), MemoryError> {
        scope.copy(&self.1, &self.0)
    }
}

fn back_to_slice<'scope, T: DeviceData>(
    host: &'scope mut [T],
    lent: Lent<'scope, SliceMut<'scope, T>>,
    scope: &Scope<'scope, '_>,
    in_too: bool,
) -> Result<BackToSlice<'scope, T>, MemoryError> {
    same_length(lent.len(), host.len())?;
    let host = host.as_mut_ptr();
    if in_too {
        // SAFETY: as many elements, borrowed mutably; only `copy`, which waits first, writes them.
        unsafe { scope.copy_from(&lent, host) }?;
    }
    Ok(BackToSlice { lent, host, _elements: PhantomData })
}

/// Pageable memory, and memory that is not known to be page-locked.
macro_rules! slices {
    ($([$($generic:tt)*] $ty:ty;)*) => { $(
        impl<T: DeviceData, $($generic)*> sealed::HostElements for $ty {
            type Element = T;
            type Back<'scope> = BackToSlice<'scope, T> where Self: 'scope;

            fn elements(&self) -> Result<&[T], MemoryError> {
                Ok(self)
            }

            fn back<'scope>(
                &'scope mut self,
                lent: Lent<'scope, SliceMut<'scope, T>>,
                scope: &Scope<'scope, '_>,
                in_too: bool,
            ) -> Result<Self::Back<'scope>, MemoryError> {
                back_to_slice(self, lent, scope, in_too)
            }
        }
    )* };
}

slices! {
    [] [T];
    [const N: usize] [T; N];
    [] Vec<T>;
    [] Box<[T]>;
}

/// Page-locked memory, lent as a whole, so that the host loses access if a wait fails.
macro_rules! locked {
    ($([$($generic:tt)*] $ty:ty: $element:ty;)*) => { $(
        impl<$($generic)*> sealed::HostElements for $ty {
            type Element = $element;
            type Back<'scope> = BackToLocked<'scope, $element> where Self: 'scope;

            fn elements(&self) -> Result<&[$element], MemoryError> {
                if self.is_lost() { Err(MemoryError::Lost) } else { Ok(self) }
            }

            fn back<'scope>(
                &'scope mut self,
                lent: Lent<'scope, SliceMut<'scope, $element>>,
                scope: &Scope<'scope, '_>,
                in_too: bool,
            ) -> Result<Self::Back<'scope>, MemoryError> {
                let host = scope.lend(self)?;
                if in_too {
                    scope.copy(&lent, &host)?;
                }
                Ok(BackToLocked(lent, host))
            }
        }
    )* };
}

locked! {
    [T: DeviceData] PinnedBuffer<'_, T>: T;
    [O: HostOwner] Registered<'_, O>: O::Element;
}

/// A value that is already on the device, or is passed by value.
#[derive(Debug)]
pub struct Ready<R>(R);

impl<P: Parameter, A: Argument<P>> sealed::CallArgument<P> for A {
    type Staged<'ctx> = Ready<A::Raw>;

    fn stage<'ctx>(self, _: &Current<'_, 'ctx>) -> Result<Ready<A::Raw>, MemoryError> {
        Ok(Ready(self.into_raw()))
    }
}

impl<R: Copy> Staged for Ready<R> {
    type Raw = R;
    type Back<'scope>
        = ()
    where
        Self: 'scope;

    fn queue<'scope>(&'scope mut self, _: &Scope<'scope, '_>) -> Result<(R, ()), MemoryError> {
        Ok((self.0, ()))
    }
}

/// Elements that the kernel reads, with their device memory.
#[derive(Debug)]
pub struct StagedIn<'ctx, 'a, T: DeviceData>(Buffer<'ctx, T>, &'a [T]);

impl<'a, T: DeviceData, M: HostElements<Element = T> + ?Sized> sealed::CallArgument<In<T>> for HostIn<'a, M> {
    type Staged<'ctx> = StagedIn<'ctx, 'a, T>;

    fn stage<'ctx>(self, cx: &Current<'_, 'ctx>) -> Result<Self::Staged<'ctx>, MemoryError> {
        let elements = self.0.elements()?;
        Ok(StagedIn(Buffer::alloc(cx, elements.len())?, elements))
    }
}

impl<T: DeviceData> Staged for StagedIn<'_, '_, T> {
    type Raw = CUdeviceptr;
    type Back<'scope>
        = ()
    where
        Self: 'scope;

    fn queue<'scope>(&'scope mut self, scope: &Scope<'scope, '_>) -> Result<(CUdeviceptr, ()), MemoryError> {
        let lent = scope.lend_fresh(self.0.as_mut_slice())?;
        scope.copy(&lent, self.1)?;
        Ok((lent.as_raw(), ()))
    }
}

/// Elements that the kernel writes, with their device memory.
#[derive(Debug)]
pub struct StagedOut<'ctx, 'a, M: HostElements + ?Sized> {
    room: Buffer<'ctx, M::Element>,
    host: &'a mut M,
    in_too: bool,
}

impl<'ctx, 'a, M: HostElements + ?Sized> StagedOut<'ctx, 'a, M> {
    fn new(cx: &Current<'_, 'ctx>, host: &'a mut M, in_too: bool) -> Result<Self, MemoryError> {
        Ok(Self { room: Buffer::alloc(cx, host.elements()?.len())?, host, in_too })
    }
}

impl<M: HostElements + ?Sized> Staged for StagedOut<'_, '_, M> {
    type Raw = CUdeviceptr;
    type Back<'scope>
        = M::Back<'scope>
    where
        Self: 'scope;

    fn queue<'scope>(
        &'scope mut self,
        scope: &Scope<'scope, '_>,
    ) -> Result<(CUdeviceptr, Self::Back<'scope>), MemoryError> {
        let lent = scope.lend_fresh(self.room.as_mut_slice())?;
        Ok((lent.as_raw(), self.host.back(lent, scope, self.in_too)?))
    }
}

/// The wrappers of outputs, and whether they are also copied to the device.
macro_rules! written {
    ($($wrapper:ident: $in_too:literal;)*) => { $(
        impl<'a, T: DeviceData, M: HostElements<Element = T> + ?Sized> sealed::CallArgument<InOut<T>>
            for $wrapper<'a, M>
        {
            type Staged<'ctx> = StagedOut<'ctx, 'a, M>;

            fn stage<'ctx>(self, cx: &Current<'_, 'ctx>) -> Result<Self::Staged<'ctx>, MemoryError> {
                StagedOut::new(cx, self.0, $in_too)
            }
        }
    )* };
}

written! {
    HostOut: false;
    HostInOut: true;
}
