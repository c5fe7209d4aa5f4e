"""bitsandbytes' kernels, unmodified, against its code for the CPU. Its wheel has PTX for compute capability 12.0 alone. Operators
of PyTorch's own are computed on the CPU. Run by torch.sh."""

import os
import subprocess
import sys

import bitsandbytes
import pytest
import torch
from bitsandbytes import functional

from cuda_software import torch_operators_on_cpu
from tutorials import random

TYPES = [torch.float32, torch.float16, torch.bfloat16]
OPTIMIZERS = ["Adam8bit", "AdEMAMix8bit", "Adagrad8bit", "Lion8bit", "RMSprop8bit", "SGD8bit", "Adam32bit", "Lion32bit", "RMSprop32bit"]


@pytest.fixture(autouse=True, scope="module")
def mode():
    with torch_operators_on_cpu.Mode():
        yield


def is_as_near(result, expected, x, scales):
    """The code for the CPU rounds before it looks for the nearest code: a few values near the middle of two get the farther."""
    epsilon = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1e-2}[x.dtype]
    result, expected, x = (one.double() for one in (result, expected, x))
    farther = (result - x).abs() - (expected - x).abs()
    return (farther <= epsilon * scales).all() and (result != expected).double().mean() < 0.01


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize("block", [64, 512])
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_four_bits(type, block, kind):
    x = random(16, 320).to(type)
    here, state = functional.quantize_4bit(x, blocksize=block, quant_type=kind)
    there, state_there = functional.quantize_4bit(x.cuda(), blocksize=block, quant_type=kind)
    assert torch.equal(state_there.absmax.cpu(), state.absmax)
    expected = functional.dequantize_4bit(here, state)
    assert torch.equal(functional.dequantize_4bit(here.cuda(), state_there).cpu(), expected)
    scales = state.absmax.repeat_interleave(block).reshape(x.shape)
    assert is_as_near(functional.dequantize_4bit(there.cpu(), state), expected, x, scales)


FAULT = """
import torch
from bitsandbytes import functional
from cuda_software import torch_operators_on_cpu
torch_operators_on_cpu.enable()
functional.dequantize_4bit(*functional.quantize_4bit(torch.ones(4160).cuda(), blocksize=64))
torch.cuda.synchronize()
"""


def test_a_read_past_the_scales_is_found(tmp_path):
    """The last block of the kernel reads a scale for each of its threads, also after the last value."""
    # The reports of this process are those of programs that should have none.
    environment = os.environ | {"CUPRUM_REPORT_FILE": str(tmp_path / "reports")}
    done = subprocess.run([sys.executable, "-c", FAULT], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "out-of-bounds access in kernel `_Z20kDequantizeBlockwise" in done.stderr, done.stderr
    assert "right past the end of allocation" in done.stderr


@pytest.mark.parametrize("block", [64, 256, 4096])
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_eight_bits(type, block):
    x = random(16, 320).to(type)
    here, state = functional.quantize_blockwise(x, blocksize=block)
    there, state_there = functional.quantize_blockwise(x.cuda(), blocksize=block)
    assert torch.equal(state_there.absmax.cpu(), state.absmax)
    scales = state.absmax.repeat_interleave(block)[: x.numel()].reshape(x.shape)
    # Some results of the code for the CPU differ from this in the last bit of float16.
    expected = (state.code[here.int()] * scales).to(type)
    assert torch.equal(functional.dequantize_blockwise(here.cuda(), state_there).cpu(), expected)
    assert is_as_near(functional.dequantize_blockwise(there.cpu(), state), expected, x, scales)


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_a_product_with_weights_of_four_bits(type, kind, rows):
    weights, x = random(96, 256).to(type), random(256, rows).t().contiguous().to(type)
    codes, state = functional.quantize_4bit(weights.cuda(), quant_type=kind)
    result = bitsandbytes.matmul_4bit(x.cuda(), codes, state)
    expected = x.double() @ functional.dequantize_4bit(codes, state).cpu().double().t()
    scale = expected.abs().max()
    assert (result.cpu().double() - expected).abs().max() / scale < {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}[type]


@pytest.mark.parametrize("threshold", [0.0, 2.5])
def test_eight_bits_by_rows(threshold):
    x = random(11, 192).half()
    here, there = functional.int8_vectorwise_quant(x, threshold), functional.int8_vectorwise_quant(x.cuda(), threshold)
    (codes, scales, columns), (codes_there, scales_there, columns_there) = here, there
    off = codes_there.cpu().int() - codes.int()
    assert off.abs().max() <= 1 and (off != 0).double().mean() < 0.01 and torch.equal(scales_there.cpu(), scales)
    assert (columns is None) == (threshold == 0.0) and (columns is None or torch.equal(columns_there.cpu(), columns))
    sums, rows, columns = torch.arange(-66, 66, dtype=torch.int32).reshape(11, 12) * 999, random(11).abs(), random(12).abs()
    there = functional.int8_mm_dequant(sums.cuda(), rows.cuda(), columns.cuda())
    torch.testing.assert_close(there.cpu(), functional.int8_mm_dequant(sums, rows, columns), atol=1e-3, rtol=2e-3)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer(name):
    """Each step begins with the state of the device: a code that differs once gives other parameters from then on."""
    # With eight bits, the kernels for RMSprop and Adagrad leave out the decay of weights, which the code for the CPU does not.
    options = {"momentum": 0.9} if name == "SGD8bit" else {} if name in ("Adagrad8bit", "RMSprop8bit") else {"weight_decay": 0.01}
    parameters = [torch.nn.Parameter(random(80, 64).to(device)) for device in ("cpu", "cuda")]
    here, there = (getattr(bitsandbytes.optim, name)([parameter], lr=0.01, **options) for parameter in parameters)
    for scale in (1, 0.3, 2):
        for parameter in parameters:
            parameter.grad = (random(80, 64).flip(0) * scale).to(parameter.device)
        here.step(), there.step()
        torch.testing.assert_close(parameters[1].detach().cpu(), parameters[0].detach(), atol=1e-5, rtol=1e-4)
        parameters[0].data.copy_(parameters[1].data)
        state, state_there = here.state[parameters[0]], there.state[parameters[1]]
        assert state_there.keys() == state.keys()
        for key in state:
            if isinstance(state[key], torch.Tensor):
                value = state_there[key].cpu()
                if state[key].dtype == torch.uint8:
                    # A code away at most, or as good as zero.
                    codes = state["qmap" + key[-1]]
                    near = (codes[value.int()] - codes[state[key].int()]).abs() < 5e-5
                    assert (near | ((value.int() - state[key].int()).abs() <= 1)).all(), key
                    assert (value != state[key]).double().mean() < 0.05, key
                else:
                    torch.testing.assert_close(value, state[key], atol=1e-6, rtol=1e-5)
                state[key].copy_(value)
    ran = [operator for operator in torch_operators_on_cpu.ran if "optimizer" in operator or "quant" in operator or "gemm" in operator]
    assert ran == []
