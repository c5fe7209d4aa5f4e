"""The kernels of Triton's tutorials (vector addition, softmax, matrix product, layer normalization with its backward pass) on
torch tensors. Results are compared with PyTorch on the CPU.

    cuprum run -- python tutorials.py              runs all
    cuprum run -- python tutorials.py NAME         runs one without the mask of its last store, which is a fault
"""

import sys

import torch
import triton
import triton.language as tl


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(5))


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    if MASKED:
        tl.store(out + at, total, mask=inside)
    else:
        tl.store(out + at, total)  # the fault of add


def add(masked=True):
    x, y = random(1000), random(1000)
    out = torch.empty(1000, device="cuda")
    add_kernel[(4,)](x.cuda(), y.cuda(), out, 1000, BLOCK=256, MASKED=masked)
    torch.testing.assert_close(out.cpu(), x + y)


@triton.jit
def softmax_kernel(out, x, stride, columns, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    values = values / tl.sum(values, axis=0)
    if MASKED:
        tl.store(out + row * stride + at, values, mask=at < columns)
    else:
        tl.store(out + row * stride + at, values)  # the fault of softmax


def softmax(masked=True):
    x = random(37, 100)
    out = torch.empty(37, 100, device="cuda")
    softmax_kernel[(37,)](out, x.cuda(), 100, 100, BLOCK=128, MASKED=masked)
    torch.testing.assert_close(out.cpu(), torch.softmax(x, 1))


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, MASKED: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(a + rows[:, None] * K + (k * BK + inner)[None, :], mask=(rows[:, None] < M) & (inner[None, :] < left), other=0.0)
        y = tl.load(b + (k * BK + inner)[:, None] * N + columns[None, :], mask=(inner[:, None] < left) & (columns[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
    place = c + rows[:, None] * N + columns[None, :]
    if MASKED:
        tl.store(place, total.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))
    else:
        tl.store(place, total.to(tl.float16))  # the fault of matmul


def matmul(masked=True):
    a, b = random(70, 90).half(), random(90, 50).half()
    c = torch.empty(70, 50, device="cuda", dtype=torch.float16)
    matmul_kernel[(3, 2)](a.cuda(), b.cuda(), c, 70, 50, 90, BM=32, BN=32, BK=32, MASKED=masked)
    torch.testing.assert_close(c.cpu(), (a.float() @ b.float()).half(), atol=2e-2, rtol=1e-2)


@triton.jit
def norm_forward(x, y, w, b, mean, rstd, n, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + row * n + at, mask=inside, other=0.0)
    center = tl.sum(values, axis=0) / n
    apart = tl.where(inside, values - center, 0.0)
    inverse = 1 / tl.sqrt(tl.sum(apart * apart, axis=0) / n + eps)
    tl.store(mean + row, center)
    tl.store(rstd + row, inverse)
    normal = apart * inverse * tl.load(w + at, mask=inside) + tl.load(b + at, mask=inside)
    tl.store(y + row * n + at, normal, mask=inside)


@triton.jit
def norm_backward(dx, dy, dw, db, x, w, mean, rstd, lock, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    group = row % GROUPS
    inverse = tl.load(rstd + row)
    normal = (tl.load(x + row * n + at, mask=inside, other=0.0) - tl.load(mean + row)) * inverse
    normal = tl.where(inside, normal, 0.0)
    slope = tl.load(dy + row * n + at, mask=inside, other=0.0)
    weighed = slope * tl.load(w + at, mask=inside, other=0.0)
    first, second = tl.sum(normal * weighed, axis=0) / n, tl.sum(weighed, axis=0) / n
    tl.store(dx + row * n + at, (weighed - (normal * first + second)) * inverse, mask=inside)
    # Rows of a group add up their parts one after another, behind a lock.
    places = group * n + at
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    count = tl.load(lock + GROUPS + group)
    some_w, some_b = slope * normal, slope
    if count == 0:
        tl.atomic_xchg(lock + GROUPS + group, 1)
    else:
        some_w += tl.load(dw + places, mask=inside)
        some_b += tl.load(db + places, mask=inside)
    tl.store(dw + places, some_w, mask=inside)
    tl.store(db + places, some_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


@triton.jit
def norm_sums(dw, db, total_w, total_b, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rows = tl.arange(0, GROUPS)
    inside = at[None, :] < n
    sum_w = tl.sum(tl.load(dw + rows[:, None] * n + at[None, :], mask=inside, other=0.0), axis=0)
    sum_b = tl.sum(tl.load(db + rows[:, None] * n + at[None, :], mask=inside, other=0.0), axis=0)
    tl.store(total_w + at, sum_w, mask=at < n)
    if MASKED:
        tl.store(total_b + at, sum_b, mask=at < n)
    else:
        tl.store(total_b + at, sum_b)  # the fault of layer_norm


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(context, x, weight, bias, masked):
        rows, n = x.shape
        y = torch.empty_like(x)
        mean, rstd = torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
        norm_forward[(rows,)](x, y, weight, bias, mean, rstd, n, 1e-5, BLOCK=128)
        context.save_for_backward(x, weight, mean, rstd)
        context.masked = masked
        return y

    @staticmethod
    def backward(context, dy):
        x, weight, mean, rstd = context.saved_tensors
        rows, n = x.shape
        # Zeros of the CPU's: PyTorch's own kernels have no PTX.
        locks = torch.zeros(8, dtype=torch.int32).cuda()
        part_w, part_b = torch.empty(4, n, device="cuda"), torch.empty(4, n, device="cuda")
        dx, dw, db = torch.empty_like(dy), torch.empty_like(weight), torch.empty_like(weight)
        norm_backward[(rows,)](dx, dy, part_w, part_b, x, weight, mean, rstd, locks, n, GROUPS=4, BLOCK=128)
        norm_sums[(4,)](part_w, part_b, dw, db, n, GROUPS=4, BLOCK=32, MASKED=context.masked)
        return dx, dw, db, None


def layer_norm(masked=True):
    values = random(33, 100), random(100), random(100)
    here, there = [[value.detach() for value in values] for _ in range(2)]
    there = [value.cuda() for value in there]
    for value in [*here, *there]:
        value.requires_grad_()
    slope = random(33, 100)
    y = LayerNorm.apply(*there, masked)
    y.backward(slope.cuda())
    expected = torch.nn.functional.layer_norm(here[0], (100,), here[1], here[2])
    expected.backward(slope)
    torch.testing.assert_close(y.detach().cpu(), expected.detach(), atol=1e-4, rtol=1e-4)
    for a, b in zip(there, here):
        torch.testing.assert_close(a.grad.cpu(), b.grad, atol=1e-3, rtol=1e-3)


ALL = [add, softmax, matmul, layer_norm]

if __name__ == "__main__":
    for tutorial in ALL:
        if not sys.argv[1:] or tutorial.__name__ in sys.argv[1:]:
            tutorial(masked=not sys.argv[1:])
            torch.cuda.synchronize()
            print(f"{tutorial.__name__}: right")
