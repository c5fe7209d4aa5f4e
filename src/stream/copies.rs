//! Copies with attributes, and several copies by one call, on the stream of a scope.

use std::fmt;

use cuprum_sys::{
    CUDA_MEMCPY3D_BATCH_OP, CUdeviceptr, CUmemcpyAttributes, CUmemcpyFlags, CUmemcpySrcAccessOrder, CUstream,
};

use super::batch::{Batch, batches, same_stream};
use super::{Lent, LentArray, LentHost, LentPitched, LentShared, LentSource, Scope};
use crate::memory::side::{Side, batch_operation};
use crate::memory::{DeviceData, MemoryError, Texel, bytes_of, copy, same_length};

/// How copies of a batch are made.
///
/// Example: that of [`Copies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyAttributes {
    /// When a copy may read its source: in the order of the stream, during the call, or at any time until it is done, which
    /// finds old elements if the stream writes the source before.
    pub source_order: CUmemcpySrcAccessOrder,
    /// What else the driver is asked for.
    pub flags: CUmemcpyFlags,
}

impl Default for CopyAttributes {
    /// In the order of the stream, as all other copies.
    fn default() -> Self {
        let source_order = CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        Self { source_order, flags: CUmemcpyFlags::CU_MEMCPY_FLAG_DEFAULT }
    }
}

impl CopyAttributes {
    /// The same, with another time at which the source may be read.
    pub const fn with_source_order(self, source_order: CUmemcpySrcAccessOrder) -> Self {
        Self { source_order, ..self }
    }

    /// The same, with other flags.
    pub const fn with_flags(self, flags: CUmemcpyFlags) -> Self {
        Self { flags, ..self }
    }

    fn raw(self) -> CUmemcpyAttributes {
        CUmemcpyAttributes {
            srcAccessOrder: self.source_order,
            flags: self.flags.0,
            ..CUmemcpyAttributes::zeroed()
        }
    }

    fn on(self, mut block: CUDA_MEMCPY3D_BATCH_OP) -> CUDA_MEMCPY3D_BATCH_OP {
        (block.srcAccessOrder, block.flags) = (self.source_order, self.flags.0);
        block
    }
}

/// True if two places, by their first addresses and bytes, have some bytes in common.
pub(super) const fn meet(one: (CUdeviceptr, usize), other: (CUdeviceptr, usize)) -> bool {
    one.0 < other.0 + other.1 as CUdeviceptr && other.0 < one.0 + one.1 as CUdeviceptr
}

/// Copies that one call queues, in no order among each other: made of loans, and queued by [`Scope::copy_all`].
///
/// Several that write the same elements leave any of their contents, or a mixture.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::stream::{Copies, CopyAttributes};
/// use cuprum::{Buffer, MemoryError, Stream};
///
/// let stream = Stream::new(&cx)?;
/// let mut buffer = Buffer::from_slice(&cx, &[1u32, 2, 0, 0])?;
/// # if !driver.library().has(cuprum::sys::FnId::cuMemcpyBatchAsync_v2) { return Ok(()); }
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend(buffer.as_mut_slice())?;
///     let part = |range| lent.slice(range).unwrap();
///     let mut copies = Copies::new();
///     copies.add(&part(2..3), &part(1..2))?.add(&part(3..4), &part(0..1))?;
///     scope.copy_all(&mut copies, CopyAttributes::default())
/// })??;
/// assert_eq!(buffer.to_vec(&cx)?, [1, 2, 2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Copies<'scope> {
    to: Vec<CUdeviceptr>,
    from: Vec<CUdeviceptr>,
    bytes: Batch<'scope, usize>,
}

impl<'scope> Copies<'scope> {
    fn push<T: DeviceData>(
        &mut self,
        (to, to_len, to_stream): (CUdeviceptr, usize, CUstream),
        (from, from_len, from_stream): (CUdeviceptr, usize, CUstream),
    ) -> Result<&mut Self, MemoryError> {
        same_length(to_len, from_len)?;
        let bytes = bytes_of::<T>(to_len)?;
        self.bytes.accept(&[to_stream, from_stream])?;
        if bytes == 0 {
            return Ok(self);
        }
        if meet((to, bytes), (from, bytes)) {
            return Err(MemoryError::Overlap);
        }
        self.to.push(to);
        self.from.push(from);
        self.bytes.list.push(bytes);
        Ok(self)
    }

    /// A copy within the device.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; [`MemoryError::Overlap`] if they have elements in common;
    /// [`MemoryError::OtherStream`].
    pub fn add<T: DeviceData>(
        &mut self,
        destination: &Lent<'scope, T>,
        source: impl Into<LentShared<'scope, T>>,
    ) -> Result<&mut Self, MemoryError> {
        let (to, from) = (destination.as_shared(), source.into());
        self.push::<T>((to.as_raw(), to.len(), to.stream()), (from.as_raw(), from.len(), from.stream()))
    }

    /// A copy from page-locked memory of the host to the device.
    ///
    /// # Errors
    /// Those of [`add`](Copies::add).
    pub fn add_from_host<T: DeviceData>(
        &mut self,
        destination: &Lent<'scope, T>,
        source: &LentHost<'scope, T>,
    ) -> Result<&mut Self, MemoryError> {
        let (to, from) = (destination.as_shared(), source.as_raw().addr() as CUdeviceptr);
        self.push::<T>((to.as_raw(), to.len(), to.stream()), (from, source.len(), source.stream()))
    }

    /// A copy from the device to page-locked memory of the host.
    ///
    /// # Errors
    /// Those of [`add`](Copies::add).
    pub fn add_to_host<T: DeviceData>(
        &mut self,
        destination: &LentHost<'scope, T>,
        source: impl Into<LentShared<'scope, T>>,
    ) -> Result<&mut Self, MemoryError> {
        let (to, from) = (destination.as_raw().addr() as CUdeviceptr, source.into());
        let to = (to, destination.len(), destination.stream());
        self.push::<T>(to, (from.as_raw(), from.len(), from.stream()))
    }
}

/// Copies of rows and slices that one call queues, in no order among each other: as [`Copies`].
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Stream;
/// use cuprum::memory::{HostBlock, PitchedBuffer};
/// use cuprum::stream::{BlockCopies, CopyAttributes};
///
/// let stream = Stream::new(&cx)?;
/// let mut picture = PitchedBuffer::<u8>::alloc(&cx, (4, 2))?;
/// # if !driver.library().has(cuprum::sys::FnId::cuMemcpy3DBatchAsync_v2) { return Ok(()); }
/// let input = [7; 8];
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend_pitched(picture.as_pitched_mut())?;
///     let mut copies = BlockCopies::new();
///     copies.add(&lent, HostBlock::new(&input, (4, 2))?, CopyAttributes::default())?;
///     scope.copy_all_blocks(&mut copies)
/// })??;
/// assert_eq!(picture.to_vec(&cx)?, input);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct BlockCopies<'scope> {
    batch: Batch<'scope, CUDA_MEMCPY3D_BATCH_OP>,
}

impl<'scope> BlockCopies<'scope> {
    fn push(
        &mut self,
        streams: [CUstream; 2],
        sides: [&Side<'_>; 2],
        attributes: CopyAttributes,
    ) -> Result<&mut Self, MemoryError> {
        self.batch.accept(&streams)?;
        let block = batch_operation(sides[0], sides[1])?;
        self.batch.list.extend(block.map(|block| attributes.on(block)));
        Ok(self)
    }

    /// A copy to rows of device memory.
    ///
    /// # Errors
    /// [`MemoryError::Extent`] unless both have one extent; [`MemoryError::OtherStream`]; [`MemoryError::Overlap`] from
    /// itself; `CUDA_ERROR_INVALID_VALUE` from an array to rows that are no number of elements apart.
    pub fn add<T: DeviceData>(
        &mut self,
        destination: &LentPitched<'scope, T>,
        source: impl LentSource<'scope, T>,
        attributes: CopyAttributes,
    ) -> Result<&mut Self, MemoryError> {
        let (token, stream) = destination.parts();
        let home = token.get()?;
        let (to, from) = (destination.as_side(&home), source.lent_side(&home));
        if to.is_at(&from) {
            return Err(MemoryError::Overlap);
        }
        self.push([stream, source.stream().unwrap_or(stream)], [&to, &from], attributes)
    }

    /// A copy to elements of an array.
    ///
    /// # Errors
    /// Those of [`add`](BlockCopies::add); [`MemoryError::Overlap`] for parts of one array with elements in common.
    pub fn add_to_array<T: Texel>(
        &mut self,
        destination: LentArray<'scope, T>,
        source: impl LentSource<'scope, T>,
        attributes: CopyAttributes,
    ) -> Result<&mut Self, MemoryError> {
        let (token, stream) = destination.parts();
        let home = token.get()?;
        let from = source.lent_side(&home);
        let streams = [stream, source.stream().unwrap_or(stream)];
        self.push(streams, [&destination.as_side(), &from], attributes)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Queues copies by one call, in no order among each other, behind what the stream did before. None need no call. The host
    /// does not wait.
    ///
    /// # Errors
    /// [`MemoryError::OtherStream`] for loans of another stream; `CUDA_ERROR_INVALID_VALUE` on the default stream, which
    /// takes none; [`Error::is_unresolved`](crate::Error::is_unresolved) on drivers before CUDA 13.0; the sticky errors of earlier work. Some of the copies
    /// may have been queued.
    ///
    /// Driver: `cuMemcpyBatchAsync_v2`, CUDA 13.0+.
    #[doc(alias = "cuMemcpyBatchAsync_v2")]
    #[inline]
    pub fn copy_all(
        &self,
        copies: &mut Copies<'scope>,
        attributes: CopyAttributes,
    ) -> Result<(), MemoryError> {
        let (stream, token) = self.parts();
        let context = token.get()?;
        copies.bytes.check(stream)?;
        let lists = [&mut copies.to[..], &mut copies.from[..]];
        // SAFETY: all sides are lent to a scope that waits for this stream, and that keeps the host side from everybody if
        // the wait fails; any bytes are an element.
        unsafe { copy::several_on(&context, stream, lists, &mut copies.bytes.list, attributes.raw()) }?;
        Ok(())
    }

    /// Queues copies of rows and slices by one call, as [`copy_all`](Scope::copy_all).
    ///
    /// # Errors
    /// Those of [`copy_all`](Scope::copy_all).
    ///
    /// Driver: `cuMemcpy3DBatchAsync_v2`, CUDA 13.0+.
    #[doc(alias = "cuMemcpy3DBatchAsync_v2")]
    #[inline]
    pub fn copy_all_blocks(&self, copies: &mut BlockCopies<'scope>) -> Result<(), MemoryError> {
        let (stream, token) = self.parts();
        let context = token.get()?;
        copies.batch.check(stream)?;
        // SAFETY: all sides have room for their strides, and are lent to, or borrowed for, a scope that waits for this
        // stream; no destination is on the host.
        unsafe { copy::blocks_on(&context, stream, &mut copies.batch.list) }?;
        Ok(())
    }
}

impl<'scope, T: DeviceData> Lent<'scope, T> {
    /// Like [`copy_from`](Lent::copy_from), with attributes.
    ///
    /// # Errors
    /// Those of [`copy_from`](Lent::copy_from), also [`MemoryError::Overlap`] from itself; `CUDA_ERROR_INVALID_VALUE` on the default
    /// stream, which takes none; [`Error::is_unresolved`](crate::Error::is_unresolved) on drivers before CUDA 13.2.
    ///
    /// Driver: `cuMemcpyWithAttributesAsync`, CUDA 13.2+.
    #[doc(alias = "cuMemcpyWithAttributesAsync")]
    pub fn copy_from_with(
        &self,
        source: impl Into<LentShared<'scope, T>>,
        attributes: CopyAttributes,
    ) -> Result<(), MemoryError> {
        let (to, from) = (self.as_shared(), source.into());
        same_length(to.len(), from.len())?;
        let bytes = bytes_of::<T>(to.len())?;
        let context = to.here()?;
        same_stream([to.stream(), from.stream()])?;
        if bytes != 0 && from.overlaps(to.as_raw(), bytes) {
            return Err(MemoryError::Overlap);
        }
        let (stream, attributes) = (to.stream(), attributes.raw());
        // SAFETY: both sides have `bytes` bytes and are lent to a scope that waits for this stream; any bytes are a `T`.
        unsafe { copy::with_attributes_on(&context, stream, to.as_raw(), from.as_raw(), bytes, attributes) }?;
        Ok(())
    }
}

impl<'scope, T: DeviceData> LentPitched<'scope, T> {
    /// Like [`copy_from`](LentPitched::copy_from), with attributes.
    ///
    /// # Errors
    /// Those of [`BlockCopies::add`]; `CUDA_ERROR_INVALID_VALUE` on the default stream, which takes none; [`Error::is_unresolved`](crate::Error::is_unresolved) on
    /// drivers before CUDA 13.2; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemcpy3DWithAttributesAsync`, CUDA 13.2+.
    #[doc(alias = "cuMemcpy3DWithAttributesAsync")]
    pub fn copy_from_with(
        &self,
        source: impl LentSource<'scope, T>,
        attributes: CopyAttributes,
    ) -> Result<(), MemoryError> {
        let mut one = BlockCopies::new();
        one.add(self, source, attributes)?;
        let (token, stream) = self.parts();
        let context = token.get()?;
        let Some(block) = one.batch.list.pop() else { return Ok(()) };
        // SAFETY: both sides have room for their strides, and are lent to, or borrowed for, a scope that waits for this
        // stream; the destination is on the device.
        unsafe { copy::block_with_attributes_on(&context, stream, block) }?;
        Ok(())
    }
}

batches! {
    Copies { bytes, to, from }, "Number of copies, without those of no bytes.";
    BlockCopies { batch }, "Number of copies, without those of no elements.";
}
