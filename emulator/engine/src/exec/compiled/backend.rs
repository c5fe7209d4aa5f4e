//! The instructions of the code generator.
//!
//! An [`Emitter`] writes the function of one kernel. Its methods have the names and meanings of the
//! generator's instructions. If an operand is a vector and the other a number, the number is
//! repeated. Only this file, `vectors` and `machine` name the generator.

use cranelift_codegen::ir::{
    AbiParam, AtomicRmwOp, Block, BlockArg, Endianness, FuncRef, Inst, InstBuilder, JumpTableData,
    MemFlagsData, Signature, TrapCode, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};

pub(super) use cranelift_codegen::ir::Type;
pub(super) use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
pub(super) use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};

pub(super) type Val = cranelift_codegen::ir::Value;
pub(super) type Blk = Block;

/// A function of this program that machine code calls.
#[derive(Clone, Copy)]
pub(super) struct Callee {
    pub(super) address: *const u8,
    pub(super) params: &'static [Type],
    pub(super) result: Type,
    /// True if it is called rarely. The caller then keeps all of its registers, and it gets the
    /// context in addition to these parameters, before them.
    pub(super) cold: bool,
}

/// Place of the result of functions that preserve all registers.
pub(super) const RESULT: i32 = super::context::Context::RESULT;

/// Returns the place of an argument of such a function.
pub(super) fn argument(index: usize) -> i32 {
    super::context::Context::ARGUMENTS + 8 * index as i32
}

pub(super) fn signature(params: &[Type], result: Option<Type>, convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
    signature.returns.extend(result.map(AbiParam::new));
    signature
}

/// Read-modify-write operations of the processor.
#[derive(Clone, Copy)]
pub(super) enum Rmw {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    Umin,
    Umax,
    Smin,
    Smax,
}

/// Writes machine code.
pub(super) struct Emitter<'e> {
    pub(super) b: FunctionBuilder<'e>,
    module: &'e mut JITModule,
    targets: &'e [(Callee, Option<FuncId>)],
    /// Address of the function of single lanes, in code for quads.
    lanes: Option<usize>,
    /// The targets that this function names.
    known: Vec<Option<FuncRef>>,
    convention: CallConv,
    /// True after the end of a block.
    ended: bool,
    pub(super) params: Vec<Val>,
    /// The half of a vector of four numbers that widening reads.
    pub(super) half: usize,
}

/// One of the ways that a branch may take.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    branch: Inst,
    index: usize,
}

/// Memory that machine code accesses.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Constant while the code runs.
    Constant,
    /// The state of the engine.
    State,
    /// Memory of the kernel.
    User,
}

impl Kind {
    pub(super) fn flags(self) -> MemFlagsData {
        match self {
            Kind::Constant => MemFlagsData::trusted().with_readonly().with_can_move(),
            Kind::State => MemFlagsData::trusted(),
            Kind::User => MemFlagsData::new().with_notrap(),
        }
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $ty:ty),*);)*) => {$(
        pub(super) fn $name(&mut self, $($argument: $ty),*) -> Val {
            self.b.ins().$name($($argument),*)
        }
    )*};
}

/// Instructions on two numbers of one type, or on vectors of them.
macro_rules! of_two {
    ($($name:ident)*) => {$(
        pub(super) fn $name(&mut self, a: Val, b: Val) -> Val {
            let (a, b) = self.alike(a, b);
            self.b.ins().$name(a, b)
        }
    )*};
}

impl<'e> Emitter<'e> {
    /// Begins with the parameters of the function as values.
    pub(super) fn new(
        b: FunctionBuilder<'e>,
        module: &'e mut JITModule,
        (targets, lanes): (&'e [(Callee, Option<FuncId>)], Option<usize>),
        convention: CallConv,
        params: Vec<Val>,
    ) -> Self {
        Emitter {
            b,
            module,
            targets,
            lanes,
            known: vec![None; targets.len()],
            convention,
            ended: false,
            params,
            half: 0,
        }
    }

    /// Ends the function.
    pub(super) fn finish(mut self) {
        let config = self.module.isa().frontend_config();
        self.b.seal_all_blocks();
        self.b.finalize(config);
    }
}

impl Emitter<'_> {
    of_two! {
        iadd isub umulhi smulhi udiv sdiv urem srem smin smax umin umax band bor bxor
        fadd fsub fmul fdiv
    }

    forward! {
        ineg(a: Val); iabs(a: Val); bnot(a: Val);
        ishl(a: Val, b: Val); ushr(a: Val, b: Val); sshr(a: Val, b: Val);
        clz(a: Val); ctz(a: Val); popcnt(a: Val); bitrev(a: Val); bswap(a: Val);
        sqrt(a: Val); fneg(a: Val); fabs(a: Val);
        nearest(a: Val); trunc(a: Val); floor(a: Val); ceil(a: Val);
        fpromote(ty: Type, a: Val); fdemote(ty: Type, a: Val);
        f32const(value: f32); f64const(value: f64);
    }

    pub(super) fn ty(&self, value: Val) -> Type {
        self.b.func.dfg.value_type(value)
    }

    /// An integer constant; bits above its type are dropped.
    pub(super) fn int(&mut self, ty: Type, value: u64) -> Val {
        if ty.is_vector() {
            let one = self.int(ty.lane_type(), value);
            return self.splat(one);
        }
        let kept = if ty == I64 { value } else { value & ((1u64 << ty.bits()) - 1) };
        self.b.ins().iconst(ty, kept as i64)
    }

    pub(super) fn zero(&mut self, ty: Type) -> Val {
        match ty {
            ty if ty.is_vector() => {
                let zero = self.zero(ty.lane_type());
                self.splat(zero)
            }
            F32 => self.b.ins().f32const(0.0),
            F64 => self.b.ins().f64const(0.0),
            ty => self.b.ins().iconst(ty, 0),
        }
    }

    /// True if a signed number is greater than another.
    pub(super) fn greater(&mut self, a: Val, b: Val) -> Val {
        self.b.ins().icmp(IntCC::SignedGreaterThan, a, b)
    }

    pub(super) fn add_constant(&mut self, value: Val, constant: i32) -> Val {
        let constant = self.int(I64, i64::from(constant) as u64);
        self.b.ins().iadd(value, constant)
    }

    pub(super) fn bitcast(&mut self, ty: Type, value: Val) -> Val {
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.b.ins().bitcast(ty, flags, value)
    }

    pub(super) fn load(&mut self, ty: Type, kind: Kind, at: Val, offset: i32) -> Val {
        self.b.ins().load(ty, kind.flags(), at, offset)
    }

    pub(super) fn store(&mut self, kind: Kind, value: Val, at: Val, offset: i32) {
        self.b.ins().store(kind.flags(), value, at, offset);
    }

    pub(super) fn atomic_load(&mut self, ty: Type, at: Val) -> Val {
        self.b.ins().atomic_load(ty, Kind::User.flags(), at)
    }

    /// Stores atomically, after all accesses before it. On x86-64, all aligned stores do so, unless
    /// the code generator moves or removes them; its own atomic stores end with a fence, which
    /// takes 20 ns.
    pub(super) fn atomic_store(&mut self, value: Val, at: Val) {
        if cfg!(target_arch = "x86_64") {
            self.b.ins().sequence_point();
            self.store(Kind::User, value, at, 0);
            self.b.ins().sequence_point();
        } else {
            self.b.ins().atomic_store(Kind::User.flags(), value, at);
        }
    }

    pub(super) fn atomic_rmw(&mut self, operation: Rmw, at: Val, value: Val) -> Val {
        let operation = match operation {
            Rmw::Add => AtomicRmwOp::Add,
            Rmw::And => AtomicRmwOp::And,
            Rmw::Or => AtomicRmwOp::Or,
            Rmw::Xor => AtomicRmwOp::Xor,
            Rmw::Exchange => AtomicRmwOp::Xchg,
            Rmw::Umin => AtomicRmwOp::Umin,
            Rmw::Umax => AtomicRmwOp::Umax,
            Rmw::Smin => AtomicRmwOp::Smin,
            Rmw::Smax => AtomicRmwOp::Smax,
        };
        let ty = self.ty(value);
        self.b.ins().atomic_rmw(ty, Kind::User.flags(), operation, at, value)
    }

    pub(super) fn atomic_cas(&mut self, at: Val, expected: Val, new: Val) -> Val {
        self.b.ins().atomic_cas(Kind::User.flags(), at, expected, new)
    }

    /// Orders all accesses. On x86-64, each locked instruction does so, in less time than a fence.
    pub(super) fn fence(&mut self) {
        if cfg!(target_arch = "x86_64") {
            let zero = self.int(I64, 0);
            let at = self.add_constant(self.params[0], RESULT);
            self.atomic_rmw(Rmw::Or, at, zero);
        } else {
            self.b.ins().fence();
        }
    }

    /// Calls the function with this number.
    pub(super) fn call(&mut self, callee: usize, arguments: &[Val]) -> Val {
        let (description, target) = self.targets[callee];
        let call = match target {
            Some(target) => {
                let target = self.import(callee, target);
                for (index, value) in arguments.iter().enumerate() {
                    self.store(Kind::State, *value, self.params[0], argument(index));
                }
                // Read from memory: a value of its own, which alone is bound to a register.
                let context = self.load(I64, Kind::State, self.params[0], super::context::Context::OWN);
                self.b.ins().call(target, &[context]);
                return self.load(description.result, Kind::State, self.params[0], RESULT);
            }
            None => {
                let signature = signature(description.params, Some(description.result), self.convention);
                let signature = self.b.import_signature(signature);
                let address = self.b.ins().iconst(I64, description.address.addr() as i64);
                self.b.ins().call_indirect(signature, address, arguments)
            }
        };
        self.b.inst_results(call)[0]
    }

    /// Calls the function of single lanes.
    pub(super) fn call_lanes(&mut self, arguments: &[Val]) {
        let Some(lanes) = self.lanes else { return };
        let signature = self.b.import_signature(signature(&[I64, I32, I32], None, self.convention));
        let address = self.b.ins().iconst(I64, lanes as i64);
        self.b.ins().call_indirect(signature, address, arguments);
    }

    /// Returns a function of the module as this function names it.
    fn import(&mut self, callee: usize, target: FuncId) -> FuncRef {
        if let Some(known) = self.known[callee] {
            return known;
        }
        let target = self.module.declare_func_in_func(target, self.b.func);
        // Each function has pages of its own, which may lie further apart than a near call reaches.
        self.b.func.dfg.ext_funcs[target].colocated = false;
        self.known[callee] = Some(target);
        target
    }

    pub(super) fn block(&mut self) -> Blk {
        self.b.create_block()
    }

    pub(super) fn cold(&mut self, block: Blk) {
        self.b.set_cold_block(block);
    }

    pub(super) fn param(&mut self, block: Blk, ty: Type) -> Val {
        self.b.append_block_param(block, ty)
    }

    /// Continues in a block.
    pub(super) fn go_on(&mut self, block: Blk) {
        self.b.switch_to_block(block);
        self.ended = false;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn jump(&mut self, to: Blk, arguments: &[Val]) -> Edge {
        let branch = self.b.ins().jump(to, &args(arguments));
        self.ended = true;
        Edge { branch, index: 0 }
    }

    pub(super) fn branch(&mut self, condition: Val, yes: (Blk, &[Val]), no: (Blk, &[Val])) -> [Edge; 2] {
        let branch = self.b.ins().brif(condition, yes.0, &args(yes.1), no.0, &args(no.1));
        self.ended = true;
        [Edge { branch, index: 0 }, Edge { branch, index: 1 }]
    }

    /// Passes one more argument to the block at the end of an edge.
    pub(super) fn add_argument(&mut self, edge: Edge, value: Val) {
        let dfg = &mut self.b.func.dfg;
        let tables = (&mut dfg.jump_tables, &mut dfg.exception_tables);
        let calls = dfg.insts[edge.branch].branch_destination_mut(tables.0, tables.1);
        calls[edge.index].append_argument(value, &mut dfg.value_lists);
    }

    /// Jumps to the block with this number.
    pub(super) fn table(&mut self, index: Val, blocks: &[Blk], other: Blk) {
        let mut call = |block: &Blk| self.b.func.dfg.block_call(*block, &[]);
        let blocks: Vec<_> = blocks.iter().map(&mut call).collect();
        let other = call(&other);
        let table = self.b.create_jump_table(JumpTableData::new(other, &blocks));
        self.b.ins().br_table(index, table);
        self.ended = true;
    }

    pub(super) fn give_up(&mut self) {
        self.b.ins().trap(TrapCode::unwrap_user(1));
        self.ended = true;
    }

    pub(super) fn return_nothing(&mut self) {
        self.b.ins().return_(&[]);
        self.ended = true;
    }
}

fn args(values: &[Val]) -> Vec<BlockArg> {
    values.iter().map(|value| BlockArg::Value(*value)).collect()
}

/// Returns the type with this many bytes.
pub(super) fn int_type(bytes: u32) -> Type {
    match bytes {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}
