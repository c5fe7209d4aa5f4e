"""Kinds of TensorFlow operations on the software device, each compared with the CPU. Run by tensorflow.sh.

    operations.py [KIND...]

Prints a line for each kind: `right`, `WRONG`, or the error. Without a name, runs all of RIGHT. Fails if one is not right.
"""

import sys

import numpy
import tensorflow as tf


def random(*shape):
    return tf.constant(numpy.random.default_rng(sum(shape)).standard_normal(shape, dtype=numpy.float32))


def gradient():
    x = random(6, 40)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.nn.softmax(tf.sin(x) * x) * tf.exp(-x))
    return tape.gradient(y, x)


@tf.function
def loop(x):
    for _ in tf.range(5):
        x = tf.where(x > 0, x * 0.5, x + 1)
    return x


def variable():
    x = tf.Variable(random(8, 5))
    x.assign_add(tf.ones((8, 5)))
    x[2:4].assign(tf.zeros((2, 5)))
    x.scatter_nd_add([[1], [7]], tf.ones((2, 5)))
    return x.read_value()


def optimizer(kind):
    x = tf.Variable(random(30))
    one = kind(0.1)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x * x + tf.sin(x))
        one.apply_gradients([(tape.gradient(loss, x), x)])
    return x.read_value()


@tf.function(jit_compile=True)
def compiled(x):
    return tf.reduce_sum(tf.nn.softmax(tf.sin(x) * 2 + x), axis=0)


WORDS = tf.constant([[1, 5, 2], [0, 3, 3]])

#: Kinds that are right.
RIGHT = {
    "arithmetic": lambda: (random(7, 33) + random(33), random(9) / random(9), random(9) % 0.3, -random(5), tf.pow(tf.abs(random(9)), 1.7)),
    "integers": lambda: (tf.range(50) // 7, tf.range(50, dtype=tf.int64) * 3, tf.bitwise.bitwise_xor(tf.range(50), 21)),
    "functions": lambda: [f(random(50)) for f in (tf.exp, tf.sin, tf.tanh, tf.math.erf, tf.sigmoid, tf.square, tf.math.lgamma, tf.floor, tf.sign)],
    "comparisons": lambda: (random(40) > 0, tf.logical_and(random(40) > 0, random(40) < 1), tf.where(random(40) > 0, 1.0, random(40))),
    "casts": lambda: (tf.cast(random(40) * 9, tf.int32), tf.cast(random(40), tf.float16), tf.cast(random(40), tf.bfloat16), tf.cast(random(40), tf.float64)),
    "sums": lambda: (tf.reduce_sum(random(30, 50)), tf.reduce_mean(random(30, 50), 0), tf.reduce_prod(random(4, 5), 1)),
    "extremes": lambda: (tf.reduce_max(random(30, 50), 1), tf.argmax(random(30, 50), 1), tf.reduce_any(random(30, 5) > 1, 0)),
    "shapes": lambda: (tf.transpose(random(5, 6, 7), (2, 0, 1)), tf.reshape(random(6, 4), (3, 8)), tf.tile(random(2, 3), (2, 4)), tf.pad(random(3, 4), [[1, 2], [0, 3]])),
    "parts": lambda: (random(9, 8)[2:7:2, ::-1], *tf.split(random(9, 8), 4, 1), *tf.unstack(random(3, 4)), tf.reverse(random(5, 6), [1])),
    "joined": lambda: (tf.concat([random(3, 4), random(5, 4)], 0), tf.stack([random(5), random(5)], 1)),
    "gathered": lambda: (tf.gather(random(6, 5), WORDS), tf.gather_nd(random(6, 5), [[1, 2], [5, 0]]), tf.one_hot(WORDS, 6)),
    "scattered": lambda: (tf.scatter_nd([[4], [3], [1]], random(3, 2), (8, 2)), tf.tensor_scatter_nd_update(random(8), [[4], [3]], [9.0, 10.0])),
    "segments": lambda: (tf.math.unsorted_segment_sum(random(6, 5), [0, 2, 2, 1, 0, 3], 4), tf.math.unsorted_segment_max(random(6, 5), [0, 2, 2, 1, 0, 3], 4)),
    "running sums": lambda: (tf.cumsum(random(5, 70), 1), tf.math.cumprod(random(5, 7), 0)),
    "networks": lambda: (tf.nn.relu(random(40)), tf.nn.softmax(random(6, 50)), tf.nn.bias_add(random(2, 3, 4, 5), random(5)), tf.nn.elu(random(9)), tf.nn.log_softmax(random(6, 50))),
    "losses": lambda: (tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 3], random(3, 5)), tf.nn.l2_loss(random(40))),
    "random numbers": lambda: (tf.random.stateless_uniform((50,), (1, 2)), tf.random.stateless_normal((50,), (3, 4))),
    "a gradient": gradient,
    "a loop": lambda: loop(random(50)),
    "variables": variable,
    "gradient descent": lambda: optimizer(tf.keras.optimizers.SGD),
    "Adam": lambda: optimizer(tf.keras.optimizers.Adam),
    "images": lambda: (tf.image.resize(random(1, 6, 7, 2), (9, 5)), tf.image.flip_left_right(random(1, 6, 7, 2)), tf.image.adjust_contrast(random(1, 6, 7, 3), 2.0)),
    "sorted": lambda: (tf.math.top_k(random(4, 60), 5).values, tf.sort(random(60))),
    "a band": lambda: (tf.linalg.band_part(random(6, 6), 1, 2), tf.linalg.diag(random(5)), tf.linalg.trace(random(6, 6))),
}

#: Kinds that call cuBLAS, cuDNN, cuFFT or cuSOLVER, for which tensorflow.sh has empty libraries. They fail, and some end the
#: process, so they only run by name.
WITH_LIBRARIES = {
    "compiled by XLA": lambda: compiled(random(6, 50)),
    "a product": lambda: random(6, 7) @ random(7, 8),
    "a convolution": lambda: tf.nn.conv2d(random(1, 6, 7, 2), random(3, 3, 2, 4), 1, "SAME"),
    "pooling": lambda: tf.nn.max_pool2d(random(1, 6, 8, 2), 2, 2, "VALID"),
    "a Fourier transform": lambda: tf.signal.rfft(random(32)),
    "a solution": lambda: tf.linalg.solve(random(4, 4), random(4, 2)),
}


def on(device, kind):
    with tf.device(device):
        results = tf.nest.flatten(kind())
    assert all(device in result.device for result in results), [result.device for result in results]
    return [result.numpy() for result in results]


def outcome(kind):
    expected = on("CPU:0", kind)
    try:
        result = on("GPU:0", kind)
    except (tf.errors.OpError, RuntimeError) as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
    for here, there in zip(expected, result, strict=True):
        close = here.dtype.kind not in "fV" or numpy.allclose(numpy.float64(here), numpy.float64(there), rtol=2e-3 if here.itemsize == 2 else 2e-5, atol=2e-5)
        if here.shape != there.shape or here.dtype != there.dtype or not close or (here.dtype.kind in "iub" and (here != there).any()):
            return "WRONG"
    return "right"


def main(names):
    tf.config.set_soft_device_placement(False)
    print("devices:", [device.name for device in tf.config.list_physical_devices("GPU")])
    failed = 0
    for name, kind in (RIGHT | WITH_LIBRARIES).items():
        if name in names or not names and name in RIGHT:
            answer = outcome(kind)
            failed += answer != "right"
            print(f"{name}: {answer}", flush=True)
    sys.exit(failed != 0)


main(sys.argv[1:])
