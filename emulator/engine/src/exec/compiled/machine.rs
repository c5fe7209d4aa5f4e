//! Machine code in executable memory, made by the code generator.

use super::backend::{Callee, Emitter, I32, I64, Kind, RESULT, argument, signature};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, UserFuncName};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use std::io::Write;
use std::sync::Once;

/// The signature of machine code: its state, the lanes to run, the number of the entry.
pub(super) type Run = unsafe extern "C" fn(*mut super::context::Context, u32, u32);

/// Executable memory with the code of one kernel.
pub(super) struct Machine {
    module: Option<JITModule>,
    run: Run,
    /// Code for single lanes, if this is code for quads.
    lanes: Option<Box<Machine>>,
}

// SAFETY: the memory of a finished module does not change, and the module is only used to free it.
unsafe impl Send for Machine {}
// SAFETY: as above.
unsafe impl Sync for Machine {}

impl Machine {
    /// Returns the function that runs single lanes.
    pub(super) fn run(&self) -> Run {
        self.lanes.as_ref().map_or(self.run, |lanes| lanes.run)
    }

    /// Returns the function that runs complete quads of lanes.
    pub(super) fn run_quads(&self) -> Option<Run> {
        self.lanes.as_ref().map(|_| self.run)
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").finish_non_exhaustive()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: launches borrow the kernel that owns this code, so none runs it.
            unsafe { module.free_memory() };
        }
    }
}

fn isa(is_large: bool) -> Option<OwnedTargetIsa> {
    let mut flags = settings::builder();
    flags.set("opt_level", if is_large { "none" } else { "speed" }).ok()?;
    flags.set("regalloc_algorithm", if is_large { "single_pass" } else { "backtracking" }).ok()?;
    flags.set("is_pic", "false").ok()?;
    flags.set("use_colocated_libcalls", "false").ok()?;
    flags.set("unwind_info", "false").ok()?;
    flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }).ok()?;
    flags.set("enable_probestack", "false").ok()?;
    let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
    // Without fused multiply-add, each would be a call.
    #[cfg(target_arch = "x86_64")]
    if !(is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2")) {
        return None;
    }
    Some(isa)
}

/// Creates the machine code of a kernel by the instructions that `emit` writes. The time grows
/// linearly if it `is_large`, and its code is slower. Code for quads is created with code for
/// single lanes. Returns `None` if the machine is not supported, or refuses executable memory.
pub(super) fn build(
    callees: &[Callee],
    is_large: bool,
    lanes: Option<Machine>,
    emit: impl FnOnce(&mut Emitter<'_>),
) -> Option<Machine> {
    let isa = isa(is_large)?;
    let convention = isa.default_call_conv();
    let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let mut context = module.make_context();
    let mut buffers = FunctionBuilderContext::new();
    let mut targets = Vec::new();
    for callee in callees {
        let target = if callee.cold {
            Some(trampoline(&mut module, &mut context, &mut buffers, callee, convention)?)
        } else {
            None
        };
        targets.push((*callee, target));
    }
    let signature = signature(&[I64, I32, I32], None, convention);
    let run = module.declare_anonymous_function(&signature).ok()?;
    context.func = Function::with_name_signature(UserFuncName::user(0, run.as_u32()), signature);
    {
        let mut builder = FunctionBuilder::new(&mut context.func, &mut buffers);
        let first = builder.create_block();
        builder.append_block_params_for_function_params(first);
        builder.switch_to_block(first);
        let params = builder.block_params(first).to_vec();
        let lanes = lanes.as_ref().map(|lanes| lanes.run as usize);
        let mut emitter = Emitter::new(builder, &mut module, (&targets, lanes), convention, params);
        emit(&mut emitter);
        emitter.finish();
    }
    define(&mut module, &mut context, run)?;
    if !finish(&mut module) {
        REFUSED.call_once(|| {
            let text = "the system refuses executable memory, so kernels are not compiled";
            let _ = writeln!(std::io::stderr(), "software CUDA device: {text}");
        });
        return None;
    }
    let code = module.get_finalized_function(run);
    // SAFETY: the function was created with this signature and the convention of the platform.
    let run = unsafe { std::mem::transmute::<*const u8, Run>(code) };
    Some(Machine { module: Some(module), run, lanes: lanes.map(Box::new) })
}

/// Completed once the system has refused executable memory, and a message has said so.
pub(super) static REFUSED: Once = Once::new();

#[cfg(test)]
thread_local! {
    /// True if the system should refuse executable memory.
    pub(super) static REFUSES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Makes the code executable. Returns false if the system refuses it.
fn finish(module: &mut JITModule) -> bool {
    #[cfg(test)]
    if REFUSES.get() {
        return false;
    }
    module.finalize_definitions().is_ok()
}

fn define(module: &mut JITModule, context: &mut Context, id: FuncId) -> Option<()> {
    let defined = module.define_function(id, context);
    if let (Err(error), true) = (&defined, cfg!(debug_assertions)) {
        eprintln!("{error:?}");
    }
    module.clear_context(context);
    defined.ok()
}

/// Creates a function that preserves all registers and calls another one. Its only parameter is the
/// context, which has the arguments, and gets the result. A frequent function that passed them in
/// registers would have to keep its own values out of these everywhere.
fn trampoline(
    module: &mut JITModule,
    context: &mut Context,
    buffers: &mut FunctionBuilderContext,
    callee: &Callee,
    convention: CallConv,
) -> Option<FuncId> {
    let outer = signature(&[I64], None, CallConv::PreserveAll);
    let id = module.declare_anonymous_function(&outer).ok()?;
    context.func = Function::with_name_signature(UserFuncName::user(0, id.as_u32()), outer);
    let mut builder = FunctionBuilder::new(&mut context.func, buffers);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let place = builder.block_params(block)[0];
    let flags = Kind::State.flags();
    let mut arguments = vec![place];
    for (index, ty) in callee.params.iter().enumerate() {
        arguments.push(builder.ins().load(*ty, flags, place, argument(index)));
    }
    let mut inner = signature(callee.params, Some(callee.result), convention);
    inner.params.insert(0, AbiParam::new(I64));
    let inner = builder.import_signature(inner);
    let address = builder.ins().iconst(I64, callee.address.addr() as i64);
    let call = builder.ins().call_indirect(inner, address, &arguments);
    let result = builder.inst_results(call)[0];
    builder.ins().store(flags, result, place, RESULT);
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize(module.isa().frontend_config());
    define(module, context, id)?;
    Some(id)
}
