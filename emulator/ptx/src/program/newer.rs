//! The first version of PTX and the first architecture that have an instruction.
//!
//! The facts are those that NVIDIA's assembler prints for each recorded form; `tests/engine/ptxas`
//! compares the two.

use std::collections::HashMap;

/// Instructions, by their opcodes and by modifiers that they have in this order, or special
/// registers; the version and the architecture. Names after `|` are alternatives, no opcode means
/// all, and `int` is each type of integers. On `sm_89`, conversions of floats with 8 bits begin
/// with 8.1, which the table does not say.
type Row = (&'static str, &'static str, (u32, u32), u32);

/// The version and the architecture that a form needs.
pub(super) type Since = ((u32, u32), u32);

/// Forms that a text does not have, because of its version or its target.
#[derive(Default)]
pub(super) struct Newer {
    by_opcode: HashMap<&'static str, Vec<Form>>,
    of_all_opcodes: Vec<Form>,
    special: HashMap<&'static str, Since>,
}

/// The modifiers that an instruction has in this order, each with its alternatives.
#[derive(Clone)]
struct Form {
    modifiers: Vec<Vec<&'static str>>,
    since: Since,
}

impl Newer {
    pub(super) fn than(version: (u32, u32), target: u32) -> Self {
        let mut newer = Newer::default();
        for &(names, modifiers, first, architecture) in
            ALL.iter().filter(|row| row.2 > version || row.3 > target)
        {
            let since = (first, architecture);
            if names.starts_with('%') {
                newer.special.extend(names.split('|').map(|name| (name, since)));
                continue;
            }
            let modifiers = modifiers.split_ascii_whitespace().map(alternatives).collect();
            let form = Form { modifiers, since };
            if names.is_empty() {
                newer.of_all_opcodes.push(form);
                continue;
            }
            for opcode in names.split('|') {
                newer.by_opcode.entry(opcode).or_default().push(form.clone());
            }
        }
        newer
    }

    /// Returns the needs of the forms that an instruction has.
    pub(super) fn forms(&self, opcode: &str, modifiers: &[&str]) -> impl Iterator<Item = Since> {
        let forms = self.by_opcode.get(opcode).into_iter().flatten().chain(&self.of_all_opcodes);
        forms.filter(move |form| form.is_of(modifiers)).map(|form| form.since)
    }

    /// Returns the need of a special register, named with its element if it has some.
    pub(super) fn special(&self, name: &str) -> Option<Since> {
        if self.special.is_empty() || !name.starts_with('%') {
            return None;
        }
        self.special.get(name.split('.').next()?).copied()
    }
}

impl Form {
    fn is_of(&self, modifiers: &[&str]) -> bool {
        let mut rest = modifiers.iter();
        self.modifiers.iter().all(|wanted| rest.any(|modifier| wanted.contains(modifier)))
    }
}

fn alternatives(names: &'static str) -> Vec<&'static str> {
    const INTEGERS: [&str; 8] = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"];
    names.split('|').flat_map(|name| if name == "int" { INTEGERS.to_vec() } else { vec![name] }).collect()
}

const ALL: &[Row] = &[
    ("", "L2::cache_hint", (7, 4), 80),
    ("", "NaN", (7, 0), 80),
    ("", "acquire|release|relaxed|acq_rel|weak", (6, 0), 70),
    ("", "aligned", (6, 0), 0),
    ("", "b128", (8, 3), 70),
    ("", "bf16|bf16x2", (7, 0), 80),
    ("", "cluster", (7, 8), 90),
    ("", "oob", (8, 1), 90),
    ("", "relu", (7, 0), 80),
    ("", "satfinite", (6, 0), 70),
    ("", "shared::cluster", (7, 8), 90),
    ("", "shared::cta", (7, 8), 0),
    ("", "tf32", (7, 0), 80),
    ("", "xorsign", (7, 2), 86),
    ("abs", "f16|f16x2", (6, 5), 53),
    ("activemask", "", (6, 2), 0),
    ("add", "u16x2|s16x2", (8, 0), 90),
    ("addc|subc|madc", "u64|s64", (4, 3), 0),
    ("add|addc|sub|subc|mad|madc", "cc u64|s64", (4, 3), 0),
    ("add|sub|mul", "bf16|bf16x2", (7, 8), 90),
    ("add|sub|mul|fma", "f16|f16x2", (4, 2), 53),
    ("add|sub|mul|fma", "f32x2", (8, 6), 100),
    ("alloca|stacksave|stackrestore", "", (7, 3), 52),
    ("atom", "b128", (8, 3), 90),
    ("atom", "cas b16", (6, 3), 70),
    ("atom|red", "bf16|bf16x2", (7, 8), 90),
    ("atom|red", "cta|gpu|sys", (5, 0), 60),
    ("atom|red", "f16", (6, 3), 70),
    ("atom|red", "f16x2", (6, 2), 60),
    ("atom|red", "f16|f16x2|bf16|bf16x2 min|max", (8, 1), 90),
    ("atom|red", "f64", (5, 0), 60),
    ("atom|red", "min|max f16|f16x2|bf16|bf16x2", (8, 1), 90),
    ("atom|red", "v2|v4|v8", (8, 1), 90),
    ("bar", "warp", (6, 0), 0),
    ("barrier", "", (6, 0), 0),
    ("barrier", "cluster", (7, 8), 90),
    ("barrier", "cluster acquire|release|relaxed", (8, 0), 90),
    ("bar|barrier", "cta", (7, 8), 0),
    ("bmsk|szext", "", (7, 6), 70),
    ("brx", "", (6, 0), 30),
    ("cp", "async", (7, 0), 80),
    ("cp", "async bulk", (8, 0), 90),
    ("cp", "async tensor", (8, 0), 90),
    ("cp", "reduce", (8, 0), 90),
    ("createpolicy|applypriority|discard", "", (7, 4), 80),
    ("cvt", "bf16 f16|bf16|f64|int", (7, 8), 90),
    ("cvt", "e4m3x2|e5m2x2", (7, 8), 89),
    ("cvt", "f16x2 f32", (7, 0), 80),
    ("cvt", "f16|f64|int bf16", (7, 8), 90),
    ("cvt", "f32 bf16", (7, 1), 80),
    ("cvt", "pack", (6, 5), 72),
    ("cvt", "pack s2|u2|s4|u4", (6, 5), 75),
    ("cvt", "rn|rz tf32", (7, 8), 90),
    ("cvt", "satfinite bf16|bf16x2|f16|f16x2|tf32 f32", (8, 1), 0),
    ("cvta|isspacep", "param", (7, 7), 70),
    ("dp2a|dp4a", "", (5, 0), 61),
    ("elect", "", (8, 0), 90),
    ("ex2", "bf16|bf16x2", (7, 8), 90),
    ("ex2", "f16|f16x2", (7, 0), 75),
    ("fence", "", (6, 0), 70),
    ("fence", "mbarrier_init", (8, 0), 90),
    ("fence", "proxy alias", (7, 5), 70),
    ("fence", "proxy async", (8, 0), 90),
    ("fence", "proxy tensormap::generic", (8, 3), 90),
    ("fence", "sync_restrict::shared::cta|sync_restrict::shared::cluster", (8, 6), 90),
    ("fns", "", (6, 0), 0),
    ("getctarank|mapa", "", (7, 8), 90),
    ("griddepcontrol", "", (7, 8), 90),
    ("ldmatrix", "", (6, 5), 75),
    ("ld|cp", "L2::256B", (7, 4), 80),
    ("ld|ldu|cp", "L2::64B|L2::128B|L2::256B", (7, 4), 75),
    (
        "ld|st",
        "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate",
        (7, 4),
        70,
    ),
    ("ld|st", "mmio", (8, 2), 70),
    ("ld|st", "v4 b64|u64|s64|f64", (8, 8), 100),
    ("ld|st", "v8", (8, 8), 100),
    ("ld|st|fence", "cta|gpu|sys", (6, 0), 70),
    ("lop3", "", (4, 3), 0),
    ("lop3", "and|or|xor", (8, 2), 70),
    ("match", "", (6, 0), 70),
    ("mbarrier", "", (7, 0), 80),
    ("mbarrier", "cta|cluster|relaxed|acquire|release", (8, 0), 80),
    ("mbarrier", "expect_tx|complete_tx", (8, 0), 90),
    ("mbarrier", "parity", (7, 1), 80),
    ("mbarrier", "try_wait", (7, 8), 90),
    ("min|max", "f16|f16x2", (7, 0), 80),
    ("min|max", "relu s32|s16x2|u16x2", (8, 0), 90),
    ("min|max", "s32|s16x2|u16x2 relu", (8, 0), 90),
    ("min|max", "u16x2|s16x2", (8, 0), 90),
    ("mma", "", (6, 4), 70),
    ("mma", "and", (7, 1), 80),
    ("mma", "e4m3|e5m2", (8, 4), 89),
    ("mma", "f16 e4m3|e5m2", (8, 7), 89),
    ("mma", "m16n8k16 e4m3|e5m2", (8, 7), 89),
    ("mma", "m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256|m16n8k4", (7, 0), 80),
    ("mma", "m16n8k4|m16n8k8|m16n8k16 f64", (7, 8), 90),
    ("mma", "m16n8k8 tf32|bf16", (7, 0), 80),
    ("mma", "m8n8k128", (7, 0), 75),
    ("mma", "m8n8k16|m8n8k32|m16n8k8", (6, 5), 75),
    ("mma", "m8n8k4 f64", (7, 0), 80),
    ("mma", "s8|u8|s4|u4|b1", (6, 5), 75),
    ("mma", "sp", (7, 1), 80),
    ("mma", "sp::ordered_metadata", (8, 5), 80),
    ("movmatrix", "", (7, 8), 75),
    ("multimem", "", (8, 1), 90),
    ("nanosleep", "", (6, 2), 70),
    ("neg", "f16|f16x2", (6, 0), 53),
    ("prefetch", "L2::evict_last|L2::evict_normal", (7, 4), 80),
    ("prefetch", "tensormap", (8, 0), 90),
    ("red", "async", (8, 1), 90),
    ("redux", "", (7, 0), 80),
    ("redux", "f32", (8, 6), 100),
    ("set", "u16|s16|u32|s32 f16|f16x2", (6, 5), 53),
    ("setmaxnreg", "", (8, 0), 90),
    ("set|setp", "bf16|bf16x2", (7, 8), 90),
    ("set|setp", "f16|f16x2", (4, 2), 53),
    ("shfl|vote", "sync", (6, 0), 0),
    ("st", "async", (8, 1), 90),
    ("st", "bulk", (8, 6), 100),
    ("stmatrix", "", (7, 8), 90),
    ("tanh", "", (7, 0), 75),
    ("tanh", "bf16|bf16x2", (7, 8), 90),
    ("tensormap", "", (8, 3), 90),
    ("wgmma", "", (8, 0), 90),
    ("wmma", "", (6, 0), 70),
    ("wmma", "aligned", (6, 3), 70),
    ("wmma", "f64", (7, 0), 80),
    ("wmma", "s4|u4|b1", (6, 3), 75),
    ("wmma", "s8|u8|s32", (6, 3), 72),
    ("%aggr_smem_size", "", (8, 1), 90),
    ("%clock_hi", "", (5, 0), 0),
    ("%cluster_ctaid|%cluster_nctaid|%cluster_ctarank|%cluster_nctarank", "", (7, 8), 90),
    ("%clusterid|%nclusterid|%is_explicit_cluster", "", (7, 8), 90),
    ("%dynamic_smem_size|%total_smem_size", "", (4, 1), 0),
    ("%reserved_smem_offset_0|%reserved_smem_offset_1", "", (7, 6), 80),
    ("%reserved_smem_offset_begin|%reserved_smem_offset_end|%reserved_smem_offset_cap", "", (7, 6), 80),
];
