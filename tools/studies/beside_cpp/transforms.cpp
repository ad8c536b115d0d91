#include "programs.hpp"

#include <array>
#include <cmath>
#include <utility>

static const char *kernels = KERNELS(R"(
#define OF(FLOATS, SUFFIX)                                                                                          \
    KERNEL make_noise_##SUFFIX(FLOATS real, FLOATS imaginary, int seed) {                                            \
        int i = get_nd_item<1>().get_global_id(0);                                                                   \
        long state = (long(seed) + i) * 48271 % 2147483647;                                                          \
        real[i] = (float(state) / 2147483647.0f - 0.5f) * 0.0001f;                                                   \
        imaginary[i] = 0;                                                                                            \
    }                                                                                                                \
    KERNEL put_signal_##SUFFIX(FLOATS real, int place) { real[place + get_nd_item<1>().get_global_id(0)] = 1; }      \
    KERNEL stage_##SUFFIX(FLOATS real, FLOATS imaginary, FLOATS to_real, FLOATS to_imaginary, int half, int width,   \
                          float angle) {                                                                             \
        int i = get_nd_item<1>().get_global_id(0), block = i / width, to = i + block * width;                        \
        float cosine = sycl::cos(block * angle), sine = sycl::sin(block * angle);                                    \
        float difference = real[i] - real[i + half], other = imaginary[i] - imaginary[i + half];                     \
        to_real[to] = real[i] + real[i + half];                                                                      \
        to_imaginary[to] = imaginary[i] + imaginary[i + half];                                                       \
        to_real[to + width] = difference * cosine - other * sine;                                                    \
        to_imaginary[to + width] = difference * sine + other * cosine;                                               \
    }                                                                                                                \
    KERNEL multiply_##SUFFIX(FLOATS real, FLOATS imaginary, FLOATS other_real, FLOATS other_imaginary,               \
                             FLOATS to_real, FLOATS to_imaginary) {                                                  \
        int i = get_nd_item<1>().get_global_id(0);                                                                   \
        to_real[i] = real[i] * other_real[i] + imaginary[i] * other_imaginary[i];                                    \
        to_imaginary[i] = imaginary[i] * other_real[i] - real[i] * other_imaginary[i];                               \
    }
OF(float *, shared)
OF(sycl::accessor<float>, buffer)
)");

static constexpr int group = 1024, signal_width = 3;

// Launches kernels over complex arrays, each a pair of pointers or of buffers.
template <typename Array> struct Correlation {
    using Complex = std::pair<Array, Array>;
    Programs &p;
    int n;
    sycl::kernel make_noise, put_signal, stage, multiply;

    static auto argument(sycl::handler &h, sycl::buffer<float> &buffer) { return sycl::accessor(buffer, h); }
    static float *argument(sycl::handler &, float *pointer) { return pointer; }
    template <typename Number> static Number argument(sycl::handler &, Number number) { return number; }

    template <typename... Arguments> void run(sycl::kernel &kernel, int items, Arguments &...arguments) {
        p.queue.submit([&](sycl::handler &h) {
            h.set_args(argument(h, arguments)...);
            h.parallel_for(sycl::nd_range<1>(items, items < group ? items : group), kernel);
        });
    }

    void transform(Complex &data, Complex &spare, int sign) {
        for (int width = 1, half = n / 2; width < n; width *= 2) {
            float angle = sign * 2 * float(M_PI) * width / n;
            run(stage, half, data.first, data.second, spare.first, spare.second, half, width, angle);
            std::swap(data, spare);
        }
    }

    // where the correlation is, times n
    Array of(Complex first, Complex second, Complex spare) {
        int seeds[2] = {12345, 67890}, places[2] = {n - n / 4 - 1, n / 4 - 1};
        run(make_noise, n, first.first, first.second, seeds[0]);
        run(make_noise, n, second.first, second.second, seeds[1]);
        run(put_signal, signal_width, first.first, places[0]);
        run(put_signal, signal_width, second.first, places[1]);
        transform(first, spare, -1);
        transform(second, spare, -1);
        run(multiply, n, first.first, first.second, second.first, second.second, spare.first, spare.second);
        transform(spare, second, 1);
        return spare.first;
    }
};

template <typename Host> static int shift_of(const Host &host, int n, std::vector<float> &correlation) {
    int found = 0;
    for (int i = 0; i < n; ++i) {
        correlation[i] = host[i] * (1.0f / n);
        found = correlation[i] > correlation[found] ? i : found;
    }
    return found;
}

template <typename Array> static Correlation<Array> of_kernels(Programs &p, int n, const std::string &suffix) {
    auto kernel = [&](const char *name) { return p.kernel((name + suffix).c_str()); };
    return {p, n, kernel("make_noise"), kernel("put_signal"), kernel("stage"), kernel("multiply")};
}

extern "C" {

Programs *prepare(const sycl::queue *queue) { return prepared(queue, kernels); }

double fourier_buffers_kernel_puts_signals(Programs *p, int n, int, int) {
    auto correlation = of_kernels<float *>(*p, n, "_shared");
    std::array<float *, 6> arrays;
    for (auto &array : arrays)
        array = sycl::malloc_shared<float>(n, p->queue);
    std::vector<float> result(n);
    int shift = 0;
    double taken = timed([&] {
        float *found = correlation.of({arrays[0], arrays[1]}, {arrays[2], arrays[3]}, {arrays[4], arrays[5]});
        p->queue.wait();
        shift = shift_of(found, n, result);
    });
    for (auto array : arrays)
        sycl::free(array, p->queue);
    return shift == n - 2 * (n / 4) ? taken : -1;
}

double fourier_buffers_buffers(Programs *p, int n, int, int) {
    auto correlation = of_kernels<sycl::buffer<float>>(*p, n, "_buffer");
    std::vector<sycl::buffer<float>> buffers;
    for (int at = 0; at < 6; ++at)
        buffers.emplace_back(sycl::range<1>(n));
    std::vector<float> result(n);
    int shift = 0;
    double taken = timed([&] {
        auto found = correlation.of({buffers[0], buffers[1]}, {buffers[2], buffers[3]}, {buffers[4], buffers[5]});
        shift = shift_of(sycl::host_accessor(found, sycl::read_only), n, result);
    });
    return shift == n - 2 * (n / 4) ? taken : -1;
}
}
