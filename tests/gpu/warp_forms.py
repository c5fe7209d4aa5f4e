"""Forms that work across the lanes of a warp, run by one block.

%l is the lane, %t the thread of the block, %a a value that differs by lane (lane * 3 + 100), %d and %e the two results
(0xdddddddd and 0xeeeeeeee unless written), %p, %q, %w0, %w1, %x0 free registers, DONE the label before the results
are stored. A thread that exits early leaves zeros.
"""

from collections import namedtuple

import driver

# Alone, the block belongs to no cluster; as `cluster`, it is a cluster of its own.
WarpForm = namedtuple("WarpForm", "threads text kind", defaults=["warp"])
DIRECTIVES = {"warp": "", "cluster": ".explicitcluster .reqnctapercluster 1"}
FULL = "0xffffffff"
LOWER = "setp.ge.u32 %q, %l, 16; @%q bra DONE;"
ODD_LEAVE = "and.b32 %w1, %l, 1; setp.eq.u32 %q, %w1, 0; @%q bra DONE;"
SIGNED = "mul.lo.u32 %a, %a, 0x01357913;"


def shuffles():
    def shuffle(mode, source, control, mask=FULL):
        return f"shfl.sync.{mode}.b32 %d|%p, %a, {source}, {control}, {mask}; selp.b32 %e, 1, 0, %p;"

    for mode in ("up", "down", "bfly", "idx"):
        for control in ("0", "0x1f", "0x1800", "0x181f", "0x1c03", "0x0007", "0x100f"):
            for source in ("0", "1", "5", "16", "31", "32", "33", "0xffffffff"):
                yield WarpForm(32, shuffle(mode, source, control))
        yield WarpForm(32, f"mul.lo.u32 %w0, %l, 7; {shuffle(mode, '%w0', '0x1f')}")
        yield WarpForm(32, f"shl.b32 %w1, %l, 8; or.b32 %w1, %w1, 0x1f; {shuffle(mode, '1', '%w1')}")
        # From lanes that are not in the mask, that took another path, that do not exist.
        yield WarpForm(32, f"{LOWER} {shuffle(mode, '20', '0x1f', '0x0000ffff')}")
        yield WarpForm(32, f"{LOWER} {shuffle(mode, '9', '0x1f', '0x0000ffff')}")
        yield WarpForm(32, f"{ODD_LEAVE} {shuffle(mode, '1', '0x1f', '0xaaaaaaaa')}")
        yield WarpForm(48, shuffle(mode, "20", "0x1f"))
        yield WarpForm(48, shuffle(mode, "9", "0x1f"))
        yield WarpForm(32, f"setp.ge.u32 %q, %l, 16; @%q ret; {shuffle(mode, '20', '0x1f')}")
        yield WarpForm(32, f"setp.ge.u32 %q, %l, 16; @%q ret; {shuffle(mode, '9', '0x1f')}")


def votes():
    third = "rem.u32 %w0, %l, 3; setp.eq.u32 %p, %w0, 0;"
    for prefix, mask in (("", FULL), (LOWER, "0x0000ffff"), (ODD_LEAVE, "0xaaaaaaaa")):
        for condition in (third, "setp.eq.u32 %p, %l, %l;", "setp.ne.u32 %p, %l, %l;"):
            yield WarpForm(32, f"{prefix} {condition} vote.sync.ballot.b32 %d, %p, {mask};")
            for mode in ("all", "any", "uni"):
                yield WarpForm(32, f"{prefix} {condition} vote.sync.{mode}.pred %q, %p, {mask}; selp.b32 %d, 1, 0, %q;")
        for divisor in (1, 4, 8, 64):
            group = f"div.u32 %w0, %l, {divisor};"
            yield WarpForm(32, f"{prefix} {group} match.any.sync.b32 %d, %w0, {mask};")
            yield WarpForm(32, f"{prefix} {group} cvt.u64.u32 %x0, %w0; match.any.sync.b64 %d, %x0, {mask};")
            yield WarpForm(32, f"{prefix} {group} match.all.sync.b32 %d|%p, %w0, {mask}; selp.b32 %e, 1, 0, %p;")
        for op in ("add.u32", "min.u32", "max.u32", "add.s32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"):
            yield WarpForm(32, f"{prefix} {SIGNED} redux.sync.{op} %d, %a, {mask};")
        yield WarpForm(32, f"{prefix} elect.sync %d|%p, {mask}; selp.b32 %e, 1, 0, %p;")
        yield WarpForm(32, f"{prefix} activemask.b32 %d;")
    yield WarpForm(32, "activemask.b32 %d; setp.ge.u32 %q, %l, 5; @%q bra DONE; activemask.b32 %e;")
    yield WarpForm(48, "activemask.b32 %d; vote.sync.ballot.b32 %e, 1, 0xffffffff;")
    yield WarpForm(32, "setp.ge.u32 %q, %l, 5; @%q ret; activemask.b32 %d; vote.sync.ballot.b32 %e, 1, 0xffffffff;")
    # Different lanes name different masks: each only has to contain the lane itself.
    yield WarpForm(32, "setp.lt.u32 %q, %l, 16; selp.b32 %w0, 0x0000ffff, 0xffff0000, %q; vote.sync.ballot.b32 %d, 1, %w0;")
    yield WarpForm(32, "setp.lt.u32 %q, %l, 16; selp.b32 %w0, 0x0000ffff, 0xffff0000, %q; redux.sync.add.u32 %d, %a, %w0;")


def blocks():
    third = "rem.u32 %w0, %t, 3; setp.eq.u32 %p, %w0, 0;"
    for threads in (32, 48, 80):
        yield WarpForm(threads, f"{third} barrier.sync 0; bar.red.popc.u32 %d, 0, %p;")
        for op in ("and", "or"):
            yield WarpForm(threads, f"{third} bar.red.{op}.pred %q, 0, %p; selp.b32 %d, 1, 0, %q;")
    for register in ("eq", "le", "lt", "ge", "gt"):
        yield WarpForm(48, f"mov.u32 %d, %lanemask_{register};")
    yield WarpForm(80, "mov.u32 %d, %laneid; mov.u32 %e, WARP_SZ;")
    # Threads that have left are not waited for.
    yield WarpForm(64, "setp.ge.u32 %q, %t, 40; @%q ret; bar.sync 0; mov.u32 %d, 1;")
    # A barrier for the first warp alone, and one that a second warp only announces.
    yield WarpForm(64, "setp.ge.u32 %q, %t, 32; @%q bra DONE; bar.sync 1, 32; mov.u32 %d, 1;")
    yield WarpForm(64, "setp.ge.u32 %q, %t, 32; @%q bra OTHER; bar.arrive 2, 64; bra DONE; OTHER: bar.sync 2, 64; mov.u32 %d, 1;")
    for op, operand in (("inc.u32", "5"), ("dec.u32", "5"), ("add.u32", "3"), ("max.u32", "%a"), ("or.b32", "%a")):
        yield WarpForm(32, f"atom.shared.{op} %w0, [cell], {operand}; bar.sync 0; ld.shared.u32 %d, [cell];")


# Bits that differ from lane to lane and have no pattern.
def noise(register, salt):
    return f"mad.lo.u32 {register}, %l, 0x9E3779B1, {salt}; shr.u32 %w0, {register}, 15; xor.b32 {register}, {register}, %w0; " \
        f"mul.lo.u32 {register}, {register}, 0x85EBCA77; shr.u32 %w0, {register}, 13; xor.b32 {register}, {register}, %w0;"


# Element types of matrices: which bits of noise to keep, and what to add, so that every number is a small power of two
# of either sign and every sum of products is exact.
SMALL = {
    "f16": ("0x84008400", "0x38003800"), "bf16": ("0x80808080", "0x3F003F00"), "tf32": ("0x80800000", "0x3F000000"),
    "e4m3": ("0x88888888", "0x30303030"), "e5m2": ("0x84848484", "0x38383838"),
}


def matrix(shape, types, counts, extra="", layout="row.col", result="32", mnemonic="mma.sync.aligned", trailing=""):
    """A product whose accumulators start as small whole numbers; %d and %e take up two results in turn."""
    d, a, b, c = types
    lines = [".reg .b32 %ma<8>, %mb<8>, %mc<8>, %md<8>; .reg .b64 %xa<8>, %xb<8>, %xc<8>, %xd<8>;"]
    names = []
    for letter, kind, count in zip("abc", (a, b, c), counts[:3]):
        wide = kind == "f64"
        names.append("{" + ", ".join(f"%{'x' if wide else 'm'}{letter}{index}" for index in range(count)) + "}")
        for index in range(count):
            register = f"%m{letter}{index}"
            lines.append(noise(register, 7919 * index + ord(letter)))
            if letter == "c" or wide:
                # Bits 4 to 7, as a number.
                lines.append(f"bfe.s32 {register}, {register}, 4, 4;")
                convert = {"f32": "cvt.rn.f32.s32", "f64": f"cvt.rn.f64.s32 %x{letter}{index}, {register};", "s32": ""}.get(kind)
                if kind == "f32":
                    lines.append(f"{convert} {register}, {register};")
                elif kind == "f64":
                    lines.append(convert)
                elif kind == "f16":
                    lines.append(f"and.b32 {register}, {register}, 0x80008000; or.b32 {register}, {register}, 0x3C003C00;")
            elif kind in SMALL:
                mask, base = SMALL[kind]
                lines.append(f"and.b32 {register}, {register}, {mask}; add.u32 {register}, {register}, {base};")
    wide = d == "f64"
    results = [f"%{'xd' if wide else 'md'}{index}" for index in range(counts[3])]
    operands = ", ".join(["{" + ", ".join(results) + "}"] + names)
    order = f"{extra}.{d}.{a}.{b}.{c}"
    lines.append(f"{mnemonic}.{shape}.{layout}{order} {operands}{trailing};")
    for first in range(0, len(results), 2):
        pair = (results * 2)[first : first + 2]
        if wide:
            shown = f"mov.b64 {{%w0, %d}}, {pair[0]}; mov.b64 {{%w0, %e}}, {pair[1]};"
        else:
            shown = f"mov.b32 %d, {pair[0]}; mov.b32 %e, {pair[1]};"
        yield WarpForm(32, " ".join(lines) + " " + shown)


def matrices():
    f32, f16 = "f32", "f16"
    for kind, shape, counts in (
        ("f16", "m16n8k8", (2, 1, 4, 4)), ("f16", "m16n8k16", (4, 2, 4, 4)), ("bf16", "m16n8k8", (2, 1, 4, 4)),
        ("bf16", "m16n8k16", (4, 2, 4, 4)), ("tf32", "m16n8k4", (2, 1, 4, 4)), ("tf32", "m16n8k8", (4, 2, 4, 4)),
        ("e4m3", "m16n8k32", (4, 2, 4, 4)), ("e5m2", "m16n8k32", (4, 2, 4, 4)), ("e4m3", "m16n8k16", (2, 1, 4, 4)),
    ):
        yield from matrix(shape, (f32, kind, kind, f32), counts)
    yield from matrix("m16n8k32", (f32, "e5m2", "e4m3", f32), (4, 2, 4, 4))
    yield from matrix("m16n8k32", (f16, "e4m3", "e5m2", f16), (4, 2, 2, 2))
    for shape, counts in (("m16n8k8", (2, 1, 2, 2)), ("m16n8k16", (4, 2, 2, 2))):
        yield from matrix(shape, (f16, f16, f16, f16), counts)
    for a, b in (("s8", "s8"), ("u8", "s8"), ("u8", "u8")):
        for shape, counts in (("m8n8k16", (1, 1, 2, 2)), ("m16n8k16", (2, 1, 4, 4)), ("m16n8k32", (4, 2, 4, 4))):
            yield from matrix(shape, ("s32", a, b, "s32"), counts)
    for a, b in (("s4", "s4"), ("u4", "s4"), ("u4", "u4")):
        for shape, counts in (("m8n8k32", (1, 1, 2, 2)), ("m16n8k32", (2, 1, 4, 4)), ("m16n8k64", (4, 2, 4, 4))):
            yield from matrix(shape, ("s32", a, b, "s32"), counts, extra=".satfinite" if a == "s4" else "")
    for operation in (".and.popc", ".xor.popc"):
        for shape, counts in (("m8n8k128", (1, 1, 2, 2)), ("m16n8k128", (2, 1, 4, 4)), ("m16n8k256", (4, 2, 4, 4))):
            for form in matrix(shape, ("s32", "b1", "b1", "s32"), counts):
                yield WarpForm(32, form.text.replace("s32.b1.b1.s32", f"s32.b1.b1.s32{operation}"))
    for shape, counts in (("m8n8k4", (1, 1, 2, 2)), ("m16n8k4", (2, 1, 4, 4)), ("m16n8k8", (4, 2, 4, 4)), ("m16n8k16", (8, 4, 4, 4))):
        yield from matrix(shape, ("f64",) * 4, counts)
    for layout in ("row.col", "col.row", "row.row", "col.col"):
        yield from matrix("m8n8k4", (f32, f16, f16, f32), (2, 2, 8, 8), layout=layout)
        yield from matrix("m8n8k4", (f16, f16, f16, f16), (2, 2, 4, 4), layout=layout)
    yield WarpForm(32, f"movmatrix.sync.aligned.m8n8.trans.b16 %d, %a; {noise('%w1', 5)} movmatrix.sync.aligned.m8n8.trans.b16 %e, %w1;")
    for count in (1, 2, 4):
        for transposed in ("", ".trans"):
            tile = ".shared .align 16 .b8 tile[512]; .reg .b32 %m<4>, %at;"
            fill = " ".join(noise(f"%m{index}", index) for index in range(4))
            clear = "mov.u32 %at, tile; shl.b32 %w0, %l, 4; add.u32 %at, %at, %w0; mov.b32 %w0, 0; st.shared.v4.b32 [%at], {%w0, %w0, %w0, %w0}; bar.warp.sync -1;"
            registers = "{" + ", ".join(f"%m{index}" for index in range(count)) + "}"
            show = "mov.u32 %at, tile; shl.b32 %w0, %l, 2; add.u32 %at, %at, %w0; bar.warp.sync -1;"
            for first in (0, 256)[: 1 + count // 4]:
                read = f"ld.shared.b32 %d, [%at+{first}]; ld.shared.b32 %e, [%at+{first + 128}];"
                yield WarpForm(32, f"{tile} {fill} {clear} stmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 [%at], {registers}; {show} {read}")


def barriers_in_memory():
    declare = ".shared .align 8 .b64 bar; setp.eq.u32 %q, %t, 0;"
    first = f"{declare} @%q mbarrier.init.shared.b64 [bar], 32; bar.sync 0;"
    test = "mbarrier.test_wait.shared.b64 %p, [bar], %x0;"
    yield WarpForm(32, f"{first} mbarrier.arrive.shared.b64 %x0, [bar]; bar.sync 0; {test} selp.b32 %d, 1, 0, %p;")
    yield WarpForm(32, f"{first} setp.lt.u32 %q, %l, 31; @%q mbarrier.arrive.shared.b64 %x0, [bar]; bar.sync 0; @%q {test} selp.b32 %d, 1, 0, %p;")
    yield WarpForm(32, f"{first} mbarrier.arrive.shared.b64 %x0, [bar]; bar.sync 0; mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.b32 %d, 1, 0, %p; "
                       "mbarrier.test_wait.parity.shared.b64 %p, [bar], 1; selp.b32 %e, 1, 0, %p;")
    yield WarpForm(32, f"{declare} @%q mbarrier.init.shared.b64 [bar], 7; bar.sync 0; @!%q bra WAIT; mbarrier.arrive.noComplete.shared.b64 %x0, [bar], 3; "
                       "mbarrier.pending_count.b64 %d, %x0; mbarrier.arrive.shared.b64 %x0, [bar]; mbarrier.pending_count.b64 %e, %x0; WAIT: bar.sync 0;")
    yield WarpForm(32, f"{declare} @%q mbarrier.init.shared.b64 [bar], 2; bar.sync 0; @!%q bra WAIT; mbarrier.arrive_drop.shared.b64 %x0, [bar]; "
                       "mbarrier.pending_count.b64 %d, %x0; mbarrier.arrive.shared.b64 %x0, [bar]; mbarrier.arrive.shared.b64 %x0, [bar]; mbarrier.pending_count.b64 %e, %x0; WAIT: bar.sync 0;")
    tx = "mbarrier.{0}.relaxed.cta.shared::cta.b64 [bar], {1};"
    state = "mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.b32 {}, 1, 0, %p;"
    one = f"{declare} @%q mbarrier.init.shared.b64 [bar], 1; bar.sync 0; @!%q bra WAIT;"
    yield WarpForm(32, f"{one} mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %x0, [bar], 24; {state.format('%d')} "
                       f"{tx.format('complete_tx', 16)} {tx.format('complete_tx', 8)} {state.format('%e')} WAIT: bar.sync 0;")
    yield WarpForm(32, f"{one} {tx.format('expect_tx', 8)} mbarrier.arrive.shared.b64 %x0, [bar]; {state.format('%d')} "
                       f"{tx.format('complete_tx', 8)} {state.format('%e')} WAIT: bar.sync 0;")
    yield WarpForm(32, f"{one} {tx.format('complete_tx', 8)} {state.format('%d')} mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8; {state.format('%e')} WAIT: bar.sync 0;")
    # Copies in bulk: to shared memory and back, and with an operation.
    own = "ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;"
    tile = ".shared .align 128 .b8 tile[128]; .reg .b32 %at, %to; mov.u32 %to, tile;"
    fill = f"{own} mul.wide.u32 %y, %l, 4; add.u64 %x0, %o, %y; st.global.b32 [%x0], %a; membar.gl; bar.sync 0;"
    copy = "fence.proxy.async; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%o], 128, [bar];"
    arrive = "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %x0, [bar], 128;"
    wait = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT;"
    read = "shl.b32 %w0, %l, 2; add.u32 %at, %to, %w0; ld.shared.b32 %d, [%at];"
    yield WarpForm(32, f"{tile} {fill} {one} {arrive} {copy} {wait} {read}")
    back = "add.u32 %w1, %d, 5; st.shared.b32 [%at], %w1; fence.proxy.async; bar.sync 0; @!%q bra BACK;"
    finish = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; BACK: bar.sync 0; add.u64 %x0, %o, %y; ld.volatile.global.b32 %e, [%x0]; bar.sync 0;"
    yield WarpForm(32, f"{tile} {fill} {one} {arrive} {copy} {wait} {read} {back} cp.async.bulk.global.shared::cta.bulk_group [%o], [%to], 128; {finish}")
    for op in ("add.u32", "min.s32", "or.b32", "inc.u32", "add.noftz.f16", "max.bf16", "add.u64", "add.f32"):
        yield WarpForm(32, f"{tile} {fill} {one} {arrive} {copy} {wait} {read} {back} cp.reduce.async.bulk.global.shared::cta.bulk_group.{op} [%o], [%to], 128; "
                           f"{finish}")
    cell = "mov.u32 %at, cell;"


def clusters_of_one():
    at = "mov.u32 %w0, cell; mapa.shared::cluster.u32 %w1, %w0, 0;"
    texts = [
        "mov.pred %p, %is_explicit_cluster; selp.b32 %d, 1, 0, %p; mov.u32 %e, %cluster_nctarank;",
        "barrier.cluster.arrive.release; barrier.cluster.wait.acquire; mov.u32 %d, %cluster_ctarank; mov.u32 %e, %nclusterid.x;",
        "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned; mov.u32 %d, 1;",
        f"{at} st.shared::cluster.u32 [%w1], 9; bar.sync 0; ld.shared.u32 %d, [cell]; getctarank.shared::cluster.u32 %e, %w1;",
        f"{at} atom.shared::cluster.add.u32 %d, [%w1], 1; bar.sync 0; ld.shared::cluster.u32 %e, [%w1];",
        "mov.u64 %x0, cell; cvta.shared.u64 %x0, %x0; mapa.u64 %x0, %x0, 0; st.u32 [%x0], 11; bar.sync 0; "
        "ld.shared.u32 %d, [cell]; getctarank.u64 %e, %x0;",
    ]
    bar = ".shared .align 8 .b64 bar; .reg .b32 %br; mov.u32 %br, bar; mapa.shared::cluster.u32 %br, %br, 0;"
    begin = f"{bar} setp.eq.u32 %q, %t, 0; @%q mbarrier.init.shared.b64 [bar], 1; bar.sync 0; @!%q bra WAIT; st.shared.u32 [cell], 44;"
    expect = "mov.u32 %w0, 77; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %x0, [bar], 4;"
    wait = "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT; ld.shared.u32 %d, [cell];"
    complete = "shared::cluster.mbarrier::complete_tx::bytes"
    texts.append(f"{begin} {at} {expect} st.async.weak.{complete}.u32 [%w1], %w0, [%br]; {wait}")
    for op in ("add.u32", "min.u32", "max.s32", "inc.u32", "dec.u32", "or.b32", "xor.b32", "and.b32"):
        texts.append(f"{begin} {at} {expect} red.async.relaxed.cluster.{complete}.{op} [%w1], %w0, [%br]; {wait}")
    for text in texts:
        yield WarpForm(64, text, "cluster")


def all_forms():
    return [*shuffles(), *votes(), *blocks(), *matrices(), *barriers_in_memory(), *clusters_of_one()]


def module_text(form):
    return f""".version 8.8
.target sm_90
.address_size 64
.visible .entry warp_form(.param .u64 out) {DIRECTIVES[form.kind]}
{{
.reg .pred %p, %q; .reg .b32 %l, %t, %a, %d, %e, %w0, %w1; .reg .b64 %o, %x0, %y;
.shared .align 4 .b32 cell;
mov.u32 %l, %laneid; mov.u32 %t, %tid.x; mad.lo.u32 %a, %l, 3, 100; mov.u32 %d, 0xdddddddd; mov.u32 %e, 0xeeeeeeee;
setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [cell], 0; bar.sync 0;
{form.text}
DONE:
ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mul.wide.u32 %y, %t, 8; add.u64 %o, %o, %y;
st.global.v2.b32 [%o], {{%d, %e}};
ret;
}}
"""


def run(form):
    """Two values a thread, or the error."""
    try:
        module = driver.load(module_text(form))
        output = driver.upload(bytes(8 * form.threads))
        argument = output.to_bytes(8, "little")
        driver.launch(driver.function(module, "warp_form"), (1, 1, 1), (form.threads, 1, 1), [argument])
        driver.synchronize()
        data = driver.download(output, 8 * form.threads)
        driver.free(output)
        driver.check("cuModuleUnload", module)
    except driver.DriverError as error:
        print(f"{form.text}: {error}")
        return error
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
