//! The table of kernels.

use super::contest::Contest;
use super::corpus::{clients, grids, numbers, parting, paths, tables, warps};
use super::regular;

pub(crate) struct Entry {
    pub(crate) title: &'static str,
    /// Its name in the PTX, which is also the name of the benchmark.
    pub(crate) kernel: &'static str,
    /// File in `kernels/`, without its extension.
    pub(crate) module: &'static str,
    pub(crate) contest: fn() -> Contest,
    /// The main reason why native code is faster, or that it is not.
    pub(crate) held_by: &'static str,
}

const fn entry(
    title: &'static str,
    kernel: &'static str,
    module: &'static str,
    contest: fn() -> Contest,
    held_by: &'static str,
) -> Entry {
    Entry { title, kernel, module, contest, held_by }
}

#[rustfmt::skip]
pub(crate) const ENTRIES: &[Entry] = &[
    entry("saxpy, one element per thread", "saxpy", "saxpy", regular::saxpy_one_element, "starts of blocks"),
    entry("saxpy, grid stride", "saxpy_grid_stride", "saxpy", regular::saxpy_grid_stride, "checks of accesses"),
    entry("matrix product, naive 16x16", "matmul_naive", "matmul_naive", regular::matmul, "nothing"),
    entry("matrix product, tiled", "matmul_tiled", "matmul_tiled", regular::matmul, "nothing"),
    entry("reduction, shared", "reduce_shared", "reduce_shared", regular::reduction, "barriers of few lanes"),
    entry("reduction, shuffle", "reduce_shuffle", "reduce_shuffle", regular::reduction, "short branches at the end"),
    entry("mandelbrot", "mandelbrot", "mandelbrot", regular::mandelbrot, "nothing"),
    entry("n-body", "nbody", "nbody", regular::nbody, "nothing"),
    entry("histogram, global atomics", "count_global", "corpus", paths::histogram, "additions, lane by lane"),
    entry("histogram, shared atomics", "count_shared", "corpus", paths::histogram, "additions, lane by lane"),
    entry("digests, arrays of threads", "digest", "corpus", paths::digests, "places of local arrays"),
    entry("stack machine, bytes", "machine", "corpus", paths::machine, "lanes that part at each opcode"),
    entry("matrix product, integers", "matmul_int", "corpus", paths::matmul, "arithmetic"),
    entry("search, bytes", "search", "corpus", paths::searches, "lanes that leave the loop one by one"),
    entry("compaction, ballot and atomic", "compact", "corpus", paths::compaction, "blocks of few instructions"),
    entry("relaxation, blocks of 1024", "relax", "corpus", paths::relaxation, "gathers after each barrier"),
    entry("quicksort, recursion", "quicksort", "corpus/parting", parting::quicksort, "calls, lanes that part"),
    entry("tree walk, recursion", "tree_sum", "corpus/parting", parting::tree_sum, "calls, lanes that part"),
    entry("table of functions", "dispatch", "corpus/parting", parting::dispatch, "calls by pointer, gangs of few lanes"),
    entry("queens, local stack", "queens", "corpus/parting", parting::queens, "lanes that part"),
    entry("breadth-first search, atomics", "bfs", "corpus/parting", parting::bfs, "loops of different lengths, atomics"),
    entry("collatz, 64 bits", "collatz", "corpus/parting", parting::collatz, "loops of different lengths"),
    entry("early return", "pick", "corpus/parting", parting::pick, "starts of blocks"),
    entry("segmented scan, shuffles", "segmented_scan", "corpus/warps", warps::segmented_scan, "shuffles, short branches"),
    entry("prefix sums, barriers", "block_prefix", "corpus/warps", warps::block_prefix, "branches of few lanes"),
    entry("prefix sums, shuffles", "warp_prefix", "corpus/warps", warps::warp_prefix, "shuffles, starts of blocks"),
    entry("radix pass, ballots", "radix_pass", "corpus/warps", warps::radix_pass, "ballots, scattered shared accesses"),
    entry("sparse product by rows", "csr_row", "corpus/warps", warps::csr_row, "gathers, loops of different lengths"),
    entry("sparse product by warps", "csr_warp", "corpus/warps", warps::csr_warp, "gathers, shuffles"),
    entry("bitonic sort, barriers", "bitonic", "corpus/warps", warps::bitonic, "places of accesses"),
    entry("reduction by tiles of 16", "tile_sum", "corpus/warps", warps::tile_sum, "shuffles, starts of blocks"),
    entry("Floyd-Warshall, barriers", "floyd", "corpus/grids", grids::floyd, "barriers of 32 warps"),
    entry("stencil on a cube", "stencil_3d", "corpus/grids", grids::stencil_3d, "branches at faces"),
    entry("convolution, constant memory", "convolve", "corpus/grids", grids::convolve, "gathers"),
    entry("game of life, bytes", "life", "corpus/grids", grids::life, "accesses of bytes"),
    entry("edit distance, local row", "levenshtein", "corpus/grids", grids::levenshtein, "places of local arrays"),
    entry("edit distance, antidiagonals", "align", "corpus/grids", grids::align, "branches of few lanes"),
    entry("transpose, padded tile", "transpose_padded", "corpus/grids", grids::transpose_padded, "scattered shared accesses"),
    entry("matrix product, double", "matmul_double", "corpus/grids", grids::matmul_double, "nothing"),
    entry("indices of 64 bits", "index_64", "corpus/grids", grids::index_64, "divisions, scattered stores"),
    entry("smoothing, shared arrays", "smooth", "corpus/grids", grids::smooth, "places of accesses, barriers"),
    entry("random words, xorshift", "xorshift", "corpus/numbers", numbers::xorshift, "nothing"),
    entry("random words, philox", "philox", "corpus/numbers", numbers::philox, "arithmetic"),
    entry("Monte-Carlo", "monte_carlo", "corpus/numbers", numbers::monte_carlo, "nothing"),
    entry("Black-Scholes", "black_scholes", "corpus/numbers", numbers::black_scholes, "exponentials"),
    entry("matrix product, pairs of halves", "half_product", "corpus/numbers", numbers::half_product, "nothing"),
    entry("Fourier transform, shared", "fft", "corpus/numbers", numbers::fft, "places of accesses, sines lane by lane"),
    entry("rays and spheres", "spheres", "corpus/numbers", numbers::spheres, "lanes that part"),
    entry("softmax of rows", "softmax_rows", "corpus/numbers", numbers::softmax_rows, "exponentials, barriers of few lanes"),
    entry("layer norm, shuffles", "layer_norm", "corpus/numbers", numbers::layer_norm, "places of accesses"),
    entry("k-means step", "means_step", "corpus/numbers", numbers::means_step, "atomics, lane by lane"),
    entry("array of structures", "particles", "corpus/numbers", numbers::particles, "strided accesses"),
    entry("histogram, parts of warps", "histogram_private", "corpus/tables", tables::histogram_private, "additions, lane by lane"),
    entry("sums of doubles by swaps", "add_doubles", "corpus/tables", tables::add_doubles, "swaps, lane by lane"),
    entry("hash table", "count_keys", "corpus/tables", tables::count_keys, "atomics, lanes that part"),
    entry("union-find", "unite", "corpus/tables", tables::unite, "volatile accesses, lane by lane, lanes that part"),
    entry("checksum by table", "crc", "corpus/tables", tables::crc, "gathers of shared words"),
    entry("search by sliding checksum", "find_all", "corpus/tables", tables::find_all, "accesses of bytes"),
    entry("decoding of bytes", "unpack", "corpus/tables", tables::unpack, "lanes that part"),
    entry("digest in registers", "mix_digest", "corpus/tables", tables::mix_digest, "arithmetic"),
    entry("gather and scatter of vectors", "gather4", "corpus/tables", tables::gather4, "scattered accesses"),
    entry("sums by key, matches", "sum_by_key", "corpus/tables", tables::sum_by_key, "matches, shuffles of parts of warps"),
    entry("hash table, nvcc", "count_keys", "clients/nvcc_tables", tables::count_keys, "atomics, lanes that part"),
    entry("decoding of bytes, nvcc", "unpack", "clients/nvcc_tables", tables::unpack, "lanes that part"),
    entry("sums by key, nvcc", "sum_by_key", "clients/nvcc_tables", tables::sum_by_key, "matches, shuffles of parts of warps"),
    entry("addition, Triton", "triton_add", "clients/triton_add", clients::triton_add, "accesses of vectors"),
    entry("softmax, Triton", "triton_softmax", "clients/triton_softmax", clients::triton_softmax, "exponentials, shuffles"),
    entry("layer norm, Triton", "triton_layer_norm", "clients/triton_layer_norm", clients::triton_layer_norm, "shuffles, places of accesses"),
    entry("matrix product, Triton", "triton_matmul", "clients/triton_matmul", clients::triton_matmul, "copies in the plain mode"),
    entry("matrix product of halves, Triton", "triton_matmul_half", "clients/triton_matmul_half", clients::triton_matmul_half, "elements of matrices, one by one"),
    entry("reduction, Numba", "numba_sum", "clients/numba_sum", clients::numba_sum, "arithmetic of 64-bit indices"),
    entry("mandelbrot in complex numbers, Numba", "numba_mandelbrot", "clients/numba_mandelbrot", clients::numba_mandelbrot, "lanes that part"),
    entry("diffusion, Numba", "numba_diffuse", "clients/numba_diffuse", clients::numba_diffuse, "arithmetic of 64-bit indices"),
    entry("diffusion, Taichi", "taichi_diffuse", "clients/taichi_diffuse", clients::taichi_diffuse, "loads at addresses from memory"),
];
