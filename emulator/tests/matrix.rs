//! Matrix products of a warp, against products computed element by element.

mod device;

use device::{Args, Device};

const HEADER: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// Half precision bits of a small whole number.
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

/// `a * b + c`, row-major.
fn product(a: &[i32], b: &[i32], c: &[i32], [m, n, k]: [usize; 3]) -> Vec<f32> {
    let element = |row: usize, column: usize| {
        c[row * n + column] + (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum::<i32>()
    };
    (0..m * n).map(|at| element(at / n, at % n) as f32).collect()
}

#[test]
fn mma_on_tiles_loaded_by_ldmatrix() {
    // The usual way: both factors row-major in shared memory, the second one transposed while it is loaded.
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
    assert_eq!(fault.kind, cuprum_emulator::report::FaultKind::WrongMembers);
}
