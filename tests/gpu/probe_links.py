"""What a driver makes of several inputs of one link: names that they share, names that are missing, and headers."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p

import driver
from driver import call
from probes import fact, family

PTX = 1
HEAD = ".version {}\n.target {}\n.address_size 64\n"


def header(text, version="7.0", target="sm_52"):
    return HEAD.format(version, target) + text


def entry(name, body, declared=""):
    """A kernel that stores `%r` to its parameter."""
    return (declared + f".visible .entry {name}(.param .u64 out) {{ .reg .b64 %x, %y; .reg .b32 %r; .reg .pred %p;\n"
            f"ld.param.u64 %x, [out]; {body} st.global.u32 [%x], %r; ret; }}\n")


def returns(value, name="f", linkage=".visible"):
    return f"{linkage} .func (.param .b32 r) {name}() {{ st.param.b32 [r], {value}; ret; }}\n"


def calls(name="f"):
    return "{ .param .b32 v; call (v), " + name + ", (); ld.param.b32 %r, [v]; }"


F = ".extern .func (.param .b32 r) f();\n"
K, L = entry("k", calls(), F), entry("l", calls(), F)


def reads(name, space="global"):
    return f"ld.{space}.u32 %r, [{name}];"


def takes(name):
    """Reads through a generic address in a global variable."""
    return f"ld.global.u64 %y, [{name}]; ld.u32 %r, [%y];"


# Inputs in order; then the kernels to run, each of which says what it found, and global variables to look for.
LINKS = {
    "internal constants of one name": (
        [header(entry(k, reads("c", "const"), f".const .u32 c = {v};\n")) for k, v in (("k", 5), ("l", 6))], "kl", "c"),
    "internal constants of several sizes": (
        [header(entry("k", reads("c+4", "const"), ".const .u32 c[2] = {5, 6};\n")),
         header(entry("l", reads("c", "const"), ".const .u32 c = 7;\n"))], "kl", "c"),
    "internal globals of one name": (
        [header(entry(k, reads("g"), f".global .u32 g = {v};\n")) for k, v in (("k", 5), ("l", 6))], "kl", "g"),
    "internal and visible globals of one name": (
        [header(entry("k", reads("g"), ".global .u32 g = 5;\n")),
         header(entry("l", reads("g"), ".visible .global .u32 g = 6;\n"))], "kl", "g"),
    "visible and internal globals of one name": (
        [header(entry("l", reads("g"), ".visible .global .u32 g = 6;\n")),
         header(entry("k", reads("g"), ".global .u32 g = 5;\n"))], "kl", "g"),
    "internal functions of one name": (
        [header(entry(k, calls(), returns(v, linkage=""))) for k, v in (("k", 5), ("l", 6))], "kl", ""),
    "internal and visible functions of one name": (
        [header(entry("k", calls(), returns(5, linkage=""))), header(returns(6)), header(L)], "kl", ""),
    "internal shared variables of one name": (
        [header(entry(k, "st.shared.u32 [s+{0}], {1}; ld.shared.u32 %r, [s+{0}];".format(*v),
                      f".shared .align 4 .b8 s[{v[2]}];\n")) for k, v in (("k", (4, 5, 8)), ("l", (0, 6, 4)))], "kl", ""),
    "internal kernels of one name": (
        [header(entry("k", f"mov.u32 %r, {v};").replace(".visible ", "")) for v in (5, 6)], "k", ""),
    "address of an internal variable": (
        [header(entry(k, takes("p"), f".global .u32 g = {v};\n.global .u64 p = generic(g);\n"))
         for k, v in (("k", 5), ("l", 6))], "kl", ""),
    "one internal global": ([header(entry("k", reads("g"), ".global .u32 g = 5;\n"))], "k", "g"),
    "one internal constant": ([header(entry("k", reads("c", "const"), ".const .u32 c = 5;\n"))], "k", "c"),
    "visible functions of one name": ([header(returns(5)), header(returns(6)), header(K)], "k", ""),
    "visible kernels of one name": ([header(entry("k", f"mov.u32 %r, {v};")) for v in (5, 6)], "k", ""),
    "visible globals of one name": (
        [header(entry(k, reads("g"), f".visible .global .u32 g = {v};\n")) for k, v in (("k", 5), ("l", 6))], "kl", "g"),
    "visible constants of one name": (
        [header(entry(k, reads("c", "const"), f".visible .const .u32 c = {v};\n")) for k, v in (("k", 5), ("l", 6))],
        "kl", "c"),
    "weak functions of one name": (
        [header(returns(5, linkage=".weak")), header(returns(6, linkage=".weak")), header(K)], "k", ""),
    "weak and visible functions": ([header(returns(5, linkage=".weak")), header(returns(6)), header(K)], "k", ""),
    "visible and weak functions": ([header(returns(6)), header(returns(5, linkage=".weak")), header(K)], "k", ""),
    "weak functions called where they are": (
        [header(entry(k, calls(), returns(v, linkage=".weak"))) for k, v in (("k", 5), ("l", 6))], "kl", ""),
    "weak globals of one name": (
        [header(entry(k, reads("g"), f".weak .global .u32 g = {v};\n")) for k, v in (("k", 5), ("l", 6))], "kl", "g"),
    "weak and visible globals": (
        [header(entry("k", reads("g"), ".weak .global .u32 g = 5;\n")),
         header(entry("l", reads("g"), ".visible .global .u32 g = 6;\n"))], "kl", "g"),
    "weak kernels of one name": (
        [header(entry("k", f"mov.u32 %r, {v};").replace(".visible", ".weak")) for v in (5, 6)], "k", ""),
    "common globals": (
        [header(entry(k, reads("g"), ".common .global .u32 g;\n"), "5.0") for k in "kl"], "kl", "g"),
    "common and visible globals": (
        [header(entry("k", reads("g"), ".common .global .u32 g;\n"), "5.0"),
         header(entry("l", reads("g"), ".visible .global .u32 g = 6;\n"))], "kl", "g"),
    "extern global": (
        [header(entry("k", reads("g"), ".extern .global .u32 g;\n")), header(".visible .global .u32 g = 6;\n")], "k", "g"),
    "extern global of another size": (
        [header(entry("k", reads("g"), ".extern .global .u32 g[2];\n")), header(".visible .global .u32 g = 6;\n")],
        "k", "g"),
    "extern global of another type": (
        [header(entry("k", reads("g"), ".extern .global .f32 g;\n")), header(".visible .global .u32 g = 6;\n")], "k", "g"),
    "extern global of another space": (
        [header(entry("k", reads("g"), ".extern .global .u32 g;\n")), header(".visible .const .u32 g = 6;\n")], "k", "g"),
    "extern global that is internal": (
        [header(entry("k", reads("g"), ".extern .global .u32 g;\n")), header(".global .u32 g = 6;\n")], "k", "g"),
    "extern global that is nowhere": ([header(entry("k", reads("g"), ".extern .global .u32 g;\n"))], "k", "g"),
    "extern global that nobody uses": ([header(entry("k", "mov.u32 %r, 5;", ".extern .global .u32 g;\n"))], "k", "g"),
    "extern shared variables": (
        [header(entry(k, "st.shared.u32 [s], 5; ld.shared.u32 %r, [s];", ".extern .shared .align 4 .b8 s[];\n"))
         for k in "kl"], "kl", ""),
    "extern shared variable that is elsewhere": (
        [header(entry("k", "st.shared.u32 [s+4], 5; ld.shared.u32 %r, [s+4];", ".extern .shared .u32 s[2];\n")),
         header(".visible .shared .u32 s[2];\n")], "k", ""),
    "extern function": ([header(K), header(returns(5))], "k", ""),
    "extern function that is internal": ([header(K), header(returns(5, linkage=""))], "k", ""),
    "extern function that is nowhere": ([header(K)], "k", ""),
    "extern function with another result": (
        [header(K), header(".visible .func (.param .b64 r) f() { st.param.b64 [r], 5; ret; }\n")], "k", ""),
    "extern function with a parameter": (
        [header(K), header(".visible .func (.param .b32 r) f(.param .b32 a) { st.param.b32 [r], 5; ret; }\n")], "k", ""),
    "extern function without result": ([header(K), header(".visible .func f() { ret; }\n")], "k", ""),
    "extern function called by two": ([header(K), header(L), header(returns(5))], "kl", ""),
    "newer version first": ([header(K, "7.0"), header(returns(5), "6.0")], "k", ""),
    "older version first": ([header(K, "6.0"), header(returns(5), "7.0")], "k", ""),
    "newer target second": (
        [header(K, "6.0", "sm_52"), header(".visible .func (.param .b32 r) f() { .reg .b32 %a, %b;\n"
                                           "mov.u32 %a, 5; min.xorsign.abs.f32 %b, %a, %a; redux.sync.add.s32 %b, %a, 1;\n"
                                           "st.param.b32 [r], %a; ret; }\n".replace(
                                               "min.xorsign.abs.f32 %b, %a, %a; ", ""), "7.0", "sm_80")], "k", ""),
    "newer target first": ([header(K, "7.0", "sm_80"), header(returns(5), "6.0", "sm_52")], "k", ""),
    "shuffle without mask beside a newer target": (
        [header(entry("k", "mov.u32 %r, 5; shfl.idx.b32 %r, %r, 0, 31;"), "6.0", "sm_52"),
         header(entry("l", "mov.u32 %r, 6;"), "7.0", "sm_80")], "kl", ""),
    "newer target before a shuffle without mask": (
        [header(entry("l", "mov.u32 %r, 6;"), "7.0", "sm_80"),
         header(entry("k", "mov.u32 %r, 5; shfl.idx.b32 %r, %r, 0, 31;"), "6.0", "sm_52")], "kl", ""),
    "extern function that nobody calls": ([header(entry("k", "mov.u32 %r, 5;", F))], "k", ""),
    "extern function whose address is taken": (
        [header(entry("k", "mov.u64 %y, f; setp.ne.u64 %p, %y, 0; selp.u32 %r, 5, 6, %p;", F)), header(returns(5))],
        "k", ""),
    "function that is declared and not extern": ([header(entry("k", calls(), F.replace(".extern ", ""))),
                                                  header(returns(5))], "k", ""),
    "visible function that is declared": ([header(entry("k", calls(), F.replace(".extern", ".visible"))),
                                           header(returns(5))], "k", ""),
    "result of another type": (
        [header(K), header(".visible .func (.param .f32 r) f() { st.param.f32 [r], 0f00000005; ret; }\n")], "k", ""),
    "result with another alignment": (
        [header(K), header(".visible .func (.param .align 4 .b8 r[4]) f() { st.param.b32 [r], 5; ret; }\n")], "k", ""),
    "function and global of one name": ([header(returns(5)), header(".visible .global .u32 f = 6;\n")], "", ""),
    "function and kernel of one name": ([header(K), header(entry("f", "mov.u32 %r, 5;"))], "k", ""),
    "extern global of another alignment": (
        [header(entry("k", reads("g"), ".extern .global .align 16 .u32 g;\n")), header(".visible .global .u32 g = 6;\n")],
        "k", "g"),
    "extern global without size": (
        [header(entry("k", reads("g"), ".extern .global .u32 g[];\n")), header(".visible .global .u32 g[2] = {6, 7};\n")],
        "k", "g"),
    "weak globals of several sizes": (
        [header(entry("k", reads("g"), ".weak .global .u32 g = 5;\n")),
         header(entry("l", reads("g+4"), ".weak .global .u32 g[2] = {6, 7};\n"))], "kl", "g"),
    "common globals of several sizes": (
        [header(entry("k", reads("g"), ".common .global .u32 g;\n"), "5.0"),
         header(entry("l", reads("g+4"), ".common .global .u32 g[2];\n"), "5.0")], "kl", "g"),
    "weak and visible function of several shapes": (
        [header(".weak .func (.param .b64 r) f() { st.param.b64 [r], 5; ret; }\n"), header(returns(6)), header(K)],
        "k", ""),
    "extern shared variable of a size that is nowhere": (
        [header(entry("k", "st.shared.u32 [s+4], 5; ld.shared.u32 %r, [s+4];", ".extern .shared .u32 s[2];\n"))], "k", ""),
    "extern shared variables of several sizes": (
        [header(entry("k", "st.shared.u32 [s+4], 5; ld.shared.u32 %r, [s+4];", ".extern .shared .u32 s[2];\n")),
         header(".visible .shared .u32 s[4];\n")], "k", ""),
    "visible shared variables of one name": (
        [header(entry(k, "st.shared.u32 [s+4], 5; ld.shared.u32 %r, [s+4];", ".visible .shared .u32 s[2];\n"))
         for k in "kl"], "kl", ""),
    "no PTX": ([header(K), "hello"], "", ""),
    "wrong PTX": ([header(entry("k", "mov.u32 %r, 5;")), header(entry("l", "mov.u32 %r, %z;")), header(entry("m", "mov.u32 %r, 6;"))],
                  "km", ""),
    "wrong PTX and a missing function": ([header(K), header(entry("l", "mov.u32 %r, %z;"))], "k", ""),
    "conflict before what is right": (
        [header(returns(5)), header(returns(5)), header(entry("k", "mov.u32 %r, 5;"))], "k", ""),
    "constants beyond the most": (
        [header(entry(k, reads("c", "const"), ".const .u32 c[9000] = {5};\n")) for k in "kl"], "kl", ""),
    "target too new and nothing missing": ([header(entry("k", "mov.u32 %r, 5;")), header(returns(5), "8.8", "sm_121")], "k", ""),
    "target too new": ([header(K), header(returns(5), "8.8", "sm_121")], "k", ""),
    "one input twice": ([header(returns(5)), header(returns(5)), header(K)], "k", ""),
    "alias": (
        [header(returns(5, "g") + ".visible .func (.param .b32 r) f();\n.alias f, g;\n", "6.3", "sm_52"), header(K)],
        "k", ""),
}


@family(LINKS)
def link(name):
    """Codes of each call; the start of the log; what the kernels found, and where the variables are."""
    texts, kernels, variables = LINKS[name]
    driver.start()
    log = ctypes.create_string_buffer(8192)
    options, values = (c_int * 2)(5, 6), (c_void_p * 2)(ctypes.addressof(log), 8192)
    state, out, size, module = c_void_p(), c_void_p(), c_size_t(), c_void_p()
    fact("cuLinkCreate_v2", call("cuLinkCreate_v2", 2, options, values, byref(state)))
    for number, text in enumerate(texts):
        data = text.encode() + b"\0"
        code = call("cuLinkAddData_v2", state, PTX, data, c_size_t(len(data)), c_char_p(b"input%d" % number), 0, None, None)
        fact(f"cuLinkAddData_v2 {number}", code)
    code = call("cuLinkComplete", state, byref(out), byref(size))
    fact("cuLinkComplete", code)
    if code:
        # The words are the driver's; the record keeps whether it names the symbol.
        print(f"# {name}: {log.value.decode(errors='replace')!r}", flush=True)
        return
    fact("cuModuleLoadData", call("cuModuleLoadData", byref(module), out))
    for kernel in kernels:
        handle, memory = c_void_p(), driver.upload(bytes(4))
        code = call("cuModuleGetFunction", byref(handle), module, kernel.encode())
        fact(f"cuModuleGetFunction {kernel}", code)
        if not code:
            argument = c_uint64(memory)
            arguments = (c_void_p * 1)(ctypes.addressof(argument))
            fact(f"cuLaunchKernel {kernel}", call("cuLaunchKernel", handle, 1, 1, 1, 1, 1, 1, 64, None, arguments, None))
            fact(f"cuCtxSynchronize {kernel}", call("cuCtxSynchronize"))
            fact(f"result of {kernel}", int.from_bytes(driver.download(memory, 4), "little"))
    for variable in variables:
        where, bytes_ = c_uint64(), c_size_t()
        code = call("cuModuleGetGlobal_v2", byref(where), byref(bytes_), module, variable.encode())
        fact(f"cuModuleGetGlobal_v2 {variable}", code)
        if not code:
            fact(f"bytes of {variable}", bytes_.value)
            fact(f"first word of {variable}", int.from_bytes(driver.download(where.value, 4), "little"))
