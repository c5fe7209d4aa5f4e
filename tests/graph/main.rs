//! Graphs: built node by node and captured, executed, updated, and what they keep.
//!
//! The emulator defers work here until somebody waits for it, or runs it in any order that is allowed, as
//! `CUPRUM_EMULATOR_MODE` says; what holds must hold in each mode.

#[path = "../common/mod.rs"]
mod common;

mod capture;
mod changes;
mod inside;
mod keeps;
mod nodes;
#[path = "../support/tracer/mod.rs"]
mod tracer;
mod waits;

use cuprum::graph::{Executable, Graph, InstantiateFlags};
use cuprum::{Buffer, Current, Function, In, InOut, Module};
use tracer::list::{enums, structs, table, types};

/// saxpy(n, alpha, x, y).
type Saxpy = (u32, f32, In<f32>, InOut<f32>);

fn saxpy<'ctx>(cx: &Current<'_, 'ctx>) -> Module<'ctx> {
    common::load(cx, include_str!("../../kernels/saxpy.ptx"))
}

fn function<'m>(module: &'m Module<'_>) -> Function<'m> {
    module.function("saxpy").unwrap()
}

fn executable<'a>(cx: &Current<'_, 'a>, graph: Graph<'a>) -> Executable<'a> {
    graph.instantiate(cx, InstantiateFlags::empty()).unwrap()
}

fn zeros<'ctx>(cx: &Current<'_, 'ctx>, len: usize) -> Buffer<'ctx, u32> {
    Buffer::zeroed(cx, len).unwrap()
}
