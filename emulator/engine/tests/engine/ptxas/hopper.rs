//! Statements that only `sm_90a` has, entirely or in part: products of a warp group, copies by
//! tensor maps, and related ones, in all their forms and in invalid ones.

const PLACES: [&str; 6] =
    ["", "{%r1}", "{%r1, %r2}", "{%r1, %r2, %r3}", "{%r1, %r2, %r3, %r4}", "{%r1, %r2, %r3, %r4, %r5}"];
const OFFSETS: [&str; 6] = ["", "", "", ", {%h1}", ", {%h1, %h2}", ", {%h1, %h2, %h3}"];

/// Statements that are valid or invalid regardless of other statements.
const SINGLE: [&str; 44] = [
    "wgmma.fence.sync.aligned;",
    "wgmma.fence;",
    "wgmma.fence.sync.aligned 0;",
    "wgmma.commit_group.sync.aligned;",
    "wgmma.commit_group;",
    "wgmma.wait_group.sync.aligned 0;",
    "wgmma.wait_group.sync.aligned 9;",
    "wgmma.wait_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned %r1;",
    "wgmma.sync.aligned.wait_group 0;",
    "setmaxnreg.inc.sync.aligned.u32 240;",
    "setmaxnreg.dec.sync.aligned.u32 25;",
    "setmaxnreg.inc.sync.aligned.u32 264;",
    "setmaxnreg.inc.u32 240;",
    "setmaxnreg.sync.aligned.u32 240;",
    "griddepcontrol.wait;",
    "griddepcontrol;",
    "elect.sync %r1|%p1, 0xffffffff;",
    "elect.sync %r1, 1;",
    "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;",
    "fence.proxy.tensormap::generic.acquire.gpu [%d1], 64;",
    "fence.proxy.tensormap::generic.release.gpu;",
    "fence.proxy.async.shared::cta;",
    "fence.mbarrier_init.release.cluster;",
    "prefetch.tensormap [%d0];",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r1], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r1], 64;",
    "tensormap.cp_fenceproxy.global.shared::cta.release.gpu.sync.aligned [%d1], [%r1], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu [%d1], [%r1], 128;",
    "cp.async.bulk.wait_group.read 3;",
    "cp.async.bulk.wait_group %r1;",
    "cp.async.bulk.commit_group 1;",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%d0, {%d1, %d2}], [%r9];",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%d0, {1, -2}], [%r9];",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [map, {%r1, %r2}], [%r9];",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%d0+64, {%r1, %r2}], [%r9];",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [s+128], [%d0, {%r1, %r2}], [bar];",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%d0, {%r1, %r2}];",
    "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r0], [%d0, {%r1, %r2, %r3}], [%r9], {%r1};",
    "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r0], [%d0, {%r1, %r2, %r3}], [%r9];",
    "tensormap.replace.tile.rank.shared::cta.b32 [%r1], 1;",
    "tensormap.replace.tile.rank.shared::cta.b1024.b64 [%r1], %d1;",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 1;",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], %r2, 1;",
];

fn program(statement: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128]) {{
        .reg .b32 %r<140>; .reg .f32 %f<140>; .reg .b64 %d<8>; .reg .b16 %h<8>; .reg .pred %p<4>;
        .shared .align 128 .b8 s[4096]; .shared .align 8 .b64 bar; mov.b64 %d0, map; cvta.param.u64 %d0, %d0;
        {statement} ret; }}\n"
    )
}

fn list(name: &str, count: u32) -> String {
    let names: Vec<String> = (0..count).map(|index| format!("%{name}{index}")).collect();
    format!("{{{}}}", names.join(", "))
}

fn products(add: &mut dyn FnMut(String)) {
    let types = [
        "f16.f16.f16 16",
        "f32.f16.f16 16",
        "f32.bf16.bf16 16",
        "f16.bf16.bf16 16",
        "f32.tf32.tf32 8",
        "f16.tf32.tf32 8",
        "f32.e4m3.e5m2 32",
        "f16.e5m2.e4m3 32",
        "s32.s8.u8 32",
        "s32.u8.u8 32",
        "s32.s8.f16 32",
        "f32.f16.bf16 16",
        "s32.b1.b1.and.popc 256",
        "s32.b1.b1.xor.popc 256",
        "f32.f32.f32 8",
        "f64.f64.f64 4",
        "satfinite.s32.s8.s8 32",
        "s32.u8.u8.satfinite 32",
        "f32.f16.f16.satfinite 16",
    ];
    for (types, depth) in types.iter().filter_map(|text| text.split_once(' ')) {
        for columns in [8, 12, 24, 40, 48, 128, 256, 264] {
            let registers = if types.starts_with("f16") { columns / 4 } else { columns / 2 };
            let d = list(if types.starts_with("f32") { "f" } else { "r" }, registers);
            let rest = match types {
                _ if types.contains("s32") => "",
                _ if types.contains(".f16.") || types.contains(".bf16.") => ", 1, 1, 0, 0",
                _ => ", 1, 1",
            };
            add(format!(
                "wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{types} {d}, %d1, %d2, %p1{rest};"
            ));
        }
    }
    let form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16";
    let four = list("f", 4);
    for left in ["%d1", "{%r0, %r1, %r2, %r3}", "{%r0, %r1, %r2}", "{%f0, %f1, %f2, %f3}", "%r1"] {
        for rest in [
            "",
            ", 1, 1",
            ", 1, 1, 0",
            ", 1, 1, 0, 0",
            ", -1, 1, 1, 1",
            ", 0, 1, 0, 0",
            ", 1, 1, 2, 0",
            ", 1, -1, 1",
        ] {
            add(format!("{form} {four}, {left}, %d2, %p1{rest};"));
        }
    }
    sparse_products(add);
    for condition in ["1", "!%p1", "%r1"] {
        add(format!("{form} {four}, %d1, %d2, {condition}, 1, 1, 0, 0;"));
    }
    for d in ["{%r0, %r1, %r2, %r3}", "{%f0, %f1}", "{%d0, %d1, %d2, %d3}", "{%f0, %f1, %f2, 0}", "%f0"] {
        add(format!("{form} {d}, %d1, %d2, %p1, 1, 1, 0, 0;"));
    }
}

fn sparse_products(add: &mut dyn FnMut(String)) {
    let types = [
        "f16.f16.f16 32",
        "f32.f16.f16 32",
        "f32.bf16.bf16 32",
        "f32.tf32.tf32 16",
        "f32.tf32.tf32 8",
        "f32.e4m3.e5m2 64",
        "f16.e5m2.e4m3 64",
        "f32.e5m2.e5m2 32",
        "s32.s8.u8 64",
        "s32.u8.u8.satfinite 64",
        "s32.b1.b1.and.popc 512",
        "f32.f16.f16 16",
    ];
    for (types, depth) in types.iter().filter_map(|text| text.split_once(' ')) {
        for columns in [8, 24, 40, 256] {
            let registers = if types.starts_with("f16") { columns / 4 } else { columns / 2 };
            let d = list(if types.starts_with("f32") { "f" } else { "r" }, registers);
            let rest = match types {
                _ if types.contains("s32") => "",
                _ if types.contains(".f16.") || types.contains(".bf16.") => ", 1, -1, 1, 0",
                _ => ", 1, 1",
            };
            for selector in ["0", "1", "2", "%r1"] {
                add(format!(
                    "wgmma.mma_async.sp.sync.aligned.m64n{columns}k{depth}.{types} {d}, %d1, %d2, %r2, {selector}, %p1{rest};"
                ));
            }
        }
    }
    let form = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16";
    let four = list("f", 4);
    for left in ["%d1, %d2", "{%r0, %r1, %r2, %r3}, %d2", "{%r0, %r1}, %d2", "%d1, %r1"] {
        for rest in ["1, 1, 0", "1, 1, 0, 0", "1, 1", "1, 0, 0, 0"] {
            for places in ["%r5, 1, ", "%f5, 0, ", "%d5, 0, ", "%h5, 0, ", "7, 0, ", "%r5, ", ""] {
                add(format!("{form} {four}, {left}, {places}%p1, {rest};"));
            }
        }
    }
    for order in [
        "mma_async.sync.sp.aligned",
        "mma_async.sync.aligned.sp",
        "mma_async.sp.aligned",
        "sp.mma_async.sync.aligned",
    ] {
        add(format!("wgmma.{order}.m64n8k32.f32.f16.f16 {four}, %d1, %d2, %r5, 1, %p1, 1, 1, 0, 0;"));
    }
}

fn copies(add: &mut dyn FnMut(String)) {
    for rank in 1..=5 {
        let (place, offsets) = (PLACES[rank], OFFSETS[rank]);
        for mode in ["", ".tile", ".im2col", ".im2col_no_offs", ".tile::gather4"] {
            let infos = if mode == ".im2col" { offsets } else { "" };
            for space in ["shared::cluster", "shared::cta", "shared", "global"] {
                for (multicast, hint) in [("", ""), (".multicast::cluster", ""), ("", ".L2::cache_hint")] {
                    let blocks = if multicast.is_empty() { "" } else { ", %h4" };
                    let policy = if hint.is_empty() { "" } else { ", %d3" };
                    add(format!(
                        "cp.async.bulk.tensor.{rank}d.{space}.global{mode}.mbarrier::complete_tx::bytes{multicast}{hint} \
                         [%r0], [%d0, {place}], [%r9]{infos}{blocks}{policy};"
                    ));
                }
                add(format!(
                    "cp.async.bulk.tensor.{rank}d.global.{space}{mode}.bulk_group [%d0, {place}], [%r0];"
                ));
                for operation in ["add", "inc", "xor", "exch"] {
                    add(format!(
                        "cp.reduce.async.bulk.tensor.{rank}d.global.{space}.{operation}{mode}.bulk_group [%d0, {place}], [%r0];"
                    ));
                }
            }
            add(format!("cp.async.bulk.prefetch.tensor.{rank}d.L2.global{mode} [%d0, {place}]{infos};"));
        }
    }
}

fn fields(add: &mut dyn FnMut(String)) {
    let fields = [
        ("global_address", "b64", "", ["%d1", "%r1"]),
        ("rank", "b32", "", ["3", "%d1"]),
        ("box_dim", "b32", "4, ", ["%r1", "16"]),
        ("box_dim", "b32", "5, ", ["%r1", "16"]),
        ("global_dim", "b32", "1, ", ["%r1", "16"]),
        ("global_stride", "b64", "3, ", ["%d1", "256"]),
        ("element_stride", "b32", "0, ", ["%r1", "1"]),
        ("elemtype", "b32", "", ["12", "%r1"]),
        ("interleave_layout", "b32", "", ["2", "3"]),
        ("swizzle_mode", "b32", "", ["3", "5"]),
        ("fill_mode", "b32", "", ["1", "2"]),
    ];
    for (space, at) in [("shared::cta.", "%r1"), ("global.", "%d1"), ("shared.", "%r1"), ("", "%d1")] {
        for (field, ty, dimension, values) in fields {
            for value in values {
                add(format!("tensormap.replace.tile.{field}.{space}b1024.{ty} [{at}], {dimension}{value};"));
            }
        }
    }
}

pub(super) fn programs() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |statement: String| all.push((program(&statement), statement));
    SINGLE.iter().for_each(|statement| add((*statement).to_owned()));
    products(&mut add);
    copies(&mut add);
    fields(&mut add);
    all
}
