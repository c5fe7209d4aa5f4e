"""torchvision's kernels, unmodified, against its code for the CPU. Its wheel has PTX for compute capability 12.0 alone. Operators
of PyTorch's own, such as the sort in `nms`, are computed on the CPU. Run by torch.sh."""

import pytest
import torch
from torchvision import ops

from cuda_software import torch_operators_on_cpu
from tutorials import random

IMAGES = random(2, 4, 20, 24)
CORNERS = random(30, 2).abs() * 5
BOXES = torch.cat([CORNERS, CORNERS + random(2, 30).t().abs() * 6 + 1], 1)
PLACES = torch.cat([(torch.arange(30) % 2)[:, None].float(), BOXES], 1)


KERNELS = {
    "roi_align": lambda images, places: ops.roi_align(images, places, (5, 3), 0.5, 2),
    "roi_align_aligned": lambda images, places: ops.roi_align(images, places, 4, 0.7, -1, True),
    "roi_pool": lambda images, places: ops.roi_pool(images, places, (5, 3), 0.5),
    "ps_roi_align": lambda images, places: ops.ps_roi_align(images, places, 2, 0.5, 2),
    "ps_roi_pool": lambda images, places: ops.ps_roi_pool(images, places, 2, 0.5),
}


@pytest.fixture(autouse=True, scope="module")
def mode():
    with torch_operators_on_cpu.Mode():
        yield


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_and_its_backward_pass(name):
    here, there = IMAGES.clone().requires_grad_(), IMAGES.cuda().requires_grad_()
    expected, result = KERNELS[name](here, PLACES), KERNELS[name](there, PLACES.cuda())
    torch.testing.assert_close(result.cpu(), expected, atol=1e-4, rtol=1e-4)
    slope = random(*expected.shape)
    expected.backward(slope)
    result.backward(slope.cuda())
    torch.testing.assert_close(there.grad.cpu(), here.grad, atol=1e-3, rtol=1e-3)
    ran = [operator for operator in torch_operators_on_cpu.ran if "roi" in operator]
    assert ran == []


def deformed(device):
    shapes = {"input": (2, 4, 10, 12), "offset": (2, 36, 10, 12), "weight": (6, 2, 3, 3), "bias": (6,), "mask": (2, 18, 10, 12)}
    given = {name: random(*shape).to(device).requires_grad_() for name, shape in shapes.items()}
    result = ops.deform_conv2d(**given, padding=1)
    result.backward(random(*result.shape).to(device))
    return [result.detach(), *(one.grad for one in given.values())]


def test_a_deformed_convolution_and_its_backward_pass():
    for there, here in zip(deformed("cuda"), deformed("cpu"), strict=True):
        torch.testing.assert_close(there.cpu(), here, atol=1e-4, rtol=1e-4)
    assert not any("deform" in operator for operator in torch_operators_on_cpu.ran)


def test_boxes_that_overlap_are_left_out():
    scores = random(30)
    assert torch.equal(ops.nms(BOXES.cuda(), scores.cuda(), 0.3).cpu(), ops.nms(BOXES, scores, 0.3))
