//! Copies with attributes, and several copies by one call, on the stream of a scope.

use cuprum_sys::{
    CUDA_MEMCPY3D_BATCH_OP, CUdeviceptr, CUmemcpyAttributes, CUmemcpyFlags, CUmemcpySrcAccessOrder,
};

use super::batch::Batch;
use super::copy::LentSource;
use super::place::LentTarget;
use super::queue::{apart, unified};
use super::{Lent, Scope};
use crate::memory::locked::Pinned;
use crate::memory::place::kind::Kind;
use crate::memory::side::{DeviceRows, HostRows, InArray, Side, batch_operation};
use crate::memory::{Device, DeviceData, MemoryError, bytes_of, copy, same_length};
use crate::raw::debug::debug;
use crate::raw::seal::Key;

/// Attributes of a copy.
///
/// ```
/// use cuprum::stream::CopyAttributes;
/// use cuprum::sys::CUmemcpySrcAccessOrder;
///
/// // The copy reads its source before the call returns.
/// let source_order = CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
/// let attributes = CopyAttributes { source_order, ..CopyAttributes::default() }; // for `Copies::add`
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "written as a change of another, which goes on compiling with a new field"
)]
pub struct CopyAttributes {
    /// Time at which a copy may read its source: in stream order, during the call, or at any time
    /// until it is complete. In the last case it may read old elements if the stream writes the
    /// source before the copy.
    pub source_order: CUmemcpySrcAccessOrder,
    /// Additional hints to the driver.
    pub flags: CUmemcpyFlags,
}

impl Default for CopyAttributes {
    /// Reads the source in stream order, like all other copies.
    fn default() -> Self {
        let source_order = CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        Self { source_order, flags: CUmemcpyFlags::CU_MEMCPY_FLAG_DEFAULT }
    }
}

impl CopyAttributes {
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

/// A copy in a batch. It is `pub` only because a hidden method returns it.
#[derive(Debug)]
#[non_exhaustive]
pub enum One {
    /// Copies this many bytes from the second address to the first.
    Line(CUdeviceptr, CUdeviceptr, usize),
    /// Rows and slices.
    Block(CUDA_MEMCPY3D_BATCH_OP),
}

/// Kinds of places to which a scope can copy from `S` with attributes, or in a batch.
#[diagnostic::on_unimplemented(
    message = "a scope does not copy with attributes from a place of the kind `{S}` to one of the kind `{Self}`",
    label = "these two do not go together",
    note = "linear memory of the device and page-locked memory go together, and rows, arrays and blocks of the host"
)]
pub trait Describes<S: Kind>: Kind {
    /// Returns the copy, or `None` if there is nothing to copy.
    #[doc(hidden)]
    fn describe<T: DeviceData>(
        to: Self::View<'_, T>,
        from: S::View<'_, T>,
        key: Key,
    ) -> Result<Option<One>, MemoryError>;
}

fn line<T: DeviceData>(
    (to, to_len): (CUdeviceptr, usize),
    (from, from_len): (CUdeviceptr, usize),
) -> Result<Option<One>, MemoryError> {
    same_length(to_len, from_len)?;
    let bytes = bytes_of::<T>(to_len)?;
    apart(to, from, bytes)?;
    Ok((bytes != 0).then_some(One::Line(to, from, bytes)))
}

macro_rules! describes {
    ($($to:ident from $from:ident: |$dst:ident, $src:ident| $copy:expr;)+) => { $(
        impl Describes<$from> for $to {
            fn describe<T: DeviceData>(
                $dst: <$to as Kind>::View<'_, T>,
                $src: <$from as Kind>::View<'_, T>,
                _: Key,
            ) -> Result<Option<One>, MemoryError> {
                $copy
            }
        }
    )+ };
}

describes! {
    Device from Device: |to, from| line::<T>((to.as_raw(), to.len()), (from.as_raw(), from.len()));
    Device from Pinned: |to, from| line::<T>((to.as_raw(), to.len()), (unified(from), from.len()));
    Pinned from Device: |to, from| line::<T>((unified(to), to.len()), (from.as_raw(), from.len()));
}

fn block(to: &Side<'_>, from: &Side<'_>) -> Result<Option<One>, MemoryError> {
    if to.is_at(from) { Err(MemoryError::Overlap) } else { Ok(batch_operation(to, from)?.map(One::Block)) }
}

macro_rules! blocks {
    ($($to:ident from $($from:ident)+;)+) => { $( $(
        describes! { $to from $from: |to, from| block(&to, &from); }
    )+ )+ };
}

blocks! {
    DeviceRows from HostRows DeviceRows InArray;
    InArray from HostRows DeviceRows InArray;
}

/// Copies that one call queues without an order, made of loans and queued by [`Scope::copy_all`].
///
/// Elements that several copies write have the contents of any of them, or a mix.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::{Copies, CopyAttributes};
/// use cuprum::{Buffer, Stream};
///
/// let stream = Stream::new(&cx)?;
/// let mut buffer = Buffer::from_slice(&cx, &[1u32, 2, 0, 0])?;
/// # if !driver.library().has(cuprum::sys::FnId::cuMemcpyBatchAsync_v2) { return Ok(()); }
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend(&mut buffer)?;
///     let (part, plain) = (|range| lent.slice(range).expect("part of it"), CopyAttributes::default());
///     let mut copies = Copies::default();
///     copies.add(&part(2..3), &part(1..2), plain)?.add(&part(3..4), &part(0..1), plain)?;
///     Ok(scope.copy_all(&mut copies)?)
/// })?;
/// assert_eq!(buffer.to_vec(&cx)?, [1, 2, 2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Copies<'scope> {
    to: Vec<CUdeviceptr>,
    from: Vec<CUdeviceptr>,
    bytes: Vec<usize>,
    /// Attributes of copies of linear memory, with the index of the first copy of each.
    attributes: Vec<CUmemcpyAttributes>,
    first: Vec<usize>,
    blocks: Batch<'scope, CUDA_MEMCPY3D_BATCH_OP>,
}

impl<'scope> Copies<'scope> {
    /// Adds a copy between loans of linear memory, one of which may be page-locked host memory, or
    /// a copy to rows or an array from rows, an array or a [`HostBlock`](crate::memory::HostBlock).
    ///
    /// # Errors
    /// [`MemoryError::Length`] or [`MemoryError::Extent`] if the sizes differ;
    /// [`MemoryError::Overlap`] if the sides share elements; [`MemoryError::OtherStream`];
    /// `CUDA_ERROR_INVALID_VALUE` from an array to rows whose pitch is not a whole number of
    /// elements.
    pub fn add<D, S>(
        &mut self,
        dst: &Lent<'scope, D>,
        src: S,
        attributes: CopyAttributes,
    ) -> Result<&mut Self, MemoryError>
    where
        D: LentTarget,
        S: LentSource<'scope, D::Element>,
        D::Kind: Describes<S::Kind>,
    {
        let stream = dst.stream();
        self.blocks.accept(&[stream, src.stream(Key::new()).unwrap_or(stream)])?;
        match describe(dst, &src)? {
            None => {}
            Some(One::Block(block)) => self.blocks.list.push(attributes.on(block)),
            Some(One::Line(to, from, bytes)) => {
                let attributes = attributes.raw();
                if self.attributes.last().is_none_or(|last| !same(last, &attributes)) {
                    self.attributes.push(attributes);
                    self.first.push(self.bytes.len());
                }
                self.to.push(to);
                self.from.push(from);
                self.bytes.push(bytes);
            }
        }
        Ok(self)
    }
}

fn describe<'scope, D, S>(dst: &Lent<'scope, D>, src: &S) -> Result<Option<One>, MemoryError>
where
    D: LentTarget,
    S: LentSource<'scope, D::Element>,
    D::Kind: Describes<S::Kind>,
{
    let (to, from) = (dst.view().as_source(Key::new()), src.place(Key::new()));
    <D::Kind as Describes<S::Kind>>::describe::<D::Element>(to, from, Key::new())
}

fn same(one: &CUmemcpyAttributes, other: &CUmemcpyAttributes) -> bool {
    (one.srcAccessOrder, one.flags) == (other.srcAccessOrder, other.flags)
}

impl<'scope> Scope<'scope, '_> {
    /// Queues copies without an order, after earlier work of the stream: copies of linear memory by
    /// one call, and copies of rows and arrays by another. Makes no call for an empty list. The
    /// host does not wait.
    ///
    /// # Errors
    /// [`MemoryError::OtherStream`] for loans of another stream; `CUDA_ERROR_INVALID_VALUE` on the
    /// default stream, which the driver refuses;
    /// [`Error::UNRESOLVED`](crate::Error::UNRESOLVED) on drivers before CUDA 13.0. After an
    /// error some of the copies may be queued.
    ///
    /// Driver: `cuMemcpyBatchAsync_v2`, CUDA 13.0+, and `cuMemcpy3DBatchAsync_v2`, CUDA 13.0+.
    #[doc(alias("cuMemcpyBatchAsync_v2", "cuMemcpy3DBatchAsync_v2"))]
    #[inline]
    pub fn copy_all(&self, copies: &mut Copies<'scope>) -> Result<(), MemoryError> {
        let (context, stream) = (self.token().get()?, self.stream());
        copies.blocks.check(stream)?;
        let (places, attributes) =
            ([&mut copies.to[..], &mut copies.from[..]], (&mut copies.attributes[..], &mut copies.first[..]));
        // SAFETY: all sides are lent to a scope that waits for this stream. If the wait fails, the
        // scope makes the host side inaccessible. Any bytes are an element.
        unsafe { copy::several_on(&context, stream, places, &mut copies.bytes, attributes) }?;
        // SAFETY: all sides have room for their strides, and are lent to or borrowed for a scope
        // that waits for this stream; no destination is on the host.
        unsafe { copy::blocks_on(&context, stream, &mut copies.blocks.list) }?;
        Ok(())
    }

    /// Same as [`copy`](Scope::copy), with attributes, between places that [`Copies::add`] accepts.
    ///
    /// # Errors
    /// Same as [`Copies::add`]; `CUDA_ERROR_INVALID_VALUE` on the default stream, which the driver
    /// refuses; [`Error::UNRESOLVED`](crate::Error::UNRESOLVED) on drivers before CUDA 13.2.
    ///
    /// Driver: `cuMemcpyWithAttributesAsync`, CUDA 13.2+, or `cuMemcpy3DWithAttributesAsync`,
    /// CUDA 13.2+, for rows and arrays.
    #[doc(alias("cuMemcpyWithAttributesAsync", "cuMemcpy3DWithAttributesAsync"))]
    pub fn copy_with<D, S>(
        &self,
        dst: &Lent<'scope, D>,
        src: S,
        attributes: CopyAttributes,
    ) -> Result<(), MemoryError>
    where
        D: LentTarget,
        S: LentSource<'scope, D::Element>,
        D::Kind: Describes<S::Kind>,
    {
        let context = self.token().get()?;
        let on = self.on(&context, dst.stream(), src.stream(Key::new()))?;
        match describe(dst, &src)? {
            None => {}
            Some(One::Line(to, from, bytes)) => {
                // SAFETY: both sides have `bytes` bytes and are lent to a scope that waits for this
                // stream; any bytes are an element.
                unsafe {
                    copy::with_attributes_on(on.context, on.stream, to, from, bytes, attributes.raw())
                }?;
            }
            Some(One::Block(block)) => {
                // SAFETY: both sides have room for their strides, and are lent to or borrowed for a
                // scope that waits for this stream; the destination is on the device.
                unsafe { copy::block_with_attributes_on(on.context, on.stream, attributes.on(block)) }?;
            }
        }
        Ok(())
    }
}

debug!(Copies<'_>: |this| "{}", this.bytes.len() + this.blocks.list.len());
