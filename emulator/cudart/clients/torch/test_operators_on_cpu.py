"""The opt-in module that computes PyTorch's own operators on the CPU, on tensors of the software device. Each program runs on
the CPU too, and both results are compared. Run by torch.sh."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

import tutorials
from cuda_software import torch_operators_on_cpu as operators
from tutorials import random


@pytest.fixture(autouse=True)
def mode():
    torch.manual_seed(7)
    with operators.Mode():
        yield


def in_place(device):
    x = random(6, 8).to(device)
    x.add_(1).mul_(x.new_full((8,), 2.0))
    x[2:4].sub_(5)
    x[:, ::3] = 0
    x.t()[1].copy_(torch.arange(6, device=device))
    return x


def shared_memory(device):
    x = torch.arange(24.0, device=device)
    low, high = x[:16], x[8:]
    low += 1
    high *= low[4:8].repeat(4)
    words = x.view(torch.int32)
    words[3] = 0x3F800000
    return x, low, high, words


def views(device):
    x = random(4, 5, 6).to(device)
    y = x.transpose(0, 2)
    z = y.contiguous() + y[..., 1:3].sum(-1, keepdim=True)
    wide = random(5).to(device).expand(3, 5)
    return y, z, x.permute(2, 1, 0).reshape(30, 4), wide * 2, x.diagonal(0, 0, 1).clone(), x.unfold(1, 2, 1) + 1


def lists(device):
    x = [random(n).to(device) for n in (3, 5, 7)]
    base = torch.zeros(8, device=device)
    torch._foreach_add_(x, 1.0)
    torch._foreach_mul_([base[:4], base[2:6]], 3.0)
    torch._foreach_add_([base[:3], base[3:]], [torch.ones(3, device=device), torch.full((5,), 2.0, device=device)])
    return *x, base, torch.cat(x), torch.stack([x[0], x[0]]), *torch.split(torch.cat(x), 4), *torch._foreach_sqrt(torch._foreach_abs(x))


def outputs(device):
    x, given = random(7).to(device), torch.empty(0, device=device)
    torch.add(x, 1, out=given)
    part = torch.zeros(4, 14, device=device)
    torch.mul(x, 2, out=part[1, ::2])
    values, places = torch.empty(3, device=device), torch.empty(3, device=device, dtype=torch.int64)
    torch.topk(x, 3, out=(values, places))
    return given, part, values, places


def types(device):
    x = random(5, 6).to(device)
    z = torch.complex(x, -x)
    return x.half().float(), x.to(torch.int32), x.t().double(), z.conj() * z, z.conj(), z.imag + 1, (x > 0).sum(), x.bfloat16() @ x.t().bfloat16()


def indices(device):
    x = random(10, 3).to(device)
    rows = torch.tensor([1, 4, 4], device=device)
    x[rows] = 5.0
    x.index_add_(0, rows, torch.ones(3, 3, device=device))
    x[torch.tensor([0, 9])] += 1
    x.masked_fill_(x > 4, -1)
    return x, x[rows, 1:], x.gather(0, rows[:, None]), torch.nonzero(x > 0), x.sort(0).values, torch.where(x > 0, x, 0)


def made(device):
    return torch.zeros(2, 3, device=device), torch.arange(5, device=device), torch.eye(3, device=device), torch.full((2,), 7, device=device), torch.linspace(0, 1, 5, device=device)


def numbers(device):
    x = random(4).to(device)
    y = torch.zeros(0, 3, device=device)
    return torch.tensor([x.sum().item(), float(x.max()), bool((x > -9).all()), torch.equal(x, x.clone()), *x.tolist()]), y + 1, y.sum(0)


def attention(device):
    q, k, v = (random(2, 4, 16, 8).to(device) * n for n in (1, 2, 3))
    return F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True)


def trained(device):
    """A network that learns for some steps: convolutions, normalization, an embedding, an optimizer with lists."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(128, 10)
    ).to(device)
    words = torch.nn.Embedding(20, 10).to(device)
    optimizer = torch.optim.AdamW([*model.parameters(), *words.parameters()], lr=0.01, foreach=True)
    x, y, w = random(6, 3, 8, 8).to(device), torch.arange(6, device=device), torch.arange(6, device=device) * 3
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x) + words(w), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return *losses, *(parameter.detach() for parameter in model.parameters())


PROGRAMS = [in_place, shared_memory, views, lists, outputs, types, indices, made, numbers, attention, trained]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_a_program_gives_what_it_gives_on_the_cpu(program):
    expected = program("cpu")
    operators.ran.clear()
    for there, here in zip(program("cuda"), expected, strict=True):
        assert there.stride() == here.stride() and there.dtype == here.dtype
        torch.testing.assert_close(there.cpu(), here, atol=1e-5, rtol=1e-5)
    assert operators.ran


def test_results_are_on_the_device_and_in_place_ones_are_the_same_tensor():
    x = random(5).cuda()
    y = x + 1
    assert y.is_cuda and (x > 0).is_cuda and torch.rand(3, device="cuda").is_cuda and not x.sum().cpu().is_cuda
    address = x.data_ptr()
    assert x.add_(1) is x and x.data_ptr() == address
    assert torch.add(x, 1, out=y) is y


def test_kernels_of_triton_run_on_the_device_between_operators():
    x = torch.arange(1000, device="cuda", dtype=torch.float32)
    out = torch.zeros(1000, device="cuda")
    tutorials.add_kernel[(4,)](x, x * 2, out, 1000, BLOCK=256, MASKED=True)
    assert torch.equal(out.sum(), x.sum() * 3)


def test_compiled_programs_run_on_the_device_and_their_products_on_the_cpu():
    x, y = random(20, 30).cuda().requires_grad_(), random(30, 40).cuda()
    program = torch.compile(lambda x, y: torch.relu(x @ y).sum(0))
    operators.ran.clear()
    program(x, y).sum().backward()
    here = random(20, 30).requires_grad_()
    torch.relu(here @ random(30, 40)).sum(0).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), here.grad, atol=1e-4, rtol=1e-4)
    assert operators.ran["mm"] == 2 and not operators.ran["relu"], operators.ran


def test_copies_stay_on_the_device():
    operators.ran.clear()
    x = random(9).cuda()
    y = torch.empty_like(x)
    y.copy_(x)
    assert torch.equal(y.clone().cpu(), random(9)) and not operators.ran


def test_it_is_off_by_default_and_one_call_turns_it_on():
    program = "import torch\nfrom cuda_software import torch_operators_on_cpu\n{}\nprint((torch.ones(3).cuda() + 1).tolist())"
    off, on = (
        subprocess.run([sys.executable, "-c", program.format(line)], capture_output=True, text=True, timeout=300)
        for line in ("", "torch_operators_on_cpu.enable()")
    )
    assert off.returncode == 1 and "no kernel image is available" in off.stderr, off.stderr
    assert on.stdout == "[2.0, 2.0, 2.0]\n" and on.returncode == 0, on.stderr
