//! Matrix products of a warp, compared with products computed element by element.

use crate::device::{Args, Device};

const HEADER: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// Returns the half-precision bits of a small whole number.
fn f16(value: i32) -> u16 {
    if value == 0 {
        return 0;
    }
    let exponent = 31 - value.unsigned_abs().leading_zeros();
    assert!(exponent <= 10, "{value} is not exact");
    let fraction = (value.unsigned_abs() << (10 - exponent)) & 0x3ff;
    (if value < 0 { 0x8000 } else { 0 }) | ((15 + exponent) << 10 | fraction) as u16
}

fn numbers(count: usize, seed: usize) -> Vec<i32> {
    (0..count).map(|i| ((i * 37 + seed * 11) % 23) as i32 - 11).collect()
}

fn product(a: &[i32], b: &[i32], c: &[i32], [m, n, k]: [usize; 3]) -> Vec<f32> {
    let element = |row: usize, column: usize| {
        c[row * n + column] + (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum::<i32>()
    };
    (0..m * n).map(|at| element(at / n, at % n) as f32).collect()
}

#[test]
fn mma_on_tiles_loaded_by_ldmatrix() {
    // As usual: both factors row-major in shared memory, the second one transposed by its load.
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{
        .reg .b32 %l, %r, %s, %t, %w, %a<4>, %b<2>; .reg .f32 %c<4>; .reg .b64 %p, %x;
        .shared .align 16 .b8 ta[512]; .shared .align 16 .b8 tb[256];
        mov.u32 %l, %laneid;
        ld.param.u64 %p, [a]; mul.wide.u32 %x, %l, 16; add.u64 %x, %x, %p; ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%x];
        mov.u32 %s, ta; mad.lo.u32 %s, %l, 16, %s; st.shared.v4.b32 [%s], {{%a0, %a1, %a2, %a3}};
        ld.param.u64 %p, [b]; mul.wide.u32 %x, %l, 8; add.u64 %x, %x, %p; ld.global.v2.b32 {{%b0, %b1}}, [%x];
        mov.u32 %s, tb; mad.lo.u32 %s, %l, 8, %s; st.shared.v2.b32 [%s], {{%b0, %b1}};
        bar.warp.sync -1;
        and.b32 %r, %l, 15; shr.u32 %t, %l, 4;
        mov.u32 %s, ta; mad.lo.u32 %s, %r, 32, %s; mad.lo.u32 %s, %t, 16, %s;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%a0, %a1, %a2, %a3}}, [%s];
        mov.u32 %s, tb; mad.lo.u32 %s, %r, 16, %s;
        ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{%b0, %b1}}, [%s];
        shr.u32 %r, %l, 2; and.b32 %t, %l, 3; mul.lo.u32 %w, %r, 8; mad.lo.u32 %w, %t, 2, %w;
        ld.param.u64 %p, [c]; mul.wide.u32 %x, %w, 4; add.u64 %p, %p, %x;
        ld.global.v2.f32 {{%c0, %c1}}, [%p]; ld.global.v2.f32 {{%c2, %c3}}, [%p+256];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%c0, %c1, %c2, %c3}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}},
            {{%c0, %c1, %c2, %c3}};
        ld.param.u64 %p, [d]; add.u64 %p, %p, %x;
        st.global.v2.f32 [%p], {{%c0, %c1}}; st.global.v2.f32 [%p+256], {{%c2, %c3}}; ret; }}"
    );
    let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
    let (a, b, c) = (numbers(256, 1), numbers(128, 2), numbers(128, 3));
    let halves = |values: &[i32]| device.buffer(&values.iter().map(|value| f16(*value)).collect::<Vec<_>>());
    let (da, db) = (halves(&a), halves(&b));
    let dc = device.buffer(&c.iter().map(|value| *value as f32).collect::<Vec<_>>());
    let out = device.buffer(&[0f32; 128]);
    let args = Args::default().buffer(&da).buffer(&db).buffer(&dc).buffer(&out);
    device.launch("k", 1, 32, &args).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(out.read::<f32>(), product(&a, &b, &c, [16, 8, 16]));
}

#[test]
fn wmma_of_all_shapes_and_orders() {
    let list = |prefix: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("{prefix}{i}")).collect();
        names.join(", ")
    };
    for (shape, [m, n, k]) in
        [("m16n16k16", [16, 16, 16]), ("m32n8k16", [32, 8, 16]), ("m8n32k16", [8, 32, 16])]
    {
        for (order_a, order_b) in [("row", "col"), ("col", "row"), ("row", "row")] {
            let (stride_a, stride_b) =
                (if order_a == "row" { k } else { m }, if order_b == "row" { n } else { k });
            let (a, b, c, d) = (list("%a", 8), list("%b", 8), list("%c", 8), list("%d", 8));
            let text = format!(
                "{HEADER}.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{
                .reg .b32 %a<8>, %b<8>; .reg .f32 %c<8>, %d<8>; .reg .b64 %p, %q, %r, %s;
                ld.param.u64 %p, [a]; ld.param.u64 %q, [b]; ld.param.u64 %r, [c]; ld.param.u64 %s, [d];
                wmma.load.a.sync.aligned.{order_a}.{shape}.global.f16 {{{a}}}, [%p], {stride_a};
                wmma.load.b.sync.aligned.{order_b}.{shape}.global.f16 {{{b}}}, [%q], {stride_b};
                wmma.load.c.sync.aligned.row.{shape}.global.f32 {{{c}}}, [%r];
                wmma.mma.sync.aligned.{order_a}.{order_b}.{shape}.f32.f32 {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};
                wmma.store.d.sync.aligned.col.{shape}.global.f32 [%s], {{{d}}}, {m}; ret; }}"
            );
            let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
            let (a, b, c) = (numbers(m * k, 4), numbers(k * n, 5), numbers(m * n, 6));
            let stored = |values: &[i32], rows: usize, columns: usize, order: &str| -> Vec<u16> {
                let at = |i: usize| if order == "row" { i } else { i % rows * columns + i / rows };
                (0..rows * columns).map(|i| f16(values[at(i)])).collect()
            };
            let (da, db) =
                (device.buffer(&stored(&a, m, k, order_a)), device.buffer(&stored(&b, k, n, order_b)));
            let dc = device.buffer(&c.iter().map(|value| *value as f32).collect::<Vec<_>>());
            let out = device.buffer(&vec![0f32; m * n]);
            let args = Args::default().buffer(&da).buffer(&db).buffer(&dc).buffer(&out);
            device.launch("k", 1, 32, &args).unwrap_or_else(|fault| panic!("{fault}"));
            let expected = product(&a, &b, &c, [m, n, k]);
            let by_column: Vec<f32> = (0..m * n).map(|i| expected[i % m * n + i / m]).collect();
            assert_eq!(out.read::<f32>(), by_column, "{shape} {order_a} {order_b}");
        }
    }
}

/// Computes a product with `wmma` on factors and accumulators of any type and layout.
fn wmma(
    shape: &str,
    types: [&str; 4],
    registers: [usize; 3],
    operation: &str,
    data: [&[u8]; 3],
    out: usize,
) -> Vec<u8> {
    let [d, a, b, c] = types;
    let list = |prefix: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("%{prefix}{i}")).collect();
        names.join(", ")
    };
    let [of_a, of_b, of_c] = registers;
    let (la, lb, lc, ld) = (list("a", of_a), list("b", of_b), list("c", of_c), list("d", of_c));
    let kind = |ty: &str| if ty == "f64" { "b64" } else { "b32" };
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{
        .reg .{} %a<8>, %b<8>; .reg .{} %c<8>, %d<8>; .reg .b64 %p, %q, %r, %s;
        ld.param.u64 %p, [a]; ld.param.u64 %q, [b]; ld.param.u64 %r, [c]; ld.param.u64 %s, [d];
        wmma.load.a.sync.aligned.row.{shape}.global.{a} {{{la}}}, [%p];
        wmma.load.b.sync.aligned.col.{shape}.global.{b} {{{lb}}}, [%q];
        wmma.load.c.sync.aligned.row.{shape}.global.{c} {{{lc}}}, [%r];
        wmma.mma{operation}.sync.aligned.row.col.{shape}.{d}.{a}.{b}.{c} {{{ld}}}, {{{la}}}, {{{lb}}}, {{{lc}}};
        wmma.store.d.sync.aligned.row.{shape}.global.{d} [%s], {{{ld}}}; ret; }}",
        kind(a),
        kind(c)
    );
    let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
    let [a, b, c] = data.map(|bytes| device.buffer(bytes));
    let result = device.buffer(&vec![0u8; out]);
    let args = Args::default().buffer(&a).buffer(&b).buffer(&c).buffer(&result);
    device.launch("k", 1, 32, &args).unwrap_or_else(|fault| panic!("{fault}"));
    result.read()
}

#[test]
fn wmma_of_double_precision_and_tf32() {
    // By column, the second factor is stored like its transpose by row.
    let transposed =
        |b: &[i32], k: usize, n: usize| -> Vec<i32> { (0..k * n).map(|i| b[i % k * n + i / k]).collect() };
    let doubles =
        |values: &[i32]| -> Vec<u8> { values.iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect() };
    let singles =
        |values: &[i32]| -> Vec<u8> { values.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect() };
    let (a, b, c) = (numbers(32, 1), numbers(32, 2), numbers(64, 3));
    let data = [doubles(&a), doubles(&transposed(&b, 4, 8)), doubles(&c)];
    let data = [&data[0][..], &data[1], &data[2]];
    let ours = wmma("m8n8k4", ["f64"; 4], [1, 1, 2], "", data, 512);
    let expected: Vec<u8> =
        product(&a, &b, &c, [8, 8, 4]).into_iter().flat_map(|x| f64::from(x).to_le_bytes()).collect();
    assert_eq!(ours, expected);

    let (a, b, c) = (numbers(128, 4), numbers(128, 5), numbers(256, 6));
    let data = [singles(&a), singles(&transposed(&b, 8, 16)), singles(&c)];
    let data = [&data[0][..], &data[1], &data[2]];
    let ours = wmma("m16n16k8", ["f32", "tf32", "tf32", "f32"], [4, 4, 8], "", data, 1024);
    let expected: Vec<u8> = product(&a, &b, &c, [16, 16, 8]).into_iter().flat_map(f32::to_le_bytes).collect();
    assert_eq!(ours, expected);
}

#[test]
fn wmma_of_half_bytes_and_bits() {
    let words = |count: usize| -> Vec<u8> { (0..count).map(|i| (i * 73 + i / 7 * 41) as u8).collect() };
    let (a, b) = (words(128), words(128));
    let c: Vec<i32> = numbers(64, 7);
    let c_bytes: Vec<u8> = c.iter().flat_map(|x| x.to_le_bytes()).collect();
    let data = [&a[..], &b, &c_bytes];
    let bytes = |values: Vec<i32>| -> Vec<u8> { values.into_iter().flat_map(i32::to_le_bytes).collect() };
    let signed = |bytes: &[u8], at: usize| (i32::from(bytes[at / 2] >> (at % 2 * 4)) & 15 ^ 8) - 8;
    let sum = |row: usize, column: usize, of: &dyn Fn(usize, usize) -> i32, k: usize| -> i32 {
        (0..k).map(|i| of(row * k + i, column * k + i)).sum()
    };
    let all = |of: &dyn Fn(usize, usize) -> i32, k: usize| -> Vec<i32> {
        (0..64).map(|at| c[at] + sum(at / 8, at % 8, of, k)).collect()
    };
    let ours = wmma("m8n8k32", ["s32", "s4", "s4", "s32"], [1, 1, 2], "", data, 256);
    assert_eq!(ours, bytes(all(&|x, y| signed(&a, x) * signed(&b, y), 32)));
    let bit = |bytes: &[u8], at: usize| i32::from(bytes[at / 8] >> (at % 8) & 1);
    for (operation, of) in [(".and.popc", (|x, y| x & y) as fn(i32, i32) -> i32), (".xor.popc", |x, y| x ^ y)]
    {
        let ours = wmma("m8n8k128", ["s32", "b1", "b1", "s32"], [1, 1, 2], operation, data, 256);
        assert_eq!(ours, bytes(all(&|x, y| of(bit(&a, x), bit(&b, y)), 128)), "{operation}");
    }
}

#[test]
fn part_of_a_warp_cannot_multiply() {
    let text = format!(
        "{HEADER}.visible .entry k() {{ .reg .b32 %a<4>, %b<2>, %t; .reg .f32 %c<4>; .reg .pred %p;
        mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 16;
        @%p mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%c0, %c1, %c2, %c3}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}},
            {{%c0, %c1, %c2, %c3}}; ret; }}"
    );
    let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
    let fault = device.launch("k", 1, 32, &Args::default()).unwrap_err();
    assert_eq!(fault.kind, cuprum_engine::report::FaultKind::WrongMembers);
}

/// A fragment with some elements outside of its memory faults at the first of them, in whichever
/// memory the others are.
#[test]
fn each_element_of_a_fragment_has_to_be_in_memory() {
    for (space, memory) in [("global", "%p"), ("shared", "%q")] {
        let text = format!(
            "{HEADER}.visible .entry k(.param .u64 a, .param .u32 stride) {{
            .shared .align 32 .b8 s[510]; .reg .b32 %a<8>, %n; .reg .b64 %p, %q;
            ld.param.u64 %p, [a]; ld.param.u32 %n, [stride]; mov.u64 %q, s;
            wmma.load.a.sync.aligned.row.m16n16k16.{space}.f16
                {{%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}}, [{memory}], %n; ret; }}"
        );
        let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
        let halves = device.buffer(&[0u16; 255]);
        let launch = |stride: u32| device.launch("k", 1, 32, &Args::default().buffer(&halves).push(stride));
        // With a smaller stride, rows overlap.
        launch(8).unwrap_or_else(|fault| panic!("{fault}"));
        let fault = launch(16).unwrap_err();
        assert_eq!((&fault.kind, fault.thread), (&cuprum_engine::report::FaultKind::OutOfBounds, [31, 0, 0]));
        assert!(fault.ptx_text.contains("wmma.load"), "{fault}");
    }
}
