"""Forms that work across the lanes of a warp, run by one block.

%l is the lane, %t the thread of the block, %a a value that differs by lane (lane * 3 + 100), %d and %e the two results
(0xdddddddd and 0xeeeeeeee unless written), %p, %q, %w0, %w1, %x0 free registers, DONE the label before the results
are stored. A thread that exits early leaves zeros.
"""

from collections import namedtuple

import driver

WarpForm = namedtuple("WarpForm", "threads text")
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


def all_forms():
    return [*shuffles(), *votes(), *blocks()]


def module_text(form):
    return f""".version 8.6
.target sm_90
.address_size 64
.visible .entry warp_form(.param .u64 out)
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
