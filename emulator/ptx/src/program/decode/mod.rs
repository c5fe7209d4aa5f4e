//! Decodes function bodies to instructions.
//!
//! A kernel and every function that it may call are decoded into one list. Names are resolved by
//! scope. Immediates, parameters, addresses and special registers become constant rows (vector
//! registers), so that each source of an instruction is a row.

mod address;
mod arithmetic;
mod asynchronous;
mod atomic;
mod barrier;
mod bits;
mod bulk;
mod call;
mod checks;
mod cluster;
mod collective;
mod compare;
mod control;
mod convert;
mod declare;
mod decoder;
mod form;
mod function;
mod instruction;
mod kernel;
mod matrix;
mod memory;
mod memory_barrier;
mod modifiers;
mod mov;
mod names;
mod operands;
mod parameters;
mod scope;
mod since;
mod special;
mod stack;
mod table;
mod tensor_map;
mod texture;
mod unit;
mod video;
mod warp_group;
mod window;

pub(super) use self::decoder::Decoder;
pub(super) use self::kernel::{decode_function, decode_kernel};

use self::declare::{element_bytes, rows_of};
use self::decoder::{Decoded, MOST_ROWS, Symbol};
