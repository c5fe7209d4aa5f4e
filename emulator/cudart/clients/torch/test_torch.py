"""PyTorch's unmodified wheel on the software device. Run by torch.sh, through `cuprum run`. References are computed on the CPU:
PyTorch's own operators are machine code, which the device does not run."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest
import torch
import torch.nn.functional as F

import tutorials
from tutorials import random

HERE = pathlib.Path(__file__).resolve().parent


def same(there, here, **tolerance):
    torch.testing.assert_close(there.detach().cpu(), here.detach(), **(tolerance or {"atol": 1e-4, "rtol": 1e-4}))


# --- copies, streams, events, graphs ------------------------------------------------------------------------


def test_the_device_is_there():
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1
    assert torch.cuda.get_device_name(0) == "Software CUDA device"
    facts = torch.cuda.get_device_properties(0)
    assert facts.major == 9 and facts.total_memory == 4 << 30 and facts.warp_size == 32
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total


def test_copies_keep_values():
    x = random(50, 70)
    there = x.cuda()
    same(there, x)
    other = torch.empty_like(there)
    other.copy_(there)
    same(other, x)
    same(there[3:9], x[3:9])
    same(there.cpu().cuda().view(70, 50), x.view(70, 50))
    for kind in [torch.int8, torch.int64, torch.float16, torch.bfloat16, torch.bool, torch.complex64]:
        y = (x * 10).to(kind)
        same(y.cuda(), y, atol=0, rtol=0)


def test_streams_and_events_order_copies():
    x, first, second = random(10000).pin_memory(), torch.cuda.Stream(), torch.cuda.Stream()
    assert x.is_pinned()
    begin, middle, end = (torch.cuda.Event(enable_timing=True) for _ in range(3))
    with torch.cuda.stream(first):
        begin.record()
        there = x.to("cuda", non_blocking=True)
        middle.record()
    second.wait_event(middle)
    back = torch.empty(10000).pin_memory()
    with torch.cuda.stream(second):
        back.copy_(there, non_blocking=True)
        end.record()
    end.synchronize()
    assert end.query() and first.query() and begin.elapsed_time(end) >= 0
    same(back, x, atol=0, rtol=0)


def test_a_graph_is_replayed_with_new_values():
    x, out = random(1000).cuda(), torch.empty(1000, device="cuda")
    work = lambda: tutorials.add_kernel[(4,)](x, x, out, 1000, BLOCK=256, MASKED=True)
    work()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    for factor in [1, 3]:
        x.copy_(random(1000) * factor)
        graph.replay()
        torch.cuda.synchronize()
        same(out, 2 * factor * random(1000))


# --- Triton ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tutorial", tutorials.ALL, ids=lambda one: one.__name__)
def test_a_tutorial_of_triton(tutorial):
    tutorial()


@pytest.mark.parametrize("tutorial", tutorials.ALL, ids=lambda one: one.__name__)
def test_a_fault_is_found_at_its_line(tutorial, tmp_path):
    # The reports of this process are those of programs that should have none.
    environment = os.environ | {"CUPRUM_REPORT_FILE": str(tmp_path / "reports")}
    command = [sys.executable, str(HERE / "tutorials.py"), tutorial.__name__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "out-of-bounds access in kernel" in done.stderr, done.stderr
    lines = (HERE / "tutorials.py").read_text().split("\n")
    wrong = next(number for number, line in enumerate(lines, 1) if line.endswith(f"# the fault of {tutorial.__name__}"))
    assert re.search(rf"at \S*tutorials\.py:{wrong}\b", done.stderr), done.stderr


# --- torch.compile --------------------------------------------------------------------------------------------


def attention(x):
    q, k, v = x.unbind(0)
    weights = torch.softmax((q.unsqueeze(1) * k.unsqueeze(0)).sum(-1) / 4, -1)
    return (weights.unsqueeze(-1) * v.unsqueeze(0)).sum(1)


COMPILED = {
    "pointwise": (lambda x, y: torch.sin(x) * y + torch.exp(-y * y), [(64, 100), (64, 100)]),
    "broadcast": (lambda x, y: x * y.unsqueeze(0) - y.abs().sqrt(), [(32, 50), (50,)]),
    "gelu": (lambda x: F.gelu(x) * torch.sigmoid(x), [(3000,)]),
    "sum": (lambda x: (x * x).sum(1), [(40, 300)]),
    "softmax": (lambda x: torch.softmax(x * 3, -1), [(30, 77)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (64,), w, b), [(20, 64), (64,), (64,)]),
    "rms_norm": (lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * w, [(20, 64), (64,)]),
    "cross_entropy": (lambda x, y: -(F.log_softmax(x, 1) * y).sum(1).mean(), [(24, 30), (24, 30)]),
    "tanh": (lambda x, y: torch.tanh(x * y).mean(1), [(45, 33), (45, 33)]),
    "attention": (attention, [(3, 24, 16)]),
}


@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_program_with_its_backward_pass(name):
    program, shapes = COMPILED[name]
    here = [random(*shape).requires_grad_() for shape in shapes]
    there = [value.detach().cuda().requires_grad_() for value in here]
    expected, result = program(*here), torch.compile(program)(*there)
    same(result, expected)
    slope = random(*expected.shape)
    expected.backward(slope)
    result.backward(slope.cuda())
    for a, b in zip(there, here):
        same(a.grad, b.grad, atol=1e-3, rtol=1e-3)


def test_an_operator_of_pytorchs_own_says_why_not():
    """In a process of its own: what the device says, it says once."""
    program = "import torch; torch.ones(3).cuda() + 1"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "no kernel image is available" in done.stderr, done.stderr
    assert "libtorch_cuda.so has machine code" in done.stderr and "torch.compile" in done.stderr, done.stderr


# --- an extension ---------------------------------------------------------------------------------------------

# The headers of all of PyTorch take minutes.
HOST = r"""
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

void launch(const float *in, float *out, float factor, int n, cudaStream_t stream);

at::Tensor scaled(at::Tensor in, double factor) {
    at::Tensor out = at::empty_like(in);
    launch(in.data_ptr<float>(), out.data_ptr<float>(), factor, in.numel(), c10::cuda::getCurrentCUDAStream());
    return out;
}
"""
DEVICE = r"""
__global__ void scale(const float *in, float *out, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * factor;
}

void launch(const float *in, float *out, float factor, int n, cudaStream_t stream) {
    scale<<<(n + 255) / 256, 256, 0, stream>>>(in, out, factor, n);
}
"""


def test_an_inline_extension():
    from torch.utils import cpp_extension

    with tempfile.TemporaryDirectory() as folder:
        made = cpp_extension.load_inline(
            "scaled", HOST, DEVICE, functions=["scaled"], build_directory=folder, no_implicit_headers=True
        )
        x = random(1000)
        same(made.scaled(x.cuda(), 3.0), 3 * x)
