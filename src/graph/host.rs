//! Nodes that call a function of the host.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::{CUDA_HOST_NODE_PARAMS, CUgraphNode, FnId};

use super::{Graph, GraphError, Node};
use crate::context::Current;
use crate::raw::call::context_call;

/// Payload of a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// A function of the host as nodes call it.
pub(super) struct HostNode {
    function: Mutex<Box<dyn FnMut() + Send>>,
    panic: Mutex<Option<Payload>>,
}

impl HostNode {
    pub(super) fn new(function: impl FnMut() + Send + 'static) -> Arc<Self> {
        Arc::new(Self { function: Mutex::new(Box::new(function)), panic: Mutex::new(None) })
    }

    /// Parameters for the driver, good as long as the call is kept.
    pub(super) fn params(this: &Arc<Self>) -> CUDA_HOST_NODE_PARAMS {
        CUDA_HOST_NODE_PARAMS { fn_: Some(called), userData: Arc::as_ptr(this).cast_mut().cast::<c_void>() }
    }

    /// Takes the first panic that was not taken yet.
    pub(super) fn take_panic(&self) -> Option<Payload> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn has_panicked(&self) -> bool {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn call(&self) {
        let call = || {
            let mut function = self.function.lock().unwrap_or_else(PoisonError::into_inner);
            (*function)();
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(call)) {
            let mut panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            match *panic {
                None => *panic = Some(payload),
                // The first panic is reported. Dropping a payload may run any code: it leaks.
                Some(_) => std::mem::forget(payload),
            }
        }
    }
}

/// Entry point for the driver.
unsafe extern "C" fn called(data: *mut c_void) {
    // SAFETY: the address of a call that its graph keeps, as long as it can run; only shared references are made of it.
    let call = unsafe { &*data.cast::<HostNode>() };
    call.call();
}

impl Graph<'_> {
    /// Adds a node that calls a function of the host in each replay, on a thread of the driver's.
    ///
    /// The function should not call the driver, which on its own thread [refuses most
    /// calls](crate::stream#on-the-drivers-threads), and must not wait for the replay. What it drops there leaks, if
    /// that is an object of this crate; what it owns to the end is dropped with the graph and its executable, on the
    /// thread of whoever drops those. A panic in it is caught and reported by the wait after the replay; nodes after
    /// this one run all the same.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use cuprum::Stream;
    /// use cuprum::graph::{Graph, InstantiateFlags};
    ///
    /// let count = Arc::new(AtomicU32::new(0));
    /// let counted = Arc::clone(&count);
    /// let mut graph = Graph::new(&cx)?;
    /// graph.add_host(&cx, &[], move || {
    ///     counted.fetch_add(1, Ordering::Relaxed);
    /// })?;
    /// let mut executable = graph.instantiate(&cx, InstantiateFlags::empty())?;
    /// let stream = Stream::new(&cx)?;
    /// executable.run(&cx, &stream)?;
    /// executable.run(&cx, &stream)?;
    /// assert_eq!(count.load(Ordering::Relaxed), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddHostNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddHostNode")]
    pub fn add_host(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        function: impl FnMut() + Send + 'static,
    ) -> Result<Node, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphAddHostNode)?;
        let (after, mut node) = (self.nodes.raws(after)?, CUgraphNode::null());
        let params = self.keep_host(function);
        let (first, count, params) = (after.as_ptr(), after.len(), &raw const params);
        // SAFETY: graph and nodes are live, lists and places outlive the call, and the graph keeps the function.
        unsafe { context_call!(context, cuGraphAddHostNode(&raw mut node, graph, first, count, params)) }?;
        Ok(self.nodes.token(node))
    }

    /// Keeps a function for as long as the graph and its executable are there.
    pub(super) fn keep_host(&mut self, function: impl FnMut() + Send + 'static) -> CUDA_HOST_NODE_PARAMS {
        let call = HostNode::new(function);
        let params = HostNode::params(&call);
        self.kept.host_calls.push(call);
        params
    }

    /// Changes the function that a host node calls; for executables made from now on.
    ///
    /// # Errors
    /// Those of [`add_host`](Graph::add_host); `CUDA_ERROR_INVALID_VALUE` for a node of another kind.
    ///
    /// Driver: `cuGraphHostNodeSetParams`, CUDA 10.0+.
    #[doc(alias = "cuGraphHostNodeSetParams")]
    pub fn set_host(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        function: impl FnMut() + Send + 'static,
    ) -> Result<(), GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphHostNodeSetParams)?;
        let (node, params) = (self.nodes.raw(node)?, self.keep_host(function));
        // SAFETY: as in `add_host`.
        Ok(unsafe { context_call!(context, cuGraphHostNodeSetParams(node, &raw const params)) }?)
    }
}
