//! Compares the modes for every kind of access, shape of address, and space.
//!
//! The programs are systematic, not random: kinds with their memory orders ([`forms`]) times shapes
//! of addresses ([`shapes`]) times spaces. Each is a kernel with all types and vector widths, in
//! straight code and after a divergence. The test compares loaded values, memory and address
//! registers. It runs a quarter of the kernels, or with `CUPRUM_TESTS=all` all.

mod forms;
mod shapes;

use crate::amount;
use crate::device::{Args, Buffer, Device, MODES, MODES_OF_NARROW_BLOCKS as NARROW};
use cuprum_engine::exec::Execution;
use cuprum_engine::memory::Writer;
use forms::{Action, Form, Kind, Memory, SPACES, Space, forms};
use shapes::{CONTEXTS, Place, SHAPES, Shape, assert_same};
use std::fmt::Write;

/// Threads per block, two and a half warps.
const BLOCK: (u32, u32) = (16, 5);
const THREADS: usize = 80;
/// Number of elements from which the threads choose, more than there are threads.
const PLACES: usize = 96;
/// Size of the accessed memory in bytes.
const ARENA: usize = 32 * 1024;
/// Bytes that each access stores per thread: the loaded value and the address.
const RESULT: usize = 80;
const MOST: usize = 40;
/// One kernel in this many is in the sample, at a different position for each kind.
const SAMPLE: usize = 4;

const NAME: &str = "arena";

struct Kernel {
    kind: Kind,
    shape: Shape,
    space: Space,
    declarations: String,
    body: String,
    /// Offset of the next access's bytes.
    end: usize,
    /// Number and offset of the first access whose results depend on the order of lanes.
    ordered: Option<(usize, usize)>,
}

impl Kernel {
    fn new(kind: Kind, shape: Shape, space: Space) -> Kernel {
        Kernel { kind, shape, space, declarations: String::new(), body: String::new(), end: 0, ordered: None }
    }

    fn add(&mut self, number: usize, turn: usize, form: Form) {
        let bytes = form.bytes();
        let start = self.end.next_multiple_of(bytes);
        self.end = start + PLACES * bytes;
        assert!(self.end <= ARENA, "{start} {form:?}");
        if form.ty == "b128" && self.kind.action == Action::Atomic && self.shape.is_common() {
            self.ordered.get_or_insert((number, start));
        }
        let k = number;
        let (before, _) = self.shape.witnesses(k);
        writeln!(self.declarations, ".reg .b64 %a{k}, %d{k}, %e{k};\n.reg .b32 %i{k};").unwrap();
        writeln!(self.body, "{before}mov.u64 %e{k}, 0;").unwrap();
        let values = self.values(k, form);
        if self.space.memory == Memory::Local {
            self.fill_local(start, bytes);
        }
        let place = Place { space: self.space, symbol: NAME, number, start, bytes };
        let (address, operand) = self.shape.address(&place);
        let access = self.access(turn, form, &operand, &values);
        let context = CONTEXTS[(turn + number) % CONTEXTS.len()];
        self.body.push_str(&context.around(number, &address, &access));
        self.leave(k, form, &values);
    }

    /// Declares registers of the form, with values that differ by thread. Returns their names.
    fn values(&mut self, k: usize, form: Form) -> Vec<String> {
        let names: Vec<String> =
            (0..form.elements.min(8)).map(|element| format!("%v{k}_{element}")).collect();
        let count = if form.operation.starts_with("cas") { 2 } else { 1 };
        let others = (1..=count).map(|other| format!("%v{k}_x{other}"));
        for (element, name) in names.iter().cloned().chain(others).enumerate() {
            writeln!(self.declarations, ".reg .b{} {name};", form.register).unwrap();
            let value = 3 + element * 40 + k;
            let line = match form.register {
                16 => format!("add.u32 %temporary, %t, {value};\ncvt.u16.u32 {name}, %temporary;"),
                32 => format!("mad.lo.u32 {name}, %t, 0x10203, {value};"),
                64 => {
                    format!("mad.wide.u32 {name}, %t, 0x40302010, %long;\nadd.s64 {name}, {name}, {value};")
                }
                _ => format!(
                    "mad.wide.u32 %wide, %t, 0x40302010, {value};\nmov.b128 {name}, {{%wide, %long}};"
                ),
            };
            writeln!(self.body, "{line}").unwrap();
        }
        names
    }

    /// Initializes the bytes that a thread may access in its own memory.
    fn fill_local(&mut self, start: usize, bytes: usize) {
        let words = PLACES * bytes / 4;
        writeln!(
            self.body,
            "mov.u32 %count, 0;\nF{start}:\nmad.lo.u32 %temporary, %count, 4, %bottom;\n\
             add.u32 %temporary, %temporary, {start};\nmad.lo.u32 %word, %count, 0x9e3779b1, %t;\n\
             st.local.u32 [%temporary], %word;\nadd.u32 %count, %count, 1;\n\
             setp.lt.u32 %more, %count, {words};\n@%more bra F{start};"
        )
        .unwrap();
    }

    fn access(&self, turn: usize, form: Form, operand: &str, values: &[String]) -> String {
        let Form { operation, ty, elements, .. } = form;
        let order = self.kind.orders[turn % self.kind.orders.len()];
        let word = self.space.word;
        let list = match values {
            [one] => one.clone(),
            many => format!("{{{}}}", many.join(", ")),
        };
        let vector = if elements > 1 { format!(".v{elements}") } else { String::new() };
        let own = values[0].split('_').next().unwrap();
        let more = match operation.starts_with("cas") {
            true => format!("{own}_x1, {own}_x2"),
            false => format!("{own}_x1"),
        };
        match self.kind.action {
            Action::Load => format!("ld{order}{word}{vector}.{ty} {list}, {operand};"),
            Action::Store => format!("st{order}{word}{vector}.{ty} {operand}, {list};"),
            Action::Atomic => {
                let (order, scope) = scope(order);
                format!("atom{order}{scope}{word}.{operation}.{ty} {list}, {operand}, {more};")
            }
            Action::Reduction => {
                let (order, scope) = scope(order);
                format!("red{order}{scope}{word}.{operation}.{ty} {operand}, {own}_x1;")
            }
            Action::Hint => {
                let (opcode, rest) = order.split_once('.').unwrap();
                match opcode {
                    "prefetchu" => format!("prefetchu.L1 {operand};"),
                    "prefetch" => format!("prefetch.global.{rest} {operand};"),
                    _ => format!("{opcode}.global.{rest} {operand}, 128;"),
                }
            }
            // Only copies of 16 bytes may bypass the first cache.
            Action::Copy => {
                let order = if elements == 16 { order } else { "ca" };
                format!("cp.async.{order}.shared.global [%landing], {operand}, {elements};")
            }
        }
    }

    /// Stores the values that the access left in registers.
    fn leave(&mut self, k: usize, form: Form, values: &[String]) {
        let at = k * RESULT;
        let mut line = |line: String| writeln!(self.body, "{line}").unwrap();
        if self.kind.action == Action::Copy {
            line("cp.async.wait_all;".to_owned());
            line("ld.shared.v2.u64 {%wide, %wide2}, [%landing];".to_owned());
            line(format!("st.global.u64 [%out+{at}], %wide;\nst.global.u64 [%out+{}], %wide2;", at + 8));
        } else if self.kind.action != Action::Hint {
            for (element, value) in values.iter().enumerate() {
                let at = at + 8 * element;
                match form.register {
                    128 => {
                        line(format!("mov.b128 {{%wide, %wide2}}, {value};"));
                        line(format!(
                            "st.global.u64 [%out+{at}], %wide;\nst.global.u64 [%out+{}], %wide2;",
                            at + 8
                        ));
                    }
                    bits => line(format!("st.global.b{bits} [%out+{at}], {value};")),
                }
            }
        }
        let (_, after) = self.shape.witnesses(k);
        line(format!("{after}st.global.u64 [%out+{}], %e{k};", at + RESULT - 8));
        if self.space.memory == Memory::Local {
            // Folds all bytes that the thread may have changed into one number.
            let start = self.end - PLACES * form.bytes();
            line(format!(
                "mov.u32 %count, 0;\nmov.u32 %word, 0;\nS{start}:\n\
                 mad.lo.u32 %temporary, %count, 4, %bottom;\nadd.u32 %temporary, %temporary, {start};\n\
                 ld.local.u32 %temporary, [%temporary];\nmad.lo.u32 %word, %word, 31, %temporary;\n\
                 add.u32 %count, %count, 1;\nsetp.lt.u32 %more, %count, {};\n@%more bra S{start};\n\
                 st.global.u32 [%out+{}], %word;",
                PLACES * form.bytes() / 4,
                at + RESULT - 12,
            ));
        }
    }

    /// Removes values that depend on the order of lanes from the results and the memory.
    ///
    /// In the compiled mode the lanes at an atomic operation on 128 bits wait for each other, and
    /// those that branched around it go on. So at a place that lanes share, they take turns at it
    /// and at later operations in another order than in the other modes, which PTX leaves open.
    fn without_order(&self, [results, memory]: &[Vec<u8>; 2]) -> [Vec<u8>; 2] {
        let Some((access, start)) = self.ordered else { return [results.clone(), memory.clone()] };
        let mut results = results.clone();
        results.chunks_mut(MOST * RESULT).for_each(|thread| thread[access * RESULT..].fill(0));
        [results, memory[..start].to_vec()]
    }

    fn text(&self, name: &str) -> String {
        let Kernel { declarations, body, space, .. } = self;
        let parameter = if space.memory == Memory::Param {
            format!(", .param .align 32 .b8 {NAME}[{ARENA_OF_PARAM}]")
        } else {
            String::new()
        };
        let local = match space.memory {
            Memory::Local => format!(".local .align 32 .b8 {NAME}[{ARENA}];\n"),
            Memory::Shared => format!(".shared .align 32 .b8 {NAME}[{ARENA}];\n"),
            _ => String::new(),
        };
        let base = match space.memory {
            // Most programs receive the address of global memory as a parameter.
            Memory::Global => "ld.param.u64 %base, [memory];\n".to_owned(),
            Memory::Const | Memory::Param => format!("mov.u64 %base, {NAME};\n"),
            _ if space.is_generic() => {
                format!("mov.u64 %base, {NAME};\ncvta.{}.u64 %base, %base;\n", own(*space))
            }
            _ => format!("mov.u64 %base, {NAME};\n"),
        };
        // The decoder knows the address, as in most programs.
        let narrow = match space.memory {
            Memory::Shared | Memory::Local if !space.is_generic() => format!("mov.u32 %narrow, {NAME};\n"),
            _ => String::new(),
        };
        let (fill, dump) = match space.memory {
            Memory::Shared => (copy_loop(true), copy_loop(false)),
            Memory::Local => (format!("mov.u32 %bottom, {NAME};\n"), String::new()),
            _ => (String::new(), String::new()),
        };
        format!(
            ".visible .entry {name}(.param .u64 out, .param .u64 memory, .param .u32 n{parameter})\n{{\n\
             .reg .b32 %x, %y, %t, %n, %scattered, %narrow, %temporary, %word, %count, %bottom, %landing;\n\
             .reg .b64 %base, %out, %long, %wide, %wide2;\n.reg .pred %odd, %few, %some, %more;\n\
             .shared .align 16 .b8 landings[{}];\n{local}{declarations}ld.param.u64 %out, [out];\nld.param.u32 %n, [n];\n\
             mov.u32 %x, %tid.x;\nmov.u32 %y, %tid.y;\nmad.lo.u32 %t, %y, 16, %x;\nmov.u64 %long, 0x1122334455667788;\n\
             mad.wide.u32 %out, %t, {}, %out;\nmul.lo.u32 %scattered, %t, 37;\nrem.u32 %scattered, %scattered, 89;\n\
             and.b32 %temporary, %t, 1;\nsetp.ne.u32 %odd, %temporary, 0;\n\
             rem.u32 %temporary, %t, 11;\nsetp.eq.u32 %few, %temporary, 4;\nsetp.lt.u32 %some, %scattered, 20;\n\
             mov.u32 %landing, landings;\nmad.lo.u32 %landing, %t, 16, %landing;\n\
             mov.u64 %wide, 0;\nst.shared.v2.u64 [%landing], {{%wide, %wide}};\n\
             {base}{narrow}{fill}{body}{dump}ret;\n}}\n",
            16 * THREADS,
            MOST * RESULT,
        )
    }
}

const ARENA_OF_PARAM: usize = 32_512;

fn own(space: Space) -> &'static str {
    if space.memory == Memory::Local { "local" } else { "shared" }
}

/// The scope of an atomic operation follows its order, even if the order is empty.
fn scope(order: &str) -> (&str, &str) {
    match order.rfind('.') {
        Some(at) if at > 0 => order.split_at(at),
        _ => (order, ""),
    }
}

/// Copies shared memory from or to global memory, with all threads.
fn copy_loop(fill: bool) -> String {
    let (label, from, to) = if fill {
        (
            "fill",
            "ld.global.v4.u32 {%q0, %q1, %q2, %q3}, [%g];",
            "st.shared.v4.u32 [%s], {%q0, %q1, %q2, %q3};",
        )
    } else {
        (
            "dump",
            "ld.shared.v4.u32 {%q0, %q1, %q2, %q3}, [%s];",
            "st.global.v4.u32 [%g], {%q0, %q1, %q2, %q3};",
        )
    };
    format!(
        "{{\n.reg .b32 %q<4>, %s, %at;\n.reg .b64 %g;\n.reg .pred %rest;\nbar.sync 0;\nmul.lo.u32 %at, %t, 16;\n{label}:\n\
         mov.u32 %s, {NAME};\nadd.u32 %s, %s, %at;\nld.param.u64 %g, [memory];\ncvt.u64.u32 %wide, %at;\n\
         add.s64 %g, %g, %wide;\n{from}\n{to}\nadd.u32 %at, %at, {};\nsetp.lt.u32 %rest, %at, {ARENA};\n\
         @%rest bra {label};\nbar.sync 0;\n}}\n",
        16 * THREADS
    )
}

fn module(space: Space) -> (String, Vec<Kernel>) {
    let mut text = ".version 8.8\n.target sm_100\n.address_size 64\n".to_owned();
    if space.memory == Memory::Const {
        let words: Vec<String> = (0..ARENA / 4).map(|word| pattern(word).to_string()).collect();
        writeln!(text, ".const .align 32 .u32 {NAME}[{}] = {{{}}};", ARENA / 4, words.join(", ")).unwrap();
    }
    if space.memory == Memory::Global {
        writeln!(text, ".global .align 32 .b8 {NAME}[{ARENA}];").unwrap();
    }
    let mut kernels = Vec::new();
    let sample = if amount::all() { 1 } else { SAMPLE };
    for (row, kind) in space.kinds().into_iter().enumerate() {
        let shapes = SHAPES.into_iter().filter(|shape| shape.is_for(space)).enumerate();
        for (_, shape) in shapes.filter(|(column, _)| (row + column) % sample == 0) {
            let mut kernel = Kernel::new(kind, shape, space);
            for (number, form) in forms(kind, space).into_iter().enumerate() {
                kernel.add(number, kernels.len() + number, form);
            }
            text.push_str(&kernel.text(&format!("k{}", kernels.len())));
            kernels.push(kernel);
        }
    }
    (text, kernels)
}

/// Contents of the memory before the launch.
fn pattern(word: usize) -> u32 {
    (word as u32).wrapping_mul(0x85eb_ca6b) ^ (word as u32) << 20
}

/// Returns results and memory after a launch, or the text of its fault.
fn run(
    device: &mut Device,
    mode: Execution,
    name: &str,
    buffers: &[Buffer; 2],
) -> Result<[Vec<u8>; 2], String> {
    let bytes: Vec<u8> = (0..ARENA / 4).flat_map(|word| pattern(word).to_le_bytes()).collect();
    let [out, memory] = buffers;
    out.write(&[0u8; THREADS * MOST * RESULT]);
    memory.write(&bytes);
    device.options.mode = mode;
    let mut args = Args::default().buffer(out).buffer(memory).push(7u32);
    if let Some(arena) = device.kernel(name).params().get(3) {
        args = args.bytes_at(arena.offset as usize, &bytes[..ARENA_OF_PARAM]);
    }
    device.launch(name, 1, BLOCK, &args).map_err(|fault| fault.to_string())?;
    Ok([out.read(), memory.read()])
}

fn modes_agree_in(memory: Memory) {
    for space in SPACES.into_iter().filter(|space| space.memory == memory) {
        let (text, kernels) = module(space);
        let mut device = Device::load(&text).unwrap_or_else(|error| {
            let line = text.lines().nth(error.line as usize - 1).unwrap_or_default();
            panic!("{space:?}: {error}: {line}")
        });
        let memory = match space.memory {
            Memory::Global => device.global(0),
            _ => device.buffer(&[0u8; ARENA]),
        };
        let buffers = [device.buffer(&[0u8; THREADS * MOST * RESULT]), memory];
        for (number, kernel) in kernels.iter().enumerate() {
            let name = format!("k{number}");
            let [plain, others @ ..] = NARROW.map(|mode| run(&mut device, mode, &name, &buffers));
            if matches!(kernel.kind.action, Action::Atomic | Action::Reduction) {
                let _other = Writer::new(); // Mostly, there was none before: nothing was locked.
                let [again, rest @ ..] = NARROW.map(|mode| run(&mut device, mode, &name, &buffers));
                assert!(again == plain && rest == others, "{:?} {:?} {space:?}", kernel.kind, kernel.shape);
            }
            let what = || format!("{:?} {:?} {space:?}\n{}", kernel.kind, kernel.shape, kernel.text(&name));
            let plain = plain.unwrap_or_else(|fault| panic!("plain mode: {fault}\n{}", what()));
            let others = others.map(|other| other.unwrap_or_else(|fault| panic!("{fault}\n{}", what())));
            for (mode, other) in NARROW[1..].iter().zip(others) {
                if *mode != Execution::Vector {
                    assert_same(&kernel.without_order(&plain), &kernel.without_order(&other), *mode, what);
                } else {
                    assert_same(&plain, &other, *mode, what);
                }
            }
        }
    }
}

#[test]
fn modes_agree_on_global_memory() {
    modes_agree_in(Memory::Global);
}

#[test]
fn modes_agree_on_shared_memory() {
    modes_agree_in(Memory::Shared);
}

#[test]
fn modes_agree_on_local_memory() {
    modes_agree_in(Memory::Local);
}

#[test]
fn modes_agree_on_constants_and_parameters() {
    modes_agree_in(Memory::Const);
    modes_agree_in(Memory::Param);
}

/// The address needs a row: other lanes keep another value. Only the product reads its index.
#[test]
fn an_index_without_a_row_is_not_read_from_one() {
    let text = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry outlives(.param .u64 out, .param .u64 in)
{
.reg .b32 %r<4>;
.reg .b64 %rd<8>;
.reg .pred %p;
mov.u32 %r0, %tid.x;
add.u32 %r1, %r0, 5;
popc.b32 %r2, %r0;
setp.lt.u32 %p, %r2, 2;
ld.param.u64 %rd0, [in];
mov.u32 %r3, 0;
mov.u64 %rd2, 7;
@%p bra L;
mul.wide.u32 %rd1, %r1, 4;
add.s64 %rd2, %rd0, %rd1;
ld.global.u32 %r3, [%rd2];
add.s64 %rd7, %rd1, %rd0;
ld.global.u32 %r2, [%rd7+4];
add.u32 %r3, %r3, %r2;
L:
ld.param.u64 %rd4, [out];
mul.wide.u32 %rd5, %r0, 8;
add.s64 %rd4, %rd4, %rd5;
cvt.u64.u32 %rd6, %r3;
xor.b64 %rd6, %rd6, %rd2;
st.global.u64 [%rd4], %rd6;
ret;
}
";
    let mut device = Device::load(text).unwrap();
    let input: Vec<u32> = (0..64).map(|word| word * 1000).collect();
    let (out, input) = (device.buffer(&[0u64; 32]), device.buffer(&input));
    let args = Args::default().buffer(&out).buffer(&input);
    let expected: Vec<u64> = (0..32u64)
        .map(|lane| match lane.count_ones() {
            0 | 1 => 7,
            _ => (input.address() + 4 * (lane + 5)) ^ (1000 * (2 * lane + 11)),
        })
        .collect();
    for mode in MODES {
        device.options.mode = mode;
        for _ in 0..2 {
            device.launch("outlives", 1, 32, &args).unwrap();
            assert_eq!(out.read::<u64>(), expected, "{mode:?}");
        }
    }
}
