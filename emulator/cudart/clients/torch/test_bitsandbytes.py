"""bitsandbytes' kernels, unmodified, against its code for the CPU. Its wheel has PTX for compute capability 12.0 alone. Operators
of PyTorch's own are computed on the CPU. Run by torch.sh."""

import bitsandbytes
import pytest
import torch
from bitsandbytes import functional

from cuda_software import torch_operators_on_cpu
from tutorials import random

TYPES = [torch.float32, torch.float16, torch.bfloat16]
OPTIMIZERS = ["Adam8bit", "AdEMAMix8bit", "Adagrad8bit", "Lion8bit", "RMSprop8bit", "SGD8bit", "Adam32bit", "AdEMAMix32bit", "Lion32bit", "RMSprop32bit"]


@pytest.fixture(autouse=True, scope="module")
def mode():
    with torch_operators_on_cpu.Mode():
        yield


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize("block", [64, 512])
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_four_bits(type, block, kind):
    x = random(13, 320).to(type)
    here, state = functional.quantize_4bit(x, blocksize=block, quant_type=kind)
    there, state_there = functional.quantize_4bit(x.cuda(), blocksize=block, quant_type=kind)
    assert torch.equal(state_there.absmax.cpu(), state.absmax)
    expected = functional.dequantize_4bit(here, state)
    # Both read what both have written: zero has two codes in fp4.
    for codes in (here.cuda(), there):
        assert torch.equal(functional.dequantize_4bit(codes, state_there).cpu(), expected)
    assert torch.equal(functional.dequantize_4bit(there.cpu(), state), expected)


@pytest.mark.parametrize("block", [64, 256, 4096])
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_eight_bits(type, block):
    x = random(17, 300).to(type)
    here, state = functional.quantize_blockwise(x, blocksize=block)
    there, state_there = functional.quantize_blockwise(x.cuda(), blocksize=block)
    assert torch.equal(state_there.absmax.cpu(), state.absmax) and torch.equal(there.cpu(), here)
    assert torch.equal(functional.dequantize_blockwise(there, state_there).cpu(), functional.dequantize_blockwise(here, state))


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
    for one, other in zip(there, here, strict=True):
        assert (one is None) == (other is None) and (one is None or torch.equal(one.cpu(), other))
    sums, rows, columns = torch.arange(-66, 66, dtype=torch.int32).reshape(11, 12) * 999, random(11).abs(), random(12).abs()
    there = functional.int8_mm_dequant(sums.cuda(), rows.cuda(), columns.cuda())
    torch.testing.assert_close(there.cpu(), functional.int8_mm_dequant(sums, rows, columns), atol=1e-3, rtol=2e-3)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer(name):
    start, slopes = random(80, 64), [random(80, 64) * scale for scale in (1, 0.3, 2)]
    results = []
    for device in ("cpu", "cuda"):
        parameter = torch.nn.Parameter(start.to(device))
        options = {} if name in ("Adagrad8bit",) else {"weight_decay": 0.01}
        if name == "SGD8bit":
            options["momentum"] = 0.9
        optimizer = getattr(bitsandbytes.optim, name)([parameter], lr=0.01, **options)
        for slope in slopes:
            parameter.grad = slope.to(device)
            optimizer.step()
        states = {key: value.cpu() for key, value in optimizer.state[parameter].items() if isinstance(value, torch.Tensor)}
        results.append((parameter.detach().cpu(), states))
    (here, states_here), (there, states_there) = results
    torch.testing.assert_close(there, here, atol=1e-5, rtol=1e-4)
    assert states_there.keys() == states_here.keys()
    ran = [operator for operator in torch_operators_on_cpu.ran if "optimizer" in operator or "quant" in operator or "gemm" in operator]
    assert ran == []
