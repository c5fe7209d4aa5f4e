//! The table of opcodes and their decoders.
//!
//! Each opcode is listed once, in alphabetical order. A decoder emits the instruction's operations
//! ([`Decoder::emit`]) or refuses it. An unknown form ([`Modifiers::unknown`]) is an error, and so
//! is a modifier that the decoder does not read.

use super::modifiers::Modifiers;
use super::{Decoded, Decoder};
use crate::ptx::Instruction;

type Decode<'s, D> = for<'i> fn(&mut D, &Instruction<'s>, &mut Modifiers<'i, 's>) -> Decoded<()>;

impl<'s> Decoder<'_, '_, 's> {
    const TABLE: [(&'static str, Decode<'s, Self>); 132] = [
        ("abs", Self::arithmetic),
        ("activemask", Self::active_mask),
        ("add", Self::add),
        ("addc", Self::carrying),
        ("alloca", Self::stack),
        ("and", Self::bits_instruction),
        ("applypriority", Self::cache_hint),
        ("atom", Self::atomic),
        ("bar", Self::barrier),
        ("barrier", Self::barrier),
        ("bfe", Self::bits_instruction),
        ("bfi", Self::bits_instruction),
        ("bfind", Self::bits_instruction),
        ("bmsk", Self::bits_instruction),
        ("bra", Self::branch),
        ("brev", Self::bits_instruction),
        ("brkpt", Self::trap),
        ("brx", Self::branch_indexed),
        ("call", Self::call),
        ("clz", Self::bits_instruction),
        ("cnot", Self::bits_instruction),
        ("copysign", Self::arithmetic),
        ("cos", Self::arithmetic),
        ("cp", Self::copy),
        ("createpolicy", Self::create_policy),
        ("cvt", Self::cvt),
        ("cvta", Self::cvta),
        ("discard", Self::cache_hint),
        ("div", Self::arithmetic),
        ("dp2a", Self::dot_product),
        ("dp4a", Self::dot_product),
        ("elect", Self::elect),
        ("ex2", Self::arithmetic),
        ("exit", Self::exit),
        ("fence", Self::fence),
        ("fma", Self::arithmetic),
        ("fns", Self::find_nth),
        ("getctarank", Self::rank_of_address),
        ("griddepcontrol", Self::depend),
        ("isspacep", Self::isspacep),
        ("istypep", Self::is_kind),
        ("ld", Self::load),
        ("ldmatrix", Self::load_rows),
        ("ldu", Self::load),
        ("lg2", Self::arithmetic),
        ("lop3", Self::any_logic),
        ("mad", Self::add),
        ("mad24", Self::mad24),
        ("madc", Self::carrying),
        ("mapa", Self::map_address),
        ("match", Self::match_lanes),
        ("max", Self::arithmetic),
        ("mbarrier", Self::memory_barrier),
        ("membar", Self::fence),
        ("min", Self::arithmetic),
        ("mma", Self::mma),
        ("mov", Self::mov),
        ("movmatrix", Self::transpose),
        ("mul", Self::arithmetic),
        ("mul24", Self::arithmetic),
        ("nanosleep", Self::sleep),
        ("neg", Self::arithmetic),
        ("not", Self::bits_instruction),
        ("or", Self::bits_instruction),
        ("pmevent", Self::count_event),
        ("popc", Self::bits_instruction),
        ("prefetch", Self::cache_hint),
        ("prefetchu", Self::cache_hint),
        ("prmt", Self::bits_instruction),
        ("rcp", Self::arithmetic),
        ("red", Self::reduction),
        ("redux", Self::reduce),
        ("rem", Self::arithmetic),
        ("ret", Self::return_instruction),
        ("rsqrt", Self::arithmetic),
        ("sad", Self::arithmetic),
        ("selp", Self::selp),
        ("set", Self::set),
        ("setmaxnreg", Self::set_registers),
        ("setp", Self::setp),
        ("shf", Self::bits_instruction),
        ("shfl", Self::shuffle),
        ("shl", Self::bits_instruction),
        ("shr", Self::bits_instruction),
        ("sin", Self::arithmetic),
        ("slct", Self::slct),
        ("sqrt", Self::arithmetic),
        ("st", Self::store),
        ("stackrestore", Self::stack),
        ("stacksave", Self::stack),
        ("stmatrix", Self::store_rows),
        ("sub", Self::add),
        ("subc", Self::carrying),
        ("suld", Self::surface_load),
        ("suq", Self::surface_query),
        ("sured", Self::surface_reduce),
        ("sust", Self::surface_store),
        ("szext", Self::bits_instruction),
        ("tanh", Self::arithmetic),
        ("tensormap", Self::tensor_map),
        ("testp", Self::testp),
        ("tex", Self::sample),
        ("tld4", Self::gather),
        ("trap", Self::trap),
        ("txq", Self::texture_query),
        ("vabsdiff", Self::video_scalar),
        ("vabsdiff2", Self::video_parallel),
        ("vabsdiff4", Self::video_parallel),
        ("vadd", Self::video_scalar),
        ("vadd2", Self::video_parallel),
        ("vadd4", Self::video_parallel),
        ("vavrg2", Self::video_parallel),
        ("vavrg4", Self::video_parallel),
        ("vmad", Self::video_multiply),
        ("vmax", Self::video_scalar),
        ("vmax2", Self::video_parallel),
        ("vmax4", Self::video_parallel),
        ("vmin", Self::video_scalar),
        ("vmin2", Self::video_parallel),
        ("vmin4", Self::video_parallel),
        ("vote", Self::vote),
        ("vset", Self::video_scalar),
        ("vset2", Self::video_parallel),
        ("vset4", Self::video_parallel),
        ("vshl", Self::video_scalar),
        ("vshr", Self::video_scalar),
        ("vsub", Self::video_scalar),
        ("vsub2", Self::video_parallel),
        ("vsub4", Self::video_parallel),
        ("wgmma", Self::warp_group),
        ("wmma", Self::wmma),
        ("xor", Self::bits_instruction),
    ];

    pub(super) fn decode(&mut self, i: &Instruction<'s>) -> Decoded<()> {
        let mut modifiers = Modifiers::new(i);
        let Ok(at) = Self::TABLE.binary_search_by_key(&i.opcode, |(opcode, _)| opcode) else {
            return Err(modifiers.unknown());
        };
        (Self::TABLE[at].1)(self, i, &mut modifiers)?;
        modifiers.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_opcode_stands_once_in_alphabetical_order() {
        let opcodes: Vec<&str> = Decoder::TABLE.iter().map(|(opcode, _)| *opcode).collect();
        assert!(opcodes.is_sorted_by(|a, b| a < b), "{opcodes:?}");
        assert!(opcodes.len() > 100, "{}", opcodes.len());
    }
}
