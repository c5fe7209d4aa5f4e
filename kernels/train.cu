// A step of training: a network of two inputs, 16 hidden units by tanh and one output, by gradient descent on squares.
//
// gradient(u32 n, const float* weights, const float* inputs, const float* targets, float* sums)
//   weights:   65: for each hidden unit its two weights, then 16 biases, 16 weights of the output, and its bias.
//   inputs:    2n, one pair for each sample. targets: n.
//   sums:      66 are written: the gradient of the sum of squared errors by each weight, then that sum itself.
//   geometry:  1-D, one block of at least 66 threads.
//   shared:    none.
//   result:    each sum goes over the samples in their order, so it is the same for the same samples.
//
// descend(float rate, const float* sums, float* weights)
//   weights -= rate * sums, for all 65.
//   geometry:  1-D, one block of at least 65 threads.

#define HIDDEN 16u
#define WEIGHTS (4u * HIDDEN + 1u)

extern "C" __global__ void gradient(
    unsigned n, const float* weights, const float* inputs, const float* targets, float* sums
) {
    unsigned place = threadIdx.x;
    if (place > WEIGHTS) {
        return;
    }
    float sum = 0.0f;
    for (unsigned sample = 0; sample < n; ++sample) {
        float x = inputs[2 * sample], y = inputs[2 * sample + 1];
        // The output, and the value of the unit whose weight this thread has.
        float output = weights[WEIGHTS - 1], mine = 0.0f;
        unsigned unit = place < 2 * HIDDEN ? place / 2 : place % HIDDEN;
        for (unsigned k = 0; k < HIDDEN; ++k) {
            float value = tanhf(weights[2 * k] * x + weights[2 * k + 1] * y + weights[2 * HIDDEN + k]);
            output += weights[3 * HIDDEN + k] * value;
            mine = k == unit ? value : mine;
        }
        float error = output - targets[sample];
        float above = 2.0f * error;
        float below = above * weights[3 * HIDDEN + unit] * (1.0f - mine * mine);
        if (place < 2 * HIDDEN) {
            sum += below * (place % 2 == 0 ? x : y);
        } else if (place < 3 * HIDDEN) {
            sum += below;
        } else if (place < 4 * HIDDEN) {
            sum += above * mine;
        } else {
            sum += place == WEIGHTS ? error * error : above;
        }
    }
    sums[place] = sum;
}

extern "C" __global__ void descend(float rate, const float* sums, float* weights) {
    if (threadIdx.x < WEIGHTS) {
        weights[threadIdx.x] -= rate * sums[threadIdx.x];
    }
}
