//! The plain mode: instruction by instruction, lane by lane.

mod asynchronous;
mod barrier;
mod bulk;
mod call;
mod collective;
mod compute;
mod control;
mod element;
mod flow;
mod matrix;
mod nans;
mod object;
mod printf;
mod product;
mod product_nans;
mod registers;
mod stack;
mod step;
mod surface;
mod tensor;
mod tensor_core;
mod warp_group;

pub(in crate::exec) use bulk::end_copy;
#[cfg(feature = "compile")]
pub(in crate::exec) use call::MOST_CALLS;
pub(in crate::exec) use collective::{
    fill_lanes, missing as missing_members, perform as perform_collective, perform_by_names,
};
pub(in crate::exec) use control::exit;
pub(in crate::exec) use flow::Flow;
pub(in crate::exec) use registers::watch as watch_registers;
use step::perform;
pub(in crate::exec) use step::{next_path, run_warp, step};
