//! Nodes that copy and fill memory.

use cuprum_sys::{CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUresult, FnId};

use super::capture::Capture;
use super::error::GraphError;
use super::graph::{Graph, add};
use super::kept::Kept;
use super::loan::sealed::Memory;
use super::loan::{Loan, Place};
use super::node::Node;
use super::set::{At, NodeSetter, set};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::launch::{In, InOut};
use crate::memory::copy::{self, Form, Rows};
use crate::memory::side::{Side, fitting};
use crate::memory::{
    DeviceData, Fill, MemoryError, Pattern, Pitched, PitchedMut, Strides, filled_rows, same_length,
};
use crate::stream::{Signals, StreamValue};

/// Memory that nodes copy to, from memory of the kind `S`:
///
/// | to | from |
/// |---|---|
/// | [`InOut<T>`](InOut) | [`In<T>`](In), [`InOut<T>`](InOut), `[T]`, [`Signals`] |
/// | [`PitchedMut`] | [`Pitched`], [`PitchedMut`], `[T]` |
/// | `[T]` | [`In<T>`](In), [`InOut<T>`](InOut), [`Pitched`], [`PitchedMut`] |
///
/// Host memory has the elements of rows without gaps.
///
/// Example: see [`GraphExec`].
#[diagnostic::on_unimplemented(
    message = "a node cannot copy from `Loan<{S}>` to `Loan<{Self}>`",
    label = "these two do not go together",
    note = "the destination is lent to be written (`InOut<T>`) or is host memory (`[T]`), both have the same elements, and one \
            side at least is on the device"
)]
pub trait NodeTarget<S: ?Sized>: Memory {}

impl<T: DeviceData> NodeTarget<In<T>> for InOut<T> {}
impl<T: DeviceData> NodeTarget<InOut<T>> for InOut<T> {}
impl<T: DeviceData> NodeTarget<[T]> for InOut<T> {}
impl<T: StreamValue> NodeTarget<Signals<'static, T>> for InOut<T> {}
impl<T: DeviceData> NodeTarget<Pitched<'static, T>> for PitchedMut<'static, T> {}
impl<T: DeviceData> NodeTarget<PitchedMut<'static, T>> for PitchedMut<'static, T> {}
impl<T: DeviceData> NodeTarget<[T]> for PitchedMut<'static, T> {}
impl<T: DeviceData> NodeTarget<In<T>> for [T] {}
impl<T: DeviceData> NodeTarget<InOut<T>> for [T] {}
impl<T: DeviceData> NodeTarget<Pitched<'static, T>> for [T] {}
impl<T: DeviceData> NodeTarget<PitchedMut<'static, T>> for [T] {}

/// Memory that nodes fill: [`InOut<T>`](InOut), and rows ([`PitchedMut`]).
///
/// Example: see [`Graph`].
#[diagnostic::on_unimplemented(
    message = "a node cannot fill `Loan<{Self}>`",
    label = "not device memory that was lent to be written",
    note = "lend a buffer as `&mut buffer`, or move it in"
)]
pub trait NodeFill: Memory<Element: Fill> {}

impl<T: Fill> NodeFill for InOut<T> {}
impl<T: Fill> NodeFill for PitchedMut<'static, T> {}

/// Returns one side of a copy, for a loan that `kept` contains.
fn side<'s, M: Memory + ?Sized>(
    kept: &Kept<'_>,
    loan: Loan<M>,
    strides: Strides,
    home: &'s ContextRef,
) -> Result<Side<'s>, GraphError> {
    if M::ON_HOST {
        return Ok(Side::host(kept.start(loan)?.cast_const(), strides));
    }
    Ok(Side::device::<M::Element>(loan.address, loan.aligned, strides, home))
}

/// Checks a copy between two loans and returns it. `keeper` finds the keeper of a loan.
fn between<'k, 'a: 'k, D: NodeTarget<S> + ?Sized, S: Memory + ?Sized>(
    keeper: impl Fn(Place) -> Result<&'k Kept<'a>, GraphError>,
    (to, from): (Loan<D>, Loan<S>),
    home: &ContextRef,
) -> Result<(CUDA_MEMCPY3D, Form), GraphError> {
    let keepers = (keeper(to.place)?, keeper(from.place)?);
    let (mut there, mut here) = (to.strides, from.strides);
    if D::ROWS != S::ROWS {
        // Describe the host elements as rows without gaps.
        let (rows, host) = if D::ROWS { (there, &mut here) } else { (here, &mut there) };
        let (count, len) = (rows.extent.len().unwrap_or(usize::MAX), host.extent.width);
        if D::ROWS { same_length(count, len) } else { same_length(len, count) }?;
        *host = Strides::dense::<D::Element>(rows.extent)?;
    } else if !D::ROWS {
        same_length(there.extent.width, here.extent.width)?;
    }
    let (there, here) = (side(keepers.0, to, there, home)?, side(keepers.1, from, here, home)?);
    let copy = fitting(&there, &here)?;
    let apart = to.address.abs_diff(from.address);
    // Two views of rows that overlap are the same view, because others cannot be lent together.
    let bytes = if D::ROWS { 1 } else { copy.0.WidthInBytes as CUdeviceptr };
    if !D::ON_HOST && !S::ON_HOST && apart < bytes {
        return Err(MemoryError::Overlap.into());
    }
    Ok(copy)
}

fn pattern<T: Fill>(value: T) -> Pattern {
    value.pattern()
}

/// Describes a fill for the driver. Its width is 0 if there are no elements.
fn filling<M: NodeFill>(
    memory: Loan<M>,
    value: M::Element,
    call: FnId,
) -> Result<CUDA_MEMSET_NODE_PARAMS, GraphError> {
    let mut blocks = filled_rows(memory.address, &memory.strides, memory.strides.extent.width);
    let (first, second) = (blocks.next(), blocks.next());
    if second.is_some() {
        return Err(Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call).into());
    }
    let (value, element) = match pattern(value) {
        Pattern::Byte(byte) => (u32::from(byte), 1),
        Pattern::Half(half) => (u32::from(half), 2),
        Pattern::Word(word) => (word, 4),
    };
    let none = Rows { address: memory.address, pitch: 0, width: 0, height: 1 };
    let Rows { address, pitch, width, height } = first.unwrap_or(none);
    Ok(CUDA_MEMSET_NODE_PARAMS { dst: address, pitch, value, elementSize: element, width, height })
}

impl Graph<'_> {
    /// Adds a node that does nothing, to join edges.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddEmptyNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddEmptyNode")]
    #[inline]
    pub fn add_empty(&mut self, cx: &Current<'_, '_>, after: &[Node]) -> Result<Node, GraphError> {
        // SAFETY: graph and nodes are live; the list and the out-parameter outlive the call.
        unsafe { add!(self, cx, after, cuGraphAddEmptyNode()) }
    }

    /// Adds a node that sets every element to `value`. Adds an empty node if there are no elements.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_INVALID_VALUE` for slices
    /// whose rows are not adjacent; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddMemsetNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddMemsetNode")]
    pub fn add_fill<M: NodeFill>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        memory: Loan<M>,
        value: M::Element,
    ) -> Result<Node, GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphAddMemsetNode)?;
        self.kept.check(memory.place)?;
        let params = filling(memory, value, FnId::cuGraphAddMemsetNode)?;
        if params.width == 0 {
            return self.add_empty(cx, after);
        }
        let (params, raw) = (&raw const params, context.as_raw());
        // SAFETY: graph, nodes and context are live, lists and places outlive the call; the graph
        // has the memory as long as it can run, and any bytes are an element.
        unsafe { add!(self, cx, after, cuGraphAddMemsetNode(params, raw)) }
    }

    /// Adds a node that copies `src` to `dst`. At least one of them is on the device. Adds an empty
    /// node if there are no elements.
    ///
    /// # Errors
    /// [`MemoryError::Length`], [`MemoryError::Extent`] and [`MemoryError::Overlap`] in
    /// [`GraphError::Memory`]; [`GraphError::Foreign`]; [`GraphError::Removed`];
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddMemcpyNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddMemcpyNode")]
    pub fn add_copy<D: NodeTarget<S> + ?Sized, S: Memory + ?Sized>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        dst: Loan<D>,
        src: Loan<S>,
    ) -> Result<Node, GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphAddMemcpyNode)?;
        let (params, _) = between(|place| self.kept.checked(place), (dst, src), context)?;
        if params.WidthInBytes == 0 {
            return self.add_empty(cx, after);
        }
        let (params, raw) = (&raw const params, context.as_raw());
        // SAFETY: graph, nodes and context are live, lists and places outlive the call. The graph
        // has both sides as long as it can run. After a failed wait its host memory is never
        // accessed or freed again.
        unsafe { add!(self, cx, after, cuGraphAddMemcpyNode(params, raw)) }
    }
}

impl NodeSetter<'_, '_> {
    /// Changes the memory and the value of a fill node.
    ///
    /// # Errors
    /// Same as [`Graph::add_fill`]; `CUDA_ERROR_INVALID_VALUE` for a node of another kind;
    /// [`GraphError::Lost`] for an executable.
    ///
    /// Driver: `cuGraphMemsetNodeSetParams`, CUDA 10.0+, or `cuGraphExecMemsetNodeSetParams`,
    /// CUDA 10.2+.
    #[doc(alias("cuGraphMemsetNodeSetParams", "cuGraphExecMemsetNodeSetParams"))]
    pub fn fill<M: NodeFill>(self, memory: Loan<M>, value: M::Element) -> Result<(), GraphError> {
        let at = self.at(FnId::cuGraphMemsetNodeSetParams, FnId::cuGraphExecMemsetNodeSetParams)?;
        self.keeper(memory.place)?;
        let params = filling(memory, value, at.call)?;
        let (params, raw) = (&raw const params, at.context.as_raw());
        // SAFETY: graph, node and context are live. The graph has the memory as long as it can run,
        // and any bytes are an element.
        Ok(unsafe {
            set!(at, cuGraphMemsetNodeSetParams(params) or cuGraphExecMemsetNodeSetParams(params, raw))
        }?)
    }

    /// Changes the two sides of a copy node.
    ///
    /// # Errors
    /// Same as [`Graph::add_copy`]; `CUDA_ERROR_INVALID_VALUE` for a node of another kind; for an
    /// executable [`GraphError::Lost`], and `CUDA_ERROR_INVALID_VALUE` for memory of other kinds
    /// than before.
    ///
    /// Driver: `cuGraphMemcpyNodeSetParams`, CUDA 10.0+, or `cuGraphExecMemcpyNodeSetParams`,
    /// CUDA 10.2+.
    #[doc(alias("cuGraphMemcpyNodeSetParams", "cuGraphExecMemcpyNodeSetParams"))]
    pub fn copy<D: NodeTarget<S> + ?Sized, S: Memory + ?Sized>(
        self,
        dst: Loan<D>,
        src: Loan<S>,
    ) -> Result<(), GraphError> {
        let at = self.at(FnId::cuGraphMemcpyNodeSetParams, FnId::cuGraphExecMemcpyNodeSetParams)?;
        let (params, _) = between(|place| self.keeper(place), (dst, src), at.context)?;
        let (params, raw) = (&raw const params, at.context.as_raw());
        // SAFETY: as in `fill`, for both sides.
        Ok(unsafe {
            set!(at, cuGraphMemcpyNodeSetParams(params) or cuGraphExecMemcpyNodeSetParams(params, raw))
        }?)
    }
}

impl Capture<'_, '_, '_> {
    /// Adds a fill of every element with `value`. Adds nothing if there are no elements.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuMemsetD8Async`, `cuMemsetD16Async` or `cuMemsetD32Async`, CUDA 3.2+; for rows
    /// `cuMemsetD2D8Async`, `cuMemsetD2D16Async` or `cuMemsetD2D32Async`, CUDA 3.2+.
    #[doc(alias("cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async", "cuMemsetD2D8Async"))]
    #[doc(alias("cuMemsetD2D16Async", "cuMemsetD2D32Async"))]
    pub fn fill<M: NodeFill>(&self, memory: Loan<M>, value: M::Element) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuMemsetD32Async)?;
        self.shared.kept.borrow().check(memory.place)?;
        let (stream, pattern, width) = (self.as_raw(), pattern(value), memory.strides.extent.width);
        if !M::ROWS {
            // SAFETY: the graph has `width` elements of the pattern's size as long as it can run;
            // any bytes are an element.
            return Ok(unsafe { copy::fill_on(context, stream, memory.address, pattern, width) }?);
        }
        for rows in filled_rows(memory.address, &memory.strides, width) {
            // SAFETY: as above; rows begin where elements may.
            unsafe { copy::fill_rows_on(context, stream, rows, pattern) }?;
        }
        Ok(())
    }

    /// Adds a copy of `src` to `dst`, at least one of which is on the device. Adds nothing if there
    /// are no elements.
    ///
    /// # Errors
    /// Same as [`Graph::add_copy`]; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuMemcpyDtoDAsync_v2`, `cuMemcpyHtoDAsync_v2` or `cuMemcpyDtoHAsync_v2`, CUDA 3.2+;
    /// for rows `cuMemcpy2DAsync_v2` or `cuMemcpy3DAsync_v2`, CUDA 3.2+.
    #[doc(alias("cuMemcpyDtoDAsync_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"))]
    #[doc(alias("cuMemcpy2DAsync_v2", "cuMemcpy3DAsync_v2"))]
    pub fn copy<D: NodeTarget<S> + ?Sized, S: Memory + ?Sized>(
        &self,
        dst: Loan<D>,
        src: Loan<S>,
    ) -> Result<(), GraphError> {
        let (context, stream) = (self.ready(FnId::cuMemcpyDtoDAsync_v2)?, self.as_raw());
        let (block, form) = {
            let kept = self.shared.kept.borrow();
            between(|place| kept.checked(place), (dst, src), context)?
        };
        let (bytes, to, from) = (block.WidthInBytes, block.dstDevice, block.srcDevice);
        if D::ROWS || S::ROWS {
            // SAFETY: both sides have the rows of the block, and the graph has both as long as it
            // can run.
            unsafe { copy::block_on(context, stream, &block, form) }?;
        } else if S::ON_HOST {
            // SAFETY: as above, of `bytes` bytes.
            unsafe { copy::from_host_on(context, stream, to, block.srcHost, bytes) }?;
        } else if !D::ON_HOST {
            // SAFETY: as above.
            unsafe { copy::within_on(context, stream, to, from, bytes) }?;
        } else if bytes > 0 {
            // SAFETY: as above; after a failed wait the host side is never accessed or freed again.
            unsafe { context_call!(context, cuMemcpyDtoHAsync_v2(block.dstHost, from, bytes, stream)) }?;
        }
        Ok(())
    }
}
