//! Lists of accesses: kinds with their memory orders, types and vector widths, spaces.

/// An instruction, with the text between the opcode and the state space, and after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    pub(crate) action: Action,
    /// Words of the order, used in turn with scopes and hints.
    pub(crate) orders: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Load,
    Store,
    Atomic,
    Reduction,
    /// A cache hint, which moves no data.
    Hint,
    /// `cp.async` from global to shared memory.
    Copy,
}

macro_rules! scoped {
    ($order:literal) => {
        &[
            concat!($order, ".cta"),
            concat!($order, ".cluster"),
            concat!($order, ".gpu"),
            concat!($order, ".sys"),
        ]
    };
}

const fn kind(action: Action, orders: &'static [&'static str]) -> Kind {
    Kind { action, orders }
}

const EVERYWHERE: [Kind; 5] = [
    kind(Action::Load, &["", ".weak"]),
    kind(Action::Load, &[".ca", ".cg", ".cs", ".lu", ".cv"]),
    kind(Action::Store, &["", ".weak"]),
    kind(Action::Store, &[".wb", ".cg", ".cs", ".wt"]),
    kind(Action::Load, &[".volatile"]),
];

const SHARED: [Kind; 14] = [
    kind(Action::Load, scoped!(".relaxed")),
    kind(Action::Load, scoped!(".acquire")),
    kind(Action::Store, &[".volatile"]),
    kind(Action::Store, scoped!(".relaxed")),
    kind(Action::Store, scoped!(".release")),
    kind(Action::Atomic, &[""]),
    kind(Action::Atomic, scoped!(".relaxed")),
    kind(Action::Atomic, scoped!(".acquire")),
    kind(Action::Atomic, scoped!(".release")),
    kind(Action::Atomic, scoped!(".acq_rel")),
    kind(Action::Reduction, &[""]),
    kind(Action::Reduction, scoped!(".relaxed")),
    kind(Action::Reduction, scoped!(".release")),
    kind(Action::Copy, &["ca", "cg"]),
];

const GLOBAL: [Kind; 4] = [
    kind(Action::Load, &[".mmio.relaxed.sys"]),
    kind(Action::Store, &[".mmio.relaxed.sys"]),
    kind(Action::Load, &[".nc"]),
    kind(
        Action::Hint,
        &["prefetch.L1", "prefetch.L2", "prefetchu.L1", "discard.L2", "applypriority.L2::evict_normal"],
    ),
];

/// Memory of the bytes, and its form in the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Memory {
    Global,
    Shared,
    Local,
    Const,
    Param,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Space {
    pub(crate) memory: Memory,
    /// The name in the instruction; empty if its addresses are generic.
    pub(crate) word: &'static str,
}

pub(crate) const SPACES: [Space; 9] = [
    Space { memory: Memory::Global, word: ".global" },
    Space { memory: Memory::Global, word: "" },
    Space { memory: Memory::Shared, word: ".shared" },
    Space { memory: Memory::Shared, word: ".shared::cta" },
    Space { memory: Memory::Shared, word: "" },
    Space { memory: Memory::Local, word: ".local" },
    Space { memory: Memory::Local, word: "" },
    Space { memory: Memory::Const, word: ".const" },
    Space { memory: Memory::Param, word: ".param" },
];

impl Space {
    pub(crate) fn is_generic(self) -> bool {
        self.word.is_empty()
    }

    pub(crate) fn kinds(self) -> Vec<Kind> {
        let constant = matches!(self.memory, Memory::Const | Memory::Param);
        let mut kinds: Vec<Kind> = match constant {
            true => EVERYWHERE[..1].to_vec(),
            false => EVERYWHERE.to_vec(),
        };
        if matches!(self.memory, Memory::Global | Memory::Shared) {
            kinds.extend(SHARED);
        }
        if self.memory == Memory::Global {
            kinds.extend(GLOBAL);
        }
        kinds.retain(|kind| match kind.action {
            Action::Copy => self.word == ".global",
            // `.nc` and the hints to caches name global memory.
            Action::Hint => self.word == ".global",
            _ => kind.orders != [".nc"] || self.word == ".global",
        });
        kinds
    }
}

/// Type and number of the elements of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Form {
    /// Operation of an atomic access, otherwise empty.
    pub(crate) operation: &'static str,
    pub(crate) ty: &'static str,
    pub(crate) elements: usize,
    pub(crate) register: u32,
}

impl Form {
    pub(crate) fn element_bytes(self) -> usize {
        match self.ty.trim_start_matches(|c: char| c.is_ascii_alphabetic()) {
            "16x2" => 4,
            bits => bits.parse::<usize>().unwrap() / 8,
        }
    }

    pub(crate) fn bytes(self) -> usize {
        self.element_bytes() * self.elements
    }
}

/// Types, with the number of bits of their registers.
const SCALARS: [(&str, u32); 21] = [
    ("b8", 32),
    ("u8", 32),
    ("s8", 32),
    ("u8", 64),
    ("s8", 64),
    ("b16", 32),
    ("u16", 32),
    ("s16", 32),
    ("u16", 64),
    ("s16", 64),
    ("b32", 32),
    ("u32", 32),
    ("s32", 32),
    ("f32", 32),
    ("u32", 64),
    ("s32", 64),
    ("b64", 64),
    ("u64", 64),
    ("s64", 64),
    ("f64", 64),
    ("b128", 128),
];

const VECTORS: [(&str, u32, usize); 16] = [
    ("u8", 32, 2),
    ("s8", 32, 4),
    ("s16", 32, 2),
    ("b16", 32, 4),
    ("u16", 64, 2),
    ("f32", 32, 2),
    ("u32", 32, 4),
    ("f32", 32, 4),
    ("s32", 64, 2),
    ("u32", 64, 4),
    ("u64", 64, 2),
    ("f64", 64, 2),
    // 32 bytes, in global memory of the newest targets.
    ("b32", 32, 8),
    ("f32", 32, 8),
    ("u64", 64, 4),
    ("f64", 64, 4),
];

const ATOMICS: [(&str, &str); 31] = [
    ("add", "u32"),
    ("add", "s32"),
    ("add", "u64"),
    ("add", "f32"),
    ("add", "f64"),
    ("add.noftz", "f16x2"),
    ("add.noftz", "bf16x2"),
    ("min", "u32"),
    ("min", "s32"),
    ("min", "u64"),
    ("min", "s64"),
    ("max", "u32"),
    ("max", "s32"),
    ("max", "u64"),
    ("max", "s64"),
    ("and", "b32"),
    ("and", "b64"),
    ("or", "b32"),
    ("or", "b64"),
    ("xor", "b32"),
    ("xor", "b64"),
    ("inc", "u32"),
    ("dec", "u32"),
    // Only as `atom`.
    ("exch", "b32"),
    ("exch", "b64"),
    ("exch", "b128"),
    ("cas", "b16"),
    ("cas", "b32"),
    ("cas", "b64"),
    ("cas", "b128"),
    ("exch", "u64"),
];

pub(crate) fn forms(kind: Kind, space: Space) -> Vec<Form> {
    let form = |operation, ty, elements, register| Form { operation, ty, elements, register };
    match kind.action {
        Action::Load | Action::Store => {
            let scalars = SCALARS.iter().map(|(ty, register)| form("", *ty, 1, *register));
            let vectors = VECTORS.iter().map(|(ty, register, elements)| form("", *ty, *elements, *register));
            let wide = space.word == ".global" && !kind.orders[0].contains("mmio");
            let narrow = matches!(space.memory, Memory::Const | Memory::Param);
            scalars
                .chain(vectors)
                .filter(|form| wide || form.bytes() <= 16)
                .filter(|form| !narrow && kind.orders[0] != ".nc" || form.ty != "b128")
                .collect()
        }
        Action::Atomic | Action::Reduction => {
            let all = ATOMICS.iter().map(|(operation, ty)| {
                let bits = match *ty {
                    "b128" => 128,
                    "b16" => 16,
                    ty if ty.ends_with("64") => 64,
                    _ => 32,
                };
                form(*operation, *ty, 1, bits)
            });
            let alone = |form: &Form| matches!(form.operation, "exch" | "cas");
            all.filter(|form| kind.action == Action::Atomic || !alone(form)).collect()
        }
        Action::Hint => vec![form("", "b8", 128, 32)],
        Action::Copy => [4, 8, 16].map(|bytes| form("", "b8", bytes, 32)).to_vec(),
    }
}
