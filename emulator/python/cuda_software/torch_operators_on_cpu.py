"""PyTorch's own operators on CUDA tensors, computed on the CPU: the software device cannot run their machine code.

    from cuda_software import torch_operators_on_cpu
    torch_operators_on_cpu.enable()                  # or, for a part of a program: with torch_operators_on_cpu.Mode():
    x = torch.zeros(3, device="cuda") + 1

Off by default, because such a program does not test the operators that it names: their kernels do not run, and the checks
of the software device do not see them. Triton kernels, `torch.compile` and extensions run on the device as before.

An operator waits for the current stream, copies the bytes of its arguments to the CPU, runs there, and copies the bytes of
new and changed tensors back. Arguments that share memory share it on the CPU too, so operators in place, views and lists
give the results that they give on a GPU. Operators that only allocate, describe or copy memory stay on the device.
"""

import collections
import functools

import torch
import torch._inductor.config as inductor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

#: How often each operator ran on the CPU.
ran = collections.Counter()

#: Operators without a kernel: they allocate, describe or share memory.
_WITHOUT_KERNEL = {
    "_local_scalar_dense",
    "_pin_memory",
    "_unsafe_view",
    "empty",
    "empty_like",
    "empty_strided",
    "is_pinned",
    "is_same_size",
    "new_empty",
    "new_empty_strided",
    "record_stream",
    "resize_",
    "set_",
}
_PYTORCH = ("aten", "prims")
_CUDA = torch._C.DispatchKey.CUDA
_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_SAME_LAYOUT = (None, torch.preserve_format, torch.contiguous_format)
#: Places of tensors in memory begin at multiples of the largest element.
_ALIGNMENT = 16

#: Choices of kernels that the CPU does not have, and of passes of the compiler that run operators outside of the mode.
_CHOICES = [
    (torch.backends.cuda.flash_sdp_enabled, torch.backends.cuda.enable_flash_sdp),
    (torch.backends.cuda.mem_efficient_sdp_enabled, torch.backends.cuda.enable_mem_efficient_sdp),
    (torch.backends.cuda.cudnn_sdp_enabled, torch.backends.cuda.enable_cudnn_sdp),
    *(
        (functools.partial(getattr, owner, name), functools.partial(setattr, owner, name))
        for owner, name in [(torch.backends.cudnn, "enabled"), (inductor, "joint_graph_constant_folding"), (inductor, "shape_padding")]
    ),
]

_mode = None


def enable():
    """Runs PyTorch's operators on the CPU from now on, in this thread and in the backward passes that it starts."""
    global _mode
    if _mode is None:
        _mode = Mode()
        _mode.__enter__()


class Mode(TorchDispatchMode):
    """The same as a context manager."""

    def __enter__(self):
        self._before = [getter() for getter, _ in _CHOICES]
        for _, setter in _CHOICES:
            setter(False)
        return super().__enter__()

    def __exit__(self, *error):
        for (_, setter), value in zip(_CHOICES, self._before):
            setter(value)
        return super().__exit__(*error)

    @classmethod
    def is_infra_mode(cls):
        """True: `torch.compile` compiles in this mode as without it."""
        return True

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = [*_tensors(args), *_tensors(list(kwargs.values()))]
        on_device = any(tensor.is_cuda for tensor in tensors)
        if on_device and operator.namespace not in _PYTORCH and operator.has_kernel_for_dispatch_key(_CUDA):
            # Another library's, which may call PyTorch's.
            with self:
                return operator._op_dk(_CUDA, *args, **kwargs)
        if on_device and operator.is_view and operator.has_kernel_for_dispatch_key(_COMPOSITE):
            # A view or a copy, for example `flatten`. In its parts they are two operators.
            with self:
                return operator.decompose(*args, **kwargs)
        device = kwargs.get("device")
        on_device |= device is not None and torch.device(device).type == "cuda"
        if not on_device or _stays(operator, tensors, args, kwargs):
            return operator(*args, **kwargs)
        ran[operator.overloadpacket.__name__] += 1
        return _on_cpu(operator, args, kwargs)


def _tensors(value):
    """The tensors in the arguments of an operator, which may be in lists."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part)


def _stays(operator, tensors, args, kwargs):
    """True for an operator that uses no kernel of PyTorch's."""
    if operator.namespace not in _PYTORCH or operator.is_view:
        return True
    if any(type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided for tensor in tensors):
        return True
    name = operator.overloadpacket.__name__
    if name in ("clone", "_to_copy"):
        same = kwargs.get("dtype") in (None, args[0].dtype) and kwargs.get("memory_format") in _SAME_LAYOUT
        return same and args[0].is_contiguous() and not _is_marked(args[0])
    if name == "copy_":
        target, source = args[:2]
        alike = target.dtype == source.dtype and target.shape == source.shape
        plain = all(tensor.is_contiguous() and not _is_marked(tensor) for tensor in (target, source))
        return alike and plain
    return name in _WITHOUT_KERNEL


def _is_marked(tensor):
    """True for a view that negates or conjugates what it reads."""
    return tensor.is_conj() or tensor.is_neg()


def _on_cpu(operator, args, kwargs):
    copies = _Copies([*_tensors(args), *_tensors(list(kwargs.values()))])
    target = kwargs.get("device") or copies.device
    here = dict(kwargs, device=torch.device("cpu")) if kwargs.get("device") else kwargs
    here_args, here = tree_map_only(torch.Tensor, copies.on_cpu, (args, here))
    try:
        result = operator(*here_args, **here)
    except NotImplementedError as error:
        message = f"{operator} exists for GPUs alone: cuda_software.torch_operators_on_cpu cannot run it on the CPU"
        raise NotImplementedError(message) from error
    for argument, value in _given(operator, args, kwargs):
        if argument.alias_info is not None and argument.alias_info.is_write:
            for tensor in _tensors(value):
                copies.write_back(tensor)
    return tree_map_only(torch.Tensor, lambda tensor: copies.on_device(tensor, target), result)


def _given(operator, args, kwargs):
    """The arguments of the operator's schema, each with its value."""
    for index, argument in enumerate(operator._schema.arguments):
        if index < len(args):
            yield argument, args[index]
        elif argument.name in kwargs:
            yield argument, kwargs[argument.name]


class _Copies:
    """The memory of an operator's arguments on the CPU: for each storage on a device the bytes that they span."""

    def __init__(self, tensors):
        self.device = next((tensor.device for tensor in tensors if tensor.is_cuda), None)
        self._spans, self._storages, self._made, self._moved = {}, {}, {}, {}
        self._originals = {id(tensor): tensor for tensor in tensors}
        for tensor in tensors:
            if tensor.is_cuda:
                key = tensor.untyped_storage()._cdata
                first, last = _span(tensor)
                begin, end = self._spans.get(key, (first, last))
                self._spans[key] = min(begin, first // _ALIGNMENT * _ALIGNMENT), max(end, last)

    def on_cpu(self, tensor):
        """The copy of an argument. Copies of arguments that share memory share it too."""
        if not tensor.is_cuda:
            return tensor
        if id(tensor) in self._made:
            return self._made[id(tensor)]
        storage = tensor.untyped_storage()
        begin, end = self._spans[storage._cdata]
        if storage._cdata not in self._storages:
            # The number of a storage is another's once it is freed: the argument keeps its own alive.
            here = _bytes(storage, begin, end).cpu().untyped_storage()
            self._storages[storage._cdata] = here
            self._moved[here._cdata] = storage, begin
        here = self._storages[storage._cdata]
        copy = _tensor_in(here, tensor, tensor.storage_offset() - begin // tensor.element_size(), "cpu")
        self._made[id(tensor)] = copy
        self._originals[id(copy)] = tensor
        return copy

    def write_back(self, tensor):
        """Copies the bytes of a changed argument to the device."""
        if not tensor.is_cuda:
            return
        copy = self._made[id(tensor)]
        if copy.shape != tensor.shape:
            # The operator gives an output its shape.
            tensor.resize_(copy.shape).as_strided_(copy.shape, copy.stride())
        _part(tensor).copy_(_part(copy))

    def on_device(self, result, target):
        """The result of an operator on the device: the argument itself if it is one, else a new tensor."""
        if id(result) in self._originals:
            return self._originals[id(result)]
        if torch.device(target).type != "cuda":
            return result
        here = result.untyped_storage()
        if here._cdata not in self._moved:
            there = _bytes(here, 0, here.nbytes()).to(target)
            self._moved[here._cdata] = there.untyped_storage(), 0
        storage, begin = self._moved[here._cdata]
        return _tensor_in(storage, result, result.storage_offset() + begin // result.element_size(), target)


def _span(tensor):
    """The first byte of a tensor in its storage, and the end of its last."""
    first = last = tensor.storage_offset()
    if tensor.numel() != 0:
        last += sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride())) + 1
    return first * tensor.element_size(), last * tensor.element_size()


def _part(tensor):
    """The bytes that a tensor spans."""
    return _bytes(tensor.untyped_storage(), *_span(tensor))


def _bytes(storage, begin, end):
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage, begin, (end - begin,), (1,))


def _tensor_in(storage, like, offset, device):
    """A tensor in a storage with the type, the shape and the marks of another."""
    made = torch.empty(0, dtype=like.dtype, device=device).set_(storage, offset, like.shape, like.stride())
    if like.is_conj():
        torch._C._set_conj(made, True)
    if like.is_neg():
        torch._C._set_neg(made, True)
    return made
