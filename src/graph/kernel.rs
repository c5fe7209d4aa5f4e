//! Kernel nodes.

use std::ffi::c_void;
use std::ptr;

use cuprum_sys::{
    CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1, CUfunction, CUkernelNodeAttrID,
    CUkernelNodeAttrValue, FnId,
};

use super::capture::Capture;
use super::error::GraphError;
use super::graph::Graph;
use super::lend::same_context;
use super::node::Node;
use super::set::{At, NodeSetter};
use crate::context::{Current, context_call};
#[cfg(doc)]
use crate::error::Error;
use crate::launch::{Arguments, Kernel, LaunchConfig, Signature};
use crate::raw::call::either_call;

/// Returns the parameters of a kernel node for the driver, with the caller's pointers.
fn params(function: CUfunction, config: LaunchConfig, pointers: *mut *mut c_void) -> CUDA_KERNEL_NODE_PARAMS {
    let LaunchConfig { grid, block, shared_bytes } = config;
    CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: grid.x,
        gridDimY: grid.y,
        gridDimZ: grid.z,
        blockDimX: block.x,
        blockDimY: block.y,
        blockDimZ: block.z,
        sharedMemBytes: shared_bytes,
        kernelParams: pointers,
        ..CUDA_KERNEL_NODE_PARAMS::zeroed()
    }
}

/// Runs `call` with the parameters of a kernel node, in the present form and in the form before
/// CUDA 12. There is one pointer for each parameter, to a value of its size. All pointers are valid
/// during the call.
pub(super) fn with_params<S: Signature, R>(
    function: CUfunction,
    config: LaunchConfig,
    arguments: impl Arguments<S>,
    call: impl FnOnce(*const CUDA_KERNEL_NODE_PARAMS, *const CUDA_KERNEL_NODE_PARAMS_v1) -> R,
) -> R {
    arguments.with_pointers(|pointers| {
        let new = params(function, config, pointers);
        let old = first_params(&new);
        call(&raw const new, &raw const old)
    })
}

/// Returns the form before CUDA 12.
fn first_params(new: &CUDA_KERNEL_NODE_PARAMS) -> CUDA_KERNEL_NODE_PARAMS_v1 {
    CUDA_KERNEL_NODE_PARAMS_v1 {
        func: new.func,
        gridDimX: new.gridDimX,
        gridDimY: new.gridDimY,
        gridDimZ: new.gridDimZ,
        blockDimX: new.blockDimX,
        blockDimY: new.blockDimY,
        blockDimZ: new.blockDimZ,
        sharedMemBytes: new.sharedMemBytes,
        kernelParams: new.kernelParams,
        extra: ptr::null_mut(),
    }
}

impl<'a> Graph<'a> {
    /// Adds a node that launches a kernel with copies of these arguments.
    ///
    /// Objects that the arguments borrow, such as a [`Texture`](crate::texture::Texture), stay
    /// borrowed as long as the graph and its executable exist. [Lend](Graph::lend) memory to the
    /// graph to access it between replays.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::graph::{Graph, InstantiateFlags};
    /// use cuprum::{Buffer, In, InOut, LaunchConfig, Module, Stream};
    ///
    /// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
    /// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    /// let mut graph = Graph::new(&cx)?;
    /// let x = graph.lend(Buffer::from_slice(&cx, &[1.0f32; 100])?)?;
    /// let y = graph.lend(Buffer::from_slice(&cx, &[2.0f32; 100])?)?;
    /// let config = LaunchConfig::for_elements(100, 64);
    /// // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; no other node touches them.
    /// unsafe { graph.add_kernel(&cx, &[], &saxpy, config, (100, 3.0, x, y)) }?;
    ///
    /// let mut exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
    /// exec.launch(&cx, &Stream::new(&cx)?)?;
    /// assert_eq!(exec.view(y)?.to_vec(&cx)?, [5.0; 100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::Launch`] for a geometry beyond the limits; [`GraphError::Foreign`];
    /// [`GraphError::Removed`]; [`Error::WRONG_CONTEXT`] for a kernel of another context.
    ///
    /// # Safety
    /// 1. The [duties of a launch](crate::launch#duties-of-a-launch) in each replay, with any
    ///    contents of memory that earlier replays left. The kernel does not write memory of a
    ///    [`Loan<In<T>>`](super::Loan).
    /// 2. Memory, textures and surfaces that are passed as numbers live as long as the graph and
    ///    its executable exist, and no other code touches them.
    /// 3. No node without a path of edges to or from this one conflicts with its accesses.
    ///
    /// Driver: `cuGraphAddKernelNode_v2`, CUDA 12.0+, or `cuGraphAddKernelNode`, CUDA 10.0+.
    #[doc(alias("cuGraphAddKernelNode_v2", "cuGraphAddKernelNode"))]
    pub unsafe fn add_kernel<S: Signature, A: Arguments<S> + 'a>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        kernel: &Kernel<'a, S>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<Node, GraphError> {
        const CALL: FnId = FnId::cuGraphAddKernelNode_v2;
        self.ready(cx, CALL)?;
        let function = self.accept_kernel(kernel, config)?;
        self.add(cx, after, CALL, |context, at| {
            with_params(function, config, arguments, |new, old| {
                let (node, graph, first, count) = (at.node, at.graph, at.after, at.count);
                // SAFETY: graph, nodes and kernel are live, lists and places outlive the call, and
                // there is one pointer for each parameter, to a value of its size; the caller is
                // responsible for the kernel.
                let answer = unsafe {
                    either_call!(context.library(), cuGraphAddKernelNode_v2(node, graph, first, count, new)
                        or cuGraphAddKernelNode(node, graph, first, count, old))
                };
                answer.map_err(|error| context.record(error))
            })
        })
    }

    /// Checks a kernel and keeps it.
    pub(super) fn accept_kernel<S: Signature>(
        &mut self,
        kernel: &Kernel<'a, S>,
        config: LaunchConfig,
    ) -> Result<CUfunction, GraphError> {
        let function = kernel.function();
        same_context(self.context(), function.context())?;
        kernel.check(config)?;
        let raw = function.as_raw();
        if let Some(share) = kernel.share() {
            self.kept.share(raw, share.erased());
        }
        Ok(raw)
    }

    /// Returns an attribute of a kernel node, such as its priority.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind, or an attribute that nodes do not
    /// have.
    ///
    /// Driver: `cuGraphKernelNodeGetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuGraphKernelNodeGetAttribute")]
    #[inline]
    pub fn kernel_attribute(
        &self,
        node: Node,
        attribute: CUkernelNodeAttrID,
    ) -> Result<CUkernelNodeAttrValue, GraphError> {
        let (node, mut value) = (self.nodes.raw(node)?, CUkernelNodeAttrValue::zeroed());
        // SAFETY: the node is live; the out-parameter outlives the call.
        unsafe {
            context_call!(self.context(), cuGraphKernelNodeGetAttribute(node, attribute, &raw mut value))
        }?;
        Ok(value)
    }

    /// Sets an attribute of a kernel node.
    ///
    /// # Errors
    /// Same as [`kernel_attribute`](Graph::kernel_attribute), also for an invalid value.
    ///
    /// # Safety
    /// The value is valid: its handles are live, and the kernel may run with it.
    ///
    /// Driver: `cuGraphKernelNodeSetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuGraphKernelNodeSetAttribute")]
    #[inline]
    pub unsafe fn set_kernel_attribute(
        &mut self,
        node: Node,
        attribute: CUkernelNodeAttrID,
        value: &CUkernelNodeAttrValue,
    ) -> Result<(), GraphError> {
        let node = self.nodes.raw(node)?;
        // SAFETY: the node is live; the caller is responsible for the value.
        Ok(unsafe { context_call!(self.context(), cuGraphKernelNodeSetAttribute(node, attribute, value)) }?)
    }
}

impl<'a> NodeSetter<'_, 'a> {
    /// Changes the launch of a kernel node.
    ///
    /// # Errors
    /// Same as [`Graph::add_kernel`]; `CUDA_ERROR_INVALID_VALUE` for a node of another kind; for an
    /// executable [`GraphError::Lost`], and an error for another kernel where the driver does not
    /// allow that.
    ///
    /// # Safety
    /// 1. The duties of [`Graph::add_kernel`].
    ///
    /// Driver: `cuGraphKernelNodeSetParams_v2`, CUDA 12.0+, or `cuGraphKernelNodeSetParams`,
    /// CUDA 10.0+; for an executable `cuGraphExecKernelNodeSetParams_v2`, CUDA 12.0+, or
    /// `cuGraphExecKernelNodeSetParams`, CUDA 10.1+.
    #[doc(alias("cuGraphKernelNodeSetParams_v2", "cuGraphKernelNodeSetParams"))]
    #[doc(alias("cuGraphExecKernelNodeSetParams_v2", "cuGraphExecKernelNodeSetParams"))]
    pub unsafe fn kernel<S: Signature, A: Arguments<S> + 'a>(
        mut self,
        kernel: &Kernel<'a, S>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<(), GraphError> {
        let At { context, exec, node, .. } =
            self.at(FnId::cuGraphKernelNodeSetParams_v2, FnId::cuGraphExecKernelNodeSetParams_v2)?;
        let function = self.graph().accept_kernel(kernel, config)?;
        let library = context.library();
        let answer = with_params(function, config, arguments, |new, old| match exec {
            // SAFETY: node and kernel are live, and there is one pointer for each parameter, to a
            // value of its size. The caller is responsible for the kernel.
            None => unsafe {
                either_call!(library, cuGraphKernelNodeSetParams_v2(node, new)
                    or cuGraphKernelNodeSetParams(node, old))
            },
            // SAFETY: as above, for an executable that is live.
            Some(exec) => unsafe {
                either_call!(library, cuGraphExecKernelNodeSetParams_v2(exec, node, new)
                    or cuGraphExecKernelNodeSetParams(exec, node, old))
            },
        });
        answer.map_err(|error| context.record(error).into())
    }
}

impl<'a> Capture<'_, '_, 'a> {
    /// Adds the launch of a kernel.
    ///
    /// # Errors
    /// [`GraphError::Launch`] for a geometry beyond the limits; [`Error::WRONG_CONTEXT`] for a
    /// kernel of another context; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// # Safety
    /// 1. The duties of [`Graph::add_kernel`], which also lists the objects that stay borrowed.
    ///    Only [`fork`](Capture::fork) and [`join`](Capture::join) order lanes.
    ///
    /// Driver: `cuLaunchKernel`, CUDA 4.0+.
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn launch<S: Signature, A: Arguments<S> + 'a>(
        &self,
        kernel: &Kernel<'a, S>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<(), GraphError> {
        let function = kernel.function();
        same_context(self.stream.context(), function.context())?;
        kernel.check(config)?;
        if let Some(share) = kernel.share() {
            self.shared.kept.borrow_mut().share(function.as_raw(), share.erased());
        }
        arguments.with_pointers(|pointers| {
            // SAFETY: there is one pointer for each parameter, to a value of its size that outlives
            // the call, which copies them; the graph keeps the kernel, and the caller is
            // responsible for it.
            unsafe { function.launch_pointers(self.cx, self.stream, config, pointers) }
        })?;
        Ok(())
    }
}
