// What copies by interleaved tensor maps move: prints tests/data/goldens/interleaved.txt.
//
//     nvcc -arch=sm_90 -std=c++17 interleaved.cpp -lcuda && ./a.out >../data/goldens/interleaved.txt
//
// Needs a GPU of compute capability 9.0. Each word of the source is its own number. A line names the case, in the form of
// hopper.cpp; the next one has a hash of what moved (FNV-1a, 64 bits) and its beginning: pieces of 16 bytes, each with where
// it comes from. Each case has a process of its own.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda.h>
using std::string;
static void must(CUresult c, const char* w) { if (c != CUDA_SUCCESS) { printf("setup failed: %s %d\n", w, c); fflush(stdout); _exit(3); } }
#define MUST(x) must(x, #x)
static const size_t MEMORY = 4 << 20, BASE = 1 << 20, TILE = 32768;
struct Case {
  int type; std::vector<cuuint64_t> sizes, strides; std::vector<cuuint32_t> tile, steps; int interleave, swizzle; std::vector<int> at;
  std::vector<int> lower = {}, upper = {}, offsets = {}; bool store = false; int fill = 0; unsigned start = 0; const char* reduce = nullptr;
};
template <class T> static string list(const std::vector<T>& v) { string s; for (T x : v) s += (s.empty() ? "" : ",") + std::to_string((long long)x); return s.empty() ? "-" : s; }
// Whole slices, but along the last dimension but one.
static unsigned bytes(const Case& c) {
  unsigned rank = c.sizes.size(), n = c.interleave == 2 ? 32 : 16;
  if (!c.lower.empty()) return n * c.tile[1];
  for (unsigned i = 0; i < rank; i++) if (i != rank - 2) n *= (c.tile[i] + c.steps[i] - 1) / c.steps[i];
  return n;
}
static void run(const Case& c) {
  MUST(cuInit(0)); CUcontext ctx; MUST(cuDevicePrimaryCtxRetain(&ctx, 0)); MUST(cuCtxSetCurrent(ctx));
  unsigned rank = c.sizes.size(); bool columns = !c.lower.empty();
  CUdeviceptr mem, tiles, out; MUST(cuMemAlloc(&mem, MEMORY)); MUST(cuMemAlloc(&tiles, TILE)); MUST(cuMemAlloc(&out, TILE + 64));
  std::vector<uint32_t> m(MEMORY / 4), t(TILE / 4), r(TILE / 4 + 16);
  for (size_t i = 0; i < m.size(); i++) m[i] = c.store ? 0xffffffff : (uint32_t)i;
  for (size_t i = 0; i < t.size(); i++) t[i] = c.store ? (uint32_t)i : 0xffffffff;
  MUST(cuMemcpyHtoD(mem, m.data(), MEMORY)); MUST(cuMemcpyHtoD(tiles, t.data(), TILE)); MUST(cuMemsetD8(out, 0, TILE + 64));
  alignas(64) CUtensorMap map; auto st = c.strides; st.resize(5);
  CUresult e = columns
    ? cuTensorMapEncodeIm2col(&map, (CUtensorMapDataType)c.type, rank, (void*)(mem + BASE), c.sizes.data(), st.data(), c.lower.data(), c.upper.data(), c.tile[0], c.tile[1], c.steps.data(), (CUtensorMapInterleave)c.interleave, (CUtensorMapSwizzle)c.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)c.fill)
    : cuTensorMapEncodeTiled(&map, (CUtensorMapDataType)c.type, rank, (void*)(mem + BASE), c.sizes.data(), st.data(), c.tile.data(), c.steps.data(), (CUtensorMapInterleave)c.interleave, (CUtensorMapSwizzle)c.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)c.fill);
  if (e) { printf("not encoded %d\n", e); return; }
  string place = "[%m, {" + list(c.at) + "}]", infos;
  for (int o : c.offsets) infos += (infos.empty() ? ", {" : ", ") + std::to_string(o);
  if (!infos.empty()) infos += "}";
  string dim = std::to_string(rank) + "d";
  string text = ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 tile, .param .u64 out) {\n"
    ".reg .b32 %t,%s,%i,%b,%w<4>; .reg .b64 %p,%q,%x,%m,%v,%u; .reg .pred %first,%more;\n"
    ".shared .align 1024 .b8 tiles[32768]; .shared .align 8 .b64 bar;\n"
    "mov.b64 %m,map; cvta.param.u64 %m,%m; mov.u32 %t,%tid.x; setp.eq.u32 %first,%t,0; ld.param.u64 %p,[tile]; mul.wide.u32 %x,%t,16; add.u64 %q,%p,%x;\n"
    "mov.u32 %s,tiles; mad.lo.u32 %s,%t,16,%s; mov.u32 %i,0;\n"
    "L: ld.global.v4.b32 {%w0,%w1,%w2,%w3},[%q]; st.shared.v4.b32 [%s],{%w0,%w1,%w2,%w3}; add.u64 %q,%q,2048; add.u32 %s,%s,2048; add.u32 %i,%i,1; setp.lt.u32 %more,%i,16; @%more bra L;\n"
    "mov.u32 %b,bar; @%first mbarrier.init.shared.b64 [%b],1; fence.proxy.async; bar.sync 0; mov.u32 %s,tiles; add.u32 %s,%s," + std::to_string(c.start) + "; @!%first bra E; ld.param.u64 %p,[out];\n";
  if (c.store || c.reduce) {
    string op = c.reduce ? string("cp.reduce.async.bulk.tensor.") : string("cp.async.bulk.tensor.");
    text += op + dim + ".global.shared::cta" + (c.reduce ? string(".") + c.reduce : "") + (columns ? ".im2col_no_offs" : ".tile") + ".bulk_group " + place + ",[%s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  } else
    text += "mbarrier.arrive.expect_tx.shared.b64 _,[%b]," + std::to_string(bytes(c)) + "; ld.shared.b64 %v,[%b];\n"
      "cp.async.bulk.tensor." + dim + ".shared::cluster.global" + (columns ? ".im2col" : ".tile") + ".mbarrier::complete_tx::bytes [%s], " + place + ", [%b]" + infos + ";\n"
      "mov.u32 %i,0; W: nanosleep.u32 1000; add.u32 %i,%i,1; setp.lt.u32 %more,%i,2000; @%more bra W;\n"
      "mbarrier.test_wait.parity.shared.b64 %more,[%b],0; selp.b64 %u,1,0,%more; st.global.b64 [%p+32768],%v; st.global.b64 [%p+32776],%u;\n";
  text += "E: bar.sync 0; ld.param.u64 %p,[out]; add.u64 %q,%p,%x; mov.u32 %s,tiles; mad.lo.u32 %s,%t,16,%s; mov.u32 %i,0;\n"
    "M: ld.shared.v4.b32 {%w0,%w1,%w2,%w3},[%s]; st.global.v4.b32 [%q],{%w0,%w1,%w2,%w3}; add.u64 %q,%q,2048; add.u32 %s,%s,2048; add.u32 %i,%i,1; setp.lt.u32 %more,%i,16; @%more bra M; ret; }\n";
  CUmodule mod; char log[4096] = ""; CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}; void* v[] = {log, (void*)sizeof log};
  CUresult l = cuModuleLoadDataEx(&mod, text.c_str(), 2, o, v);
  if (l) { printf("load %d %s\n", l, log); return; }
  CUfunction f; MUST(cuModuleGetFunction(&f, mod, "k"));
  void* a[] = {&map, &tiles, &out}; CUresult d = cuLaunchKernel(f, 1,1,1, 128,1,1, 0, nullptr, a, nullptr); if (!d) d = cuCtxSynchronize();
  if (d) { printf("failed %d\n", d); return; }
  MUST(cuMemcpyDtoH(r.data(), out, TILE + 64));
  const uint32_t* words = r.data(); size_t count = TILE / 4; long zero = BASE / 4;
  if (c.store || c.reduce) { MUST(cuMemcpyDtoH(m.data(), mem, MEMORY)); words = m.data(); count = m.size(); zero = 0; }
  else { unsigned long long b[2]; memcpy(b, &r[TILE / 4], 16); if (!b[1]) { printf("never complete\n"); return; } }
  string moved;
  auto say = [&](const char* format, auto... values) { char one[100]; snprintf(one, sizeof one, format, values...); moved += one; };
  // Pieces of 16 bytes that changed: "PIECE..LAST <- first byte" (relative to the tensor, or to the tile), or four words.
  long first = -1, last = -1, from = 0;
  auto flush = [&] { if (first >= 0) say(" %ld..%ld<-%ld", first, last, from); first = -1; };
  for (size_t i = 0; i + 4 <= count; i += 4) {
    const uint32_t* w = words + i; long piece = (long)i / 4 - (c.store || c.reduce ? (long)BASE / 16 : 0);
    if (w[0] == 0xffffffff && w[1] == 0xffffffff && w[2] == 0xffffffff && w[3] == 0xffffffff) { flush(); continue; }
    bool chain = w[1] == w[0] + 1 && w[2] == w[0] + 2 && w[3] == w[0] + 3;
    if (chain) { long at = ((long)w[0] - zero) * 4; if (first >= 0 && last + 1 == piece && from + (last - first + 1) * 16 == at) last = piece; else { flush(); first = last = piece; from = at; } }
    else { flush(); if (!w[0] && !w[1] && !w[2] && !w[3]) say(" %ld:0", piece); else say(" %ld:%x/%x/%x/%x", piece, w[0], w[1], w[2], w[3]); }
  }
  flush();
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : moved) hash = (hash ^ byte) * 0x100000001b3;
  printf("%016llx%s\n", (unsigned long long)hash, moved.substr(0, 60).c_str());
}
int main() {
  enum { U8 = 0, U16 = 1, U32 = 2, F16 = 6, F32 = 7 };
  std::vector<Case> cases;
  auto add = [&](Case c) { cases.push_back(c); };
  // Slices of 16 bytes, three dimensions: each coordinate by itself, and the tile's sides.
  for (std::vector<int> at : std::vector<std::vector<int>>{{0,0,0},{1,0,0},{2,0,0},{8,0,0},{0,1,0},{0,0,1},{0,3,2}})
    add({U16, {24,20,10}, {512,6144}, {8,2,2}, {1,1,1}, 1, 0, at});
  for (std::vector<cuuint32_t> box : std::vector<std::vector<cuuint32_t>>{{8,1,1},{16,1,1},{24,1,1},{8,3,1},{8,1,3},{16,2,3},{8,6,5}})
    add({U16, {24,20,10}, {512,6144}, box, {1,1,1}, 1, 0, {0,0,0}});
  // Other types, sizes of rows of whole slices and not.
  add({U8, {48,20,10}, {512,6144}, {16,2,2}, {1,1,1}, 1, 0, {0,0,0}});
  add({U8, {48,20,10}, {512,6144}, {32,2,2}, {1,1,1}, 1, 0, {1,0,0}});
  add({U32, {12,20,10}, {512,6144}, {4,2,2}, {1,1,1}, 1, 0, {0,0,0}});
  add({U32, {12,20,10}, {512,6144}, {8,2,2}, {1,1,1}, 1, 0, {1,1,0}});
  add({U16, {20,20,10}, {512,6144}, {8,2,2}, {1,1,1}, 1, 0, {2,0,0}});
  add({U16, {20,20,10}, {512,6144}, {24,2,2}, {1,1,1}, 1, 0, {0,0,0}});
  add({U16, {3,20,10}, {512,6144}, {8,2,2}, {1,1,1}, 1, 0, {0,0,0}});
  // Four and five dimensions.
  for (std::vector<int> at : std::vector<std::vector<int>>{{0,0,0,0},{1,0,0,0},{0,1,0,0},{0,0,1,0},{0,0,0,1}})
    add({U16, {24,12,3,10}, {512,1536,6144}, {16,2,2,2}, {1,1,1,1}, 1, 0, at});
  add({U16, {24,6,5,4,3}, {128,1024,8192,65536}, {16,2,2,2,2}, {1,1,1,1,1}, 1, 0, {0,0,0,0,0}});
  add({U16, {24,6,5,4,3}, {128,1024,8192,65536}, {8,2,2,2,2}, {1,1,1,1,1}, 1, 0, {1,1,2,1,1}});
  // Borders.
  add({U16, {24,20,10}, {512,6144}, {16,6,5}, {1,1,1}, 1, 0, {0,-2,-1}});
  add({U16, {24,20,10}, {512,6144}, {16,6,5}, {1,1,1}, 1, 0, {0,17,8}});
  add({U16, {24,20,10}, {512,6144}, {16,2,2}, {1,1,1}, 1, 0, {-1,0,0}});
  add({U16, {24,20,10}, {512,6144}, {16,2,2}, {1,1,1}, 1, 0, {2,0,0}});
  add({U16, {24,20,10}, {512,6144}, {16,2,2}, {1,1,1}, 1, 0, {16,0,0}});
  add({F16, {24,20,10}, {512,6144}, {8,4,4}, {1,1,1}, 1, 0, {0,18,8}, {}, {}, {}, false, 1});
  // Steps.
  add({U16, {64,20,10}, {512,6144}, {32,4,4}, {1,2,1}, 1, 0, {0,0,0}});
  add({U16, {64,20,10}, {512,6144}, {32,4,4}, {1,1,3}, 1, 0, {0,0,0}});
  add({U16, {64,20,10}, {512,6144}, {32,4,4}, {2,1,1}, 1, 0, {0,0,0}});
  // Swizzles, with 16 and 32 bytes.
  for (int swizzle = 0; swizzle < 4; swizzle++) {
    add({U16, {64,20,10}, {512,6144}, {32,4,4}, {1,1,1}, 1, swizzle, {0,0,0}});
    add({U16, {64,20,10}, {1024,12288}, {32,4,4}, {1,1,1}, 2, swizzle, {0,0,0}});
    add({U16, {64,20,10}, {1024,12288}, {16,8,8}, {1,1,1}, 2, swizzle, {1,0,0}});
  }
  add({U16, {64,20,10}, {1024,12288}, {16,2,2}, {1,1,1}, 2, 1, {0,1,0}});
  add({U16, {64,20,10}, {1024,12288}, {16,2,2}, {1,1,1}, 2, 1, {0,0,1}});
  add({U16, {64,20,10}, {1024,12288}, {8,2,2}, {1,1,1}, 2, 1, {0,0,0}});
  add({U16, {64,20,10}, {1024,12288}, {16,8,8}, {1,1,1}, 2, 1, {0,0,0}, {}, {}, {}, false, 0, 128});
  add({U8, {64,20,10}, {1024,12288}, {32,2,2}, {1,1,1}, 2, 1, {1,2,0}});
  add({U16, {64,12,3,10}, {1024,3072,12288}, {32,2,2,2}, {1,1,1,1}, 2, 1, {0,1,1,1}});
  add({U16, {64,12,3,10}, {1024,3072,12288}, {32,6,2,3}, {1,1,1,1}, 2, 1, {1,-2,1,8}});
  // To global memory.
  add({U16, {24,20,10}, {512,6144}, {16,2,2}, {1,1,1}, 1, 0, {0,1,1}, {}, {}, {}, true});
  add({U16, {24,20,10}, {512,6144}, {16,4,4}, {1,1,1}, 1, 0, {1,18,-1}, {}, {}, {}, true});
  add({U16, {64,20,10}, {1024,12288}, {16,4,2}, {1,1,1}, 2, 1, {1,1,1}, {}, {}, {}, true});
  // Columns of pixels: channels, width, height, (depth,) images, as the slices have them.
  add({U16, {24,9,3,3}, {256,2048,16384}, {8,10}, {1,1,1,1}, 1, 0, {0,0,0,0}, {0,0}, {0,0}, {0,0}});
  add({U16, {24,9,3,3}, {256,2048,16384}, {16,10}, {1,1,1,1}, 1, 0, {0,0,0,0}, {0,0}, {0,0}, {0,0}});
  add({U16, {24,9,3,3}, {256,2048,16384}, {8,10}, {1,1,1,1}, 1, 0, {1,2,1,1}, {-1,-1}, {-1,-1}, {1,1}});
  add({U16, {24,9,3,3}, {256,2048,16384}, {8,20}, {1,1,1,1}, 1, 0, {0,0,0,1}, {-1,0}, {0,-1}, {1,0}});
  add({U16, {24,9,7,3,2}, {256,2048,16384,65536}, {8,20}, {1,1,1,1,1}, 1, 0, {0,1,2,0,0}, {-1,0,0}, {0,-1,0}, {1,0,0}});
  add({U16, {64,9,3,3}, {512,4096,16384}, {16,10}, {1,1,1,1}, 2, 1, {1,2,1,0}, {0,0}, {0,0}, {0,0}});
  add({U16, {24,9,3}, {256,2048}, {8,10}, {1,1,1}, 1, 0, {0,0,0}, {0}, {0}, {0}});
  // Stores: which one ends with a fault.
  for (std::vector<int> at : std::vector<std::vector<int>>{{0,0,0},{1,0,0},{8,0,0},{0,18,0},{0,0,-1},{0,0,8},{-1,0,0},{16,0,0},{0,-1,0},{0,20,0},{1,18,-1},{8,18,-1}})
    add({U16, {24,20,10}, {512,6144}, {16,4,4}, {1,1,1}, 1, 0, at, {}, {}, {}, true});
  add({U16, {24,20,10}, {512,6144}, {16,1,4}, {1,1,1}, 1, 0, {1,18,-1}, {}, {}, {}, true});
  add({U16, {24,20,10}, {512,6144}, {16,1,1}, {1,1,1}, 1, 0, {1,18,1}, {}, {}, {}, true});
  add({U16, {64,20,10}, {1024,12288}, {16,4,2}, {1,1,1}, 2, 1, {1,18,-1}, {}, {}, {}, true});
  add({U16, {64,20,10}, {1024,12288}, {16,4,2}, {1,1,1}, 2, 0, {1,1,1}, {}, {}, {}, true});
  add({U16, {24,12,3,10}, {512,1536,6144}, {16,6,2,3}, {1,1,1,1}, 1, 0, {1,-1,1,7}, {}, {}, {}, true});
  Case r = {U32, {24,20,10}, {512,6144}, {16,2,2}, {1,1,1}, 1, 0, {0,1,1}, {}, {}, {}, false, 0, 0, "add"};
  add(r); r.at = {1,1,1}; add(r);
  // Columns that wrap around.
  add({U16, {6,5,3,3}, {256,2048,16384}, {8,40}, {1,1,1,1}, 1, 0, {0,0,0,0}, {0,0}, {0,0}, {0,0}});
  add({U16, {6,5,3,3}, {256,2048,16384}, {8,40}, {1,1,1,1}, 1, 0, {-1,-1,1,0}, {-1,-1}, {-1,-1}, {2,1}});
  add({U16, {6,5,3,3}, {256,2048,16384}, {8,40}, {2,1,1,1}, 1, 0, {0,0,1,0}, {0,0}, {0,0}, {0,0}});
  add({U16, {6,5,3,3}, {256,2048,16384}, {8,40}, {1,2,1,1}, 1, 0, {0,0,1,0}, {0,0}, {0,0}, {0,0}});
  add({U16, {6,5,3,3}, {512,4096,16384}, {16,40}, {1,1,1,1}, 2, 1, {2,1,1,1}, {0,0}, {0,0}, {0,0}});
  add({U16, {6,4,3,2,3}, {256,2048,16384,65536}, {8,80}, {1,1,1,1,1}, 1, 0, {2,1,0,1,0}, {-1,0,0}, {0,-1,0}, {1,0,0}});
  add({U16, {6,2,3}, {256,2048}, {8,10}, {1,1,1}, 1, 0, {2,1,0}, {0}, {0}, {0}});
  add({U16, {6,5,3,3}, {256,2048,16384}, {8,20}, {1,1,1,1}, 1, 0, {0,0,1,0}, {0,0}, {0,0}, {}, true});
  // Steps.
  for (std::vector<cuuint32_t> steps : std::vector<std::vector<cuuint32_t>>{{2,1,1,1},{1,2,1,1},{1,1,2,1},{1,1,1,2},{3,2,1,2}})
    add({U16, {24,12,3,10}, {512,1536,6144}, {8,4,3,5}, steps, 1, 0, {0,0,0,0}});
  add({U16, {24,12,3,10}, {512,1536,6144}, {8,4,3,5}, {3,2,1,2}, 1, 0, {1,1,1,1}, {}, {}, {}, true});
  // The largest sides.
  add({U16, {24,20,10}, {512,6144}, {256,1,1}, {1,1,1}, 1, 0, {0,0,0}});
  add({U16, {24,20,10}, {512,6144}, {8,256,1}, {1,1,1}, 1, 0, {0,0,0}});
  add({U8, {24,20,10}, {512,6144}, {16,256,16}, {1,1,1}, 1, 0, {0,0,0}});
  for (const Case& c : cases) {
    printf("tensor %s %d number %s %s %s %s %d %d %d %s %s %s %s %u\n", c.reduce ? c.reduce : c.store ? "store" : "load", c.type,
           list(c.sizes).c_str(), list(c.strides).c_str(), list(c.tile).c_str(), list(c.steps).c_str(), c.interleave, c.swizzle, c.fill,
           list(c.lower).c_str(), list(c.upper).c_str(), list(c.at).c_str(), list(c.offsets).c_str(), c.start);
    fflush(stdout);
    pid_t p = fork();
    if (p == 0) { alarm(30); run(c); fflush(stdout); _exit(0); }
    int s; waitpid(p, &s, 0); if (s) { printf("ended %x\n", s); fflush(stdout); }
  }
}
