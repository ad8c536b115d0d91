#include "programs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

static const char *kernels = KERNELS(R"(
KERNEL part(sycl::accessor<int> a, sycl::accessor<int> b, sycl::accessor<int> c) {
    auto i = get_nd_item<1>().get_global_id(0);
    c[i] = a[i] < b[i] ? -1 : 1;
    a[i] += c[i];
    b[i] -= c[i];
}

KERNEL begin(sycl::accessor<int> a, sycl::accessor<int> b, sycl::accessor<int> c) {
    auto i = get_nd_item<1>().get_global_id(0);
    a[i] = 11;
    b[i] = 22;
    c[i] = 0;
}

KERNEL add(sycl::accessor<int> a, sycl::accessor<int> b, sycl::accessor<int> c, int offset) {
    auto i = get_nd_item<1>().get_global_id(0);
    c[i] += a[i] + b[i] + offset;
}

KERNEL add_up(sycl::accessor<int> a, sycl::accessor<int> b, sycl::accessor<int> totals, int n, int work) {
    int lane = get_nd_item<1>().get_local_id(0), total = 0;
    for (int k = 0; k < work; ++k)
        for (int i = lane; i < n; i += 256)
            total += (a[i] + b[i]) ^ k;
    totals[lane] = total;
}

#define ADVANCE(NAME, FLOATS)                             \
    KERNEL NAME(FLOATS data, int steps) {                 \
        auto i = get_nd_item<1>().get_global_id(0);       \
        float value = data[i];                            \
        for (int k = 0; k < steps; ++k)                   \
            value += 1.0f;                                \
        data[i] = value;                                  \
    }
ADVANCE(advance_buffer, sycl::accessor<float>)
ADVANCE(advance_shared, float *)
)");

static double step_through(Programs &p, int n, int steps, bool once) {
    std::vector<int> a(n), b(n), c(n);
    sycl::kernel part = p.kernel("part");
    double taken = timed([&] {
        std::fill(a.begin(), a.end(), 10);
        std::fill(b.begin(), b.end(), 20);
        sycl::buffer<int> of_a(a.data(), n), of_b(b.data(), n);
        std::unique_ptr<sycl::buffer<int>> of_c;
        for (int step = 0; step < steps; ++step) {
            if (!once || !of_c) {
                of_c.reset();
                of_c = std::make_unique<sycl::buffer<int>>(c.data(), n);
            }
            p.queue.submit([&](sycl::handler &h) {
                h.set_args(sycl::accessor(of_a, h), sycl::accessor(of_b, h), sycl::accessor(*of_c, h));
                h.parallel_for(sycl::nd_range<1>(n, n), part);
            });
        }
    });
    return a[0] == 10 - steps && b[0] == 20 + steps ? taken : -1;
}

static double in_blocks(Programs &p, int n, int rounds, bool once) {
    constexpr int group = 1024, offset = 7;
    std::vector<int> a(n), b(n), c(n);
    sycl::kernel begin = p.kernel("begin"), add = p.kernel("add");
    using Buffer = sycl::buffer<int>;
    auto first = [&](Buffer &a, Buffer &b, Buffer &c) {
        p.queue.submit([&](sycl::handler &h) {
            sycl::accessor of_a(a, h, sycl::write_only, sycl::no_init), of_b(b, h, sycl::write_only, sycl::no_init);
            h.set_args(of_a, of_b, sycl::accessor(c, h, sycl::write_only, sycl::no_init));
            h.parallel_for(sycl::nd_range<1>(n, group), begin);
        });
    };
    auto later = [&](Buffer &a, Buffer &b, Buffer &c) {
        p.queue.submit([&](sycl::handler &h) {
            sycl::accessor of_a(a, h, sycl::read_only), of_b(b, h, sycl::read_only);
            h.set_args(of_a, of_b, sycl::accessor(c, h), offset);
            h.parallel_for(sycl::nd_range<1>(n, group), add);
        });
    };
    auto block = [&](const auto &inside) {
        Buffer of_a(a.data(), n), of_b(b.data(), n), of_c(c.data(), n);
        inside(of_a, of_b, of_c);
    };
    double taken = timed([&] {
        if (once) {
            block([&](Buffer &a, Buffer &b, Buffer &c) {
                first(a, b, c);
                for (int round = 0; round < rounds; ++round)
                    later(a, b, c);
            });
        } else {
            block(first);
            for (int round = 0; round < rounds; ++round)
                block(later);
        }
    });
    return c[n - 1] == rounds * (33 + offset) ? taken : -1;
}

template <typename Mode> double read_by_four(Programs &p, int n, int rounds, int work, Mode mode) {
    constexpr int group = 256;
    std::vector<int> a(n, 1), b(n, 2), totals[4];
    for (auto &each : totals)
        each.resize(group);
    sycl::queue queue{p.device};
    sycl::kernel kernel = p.kernel("add_up");
    double taken = timed([&] {
        const std::vector<int> &read_a = a, &read_b = b; // not written back, as our arrays
        sycl::buffer<int> of_a(read_a.data(), n), of_b(read_b.data(), n);
        std::vector<sycl::buffer<int>> of_totals;
        for (auto &each : totals)
            of_totals.emplace_back(each.data(), group);
        for (int round = 0; round < rounds; ++round)
            for (auto &each : of_totals)
                queue.submit([&](sycl::handler &h) {
                    sycl::accessor in_a(of_a, h, mode), in_b(of_b, h, mode);
                    h.set_args(in_a, in_b, sycl::accessor(each, h, sycl::write_only, sycl::no_init), n, work);
                    h.parallel_for(sycl::nd_range<1>(group, group), kernel);
                });
    });
    int expected = 0;
    for (int k = 0; k < work; ++k)
        expected += (3 ^ k) * (n / group);
    return totals[3][0] == expected ? taken : -1;
}

static constexpr int device_steps = 20;

static double buffer_turns(Programs &p, int n, int steps, int stride) {
    sycl::buffer<float> data{sycl::range<1>(n)};
    sycl::kernel advance = p.kernel("advance_buffer");
    double taken = timed([&] {
        {
            sycl::host_accessor host(data, sycl::write_only, sycl::no_init);
            for (int i = 0; i < n; ++i)
                host[i] = 1;
        }
        for (int step = 0; step < steps; ++step) {
            p.queue.submit([&](sycl::handler &h) {
                h.set_args(sycl::accessor(data, h), device_steps);
                h.parallel_for(sycl::nd_range<1>(n, 256), advance);
            });
            sycl::host_accessor host(data);
            for (int i = 0; i < n; i += stride)
                host[i] += 1.0f;
        }
    });
    return sycl::host_accessor(data)[0] == 1 + steps * (device_steps + 1) ? taken : -1;
}

static double pointer_turns(Programs &p, int n, int steps, int stride, bool shared) {
    float *data = shared ? sycl::malloc_shared<float>(n, p.queue) : sycl::malloc_device<float>(n, p.queue);
    std::vector<float> memory(shared ? 0 : n);
    float *host = shared ? data : memory.data();
    sycl::kernel advance = p.kernel("advance_shared");
    double taken = timed([&] {
        std::fill_n(host, n, 1.0f);
        for (int step = 0; step < steps; ++step) {
            if (!shared)
                p.queue.memcpy(data, host, sizeof(float) * n);
            launch(p.queue, advance, n, 256, data, device_steps);
            if (!shared)
                p.queue.memcpy(host, data, sizeof(float) * n);
            p.queue.wait();
            for (int i = 0; i < n; i += stride)
                host[i] += 1.0f;
        }
    });
    bool right = host[0] == 1 + steps * (device_steps + 1);
    sycl::free(data, p.queue);
    return right ? taken : -1;
}

extern "C" {

Programs *prepare(const sycl::queue *queue) { return prepared(queue, kernels); }

double allocation_in_loop_buffer_every_step(Programs *p, int n, int steps, int) { return step_through(*p, n, steps, false); }

double allocation_in_loop_buffer_once(Programs *p, int n, int steps, int) { return step_through(*p, n, steps, true); }

double buffer_scopes_block_for_each_kernel(Programs *p, int n, int rounds, int) { return in_blocks(*p, n, rounds, false); }

double buffer_scopes_one_block(Programs *p, int n, int rounds, int) { return in_blocks(*p, n, rounds, true); }

double accessor_modes_read_write_inputs(Programs *p, int n, int rounds, int work) {
    return read_by_four(*p, n, rounds, work, sycl::read_write);
}

double accessor_modes_read_only_inputs(Programs *p, int n, int rounds, int work) {
    return read_by_four(*p, n, rounds, work, sycl::read_only);
}

double usm_vs_buffers_buffer_by_reference(Programs *p, int n, int steps, int stride) {
    return buffer_turns(*p, n, steps, stride);
}

double usm_vs_buffers_shared_memory(Programs *p, int n, int steps, int stride) {
    return pointer_turns(*p, n, steps, stride, true);
}

double usm_vs_buffers_device_memory(Programs *p, int n, int steps, int stride) {
    return pointer_turns(*p, n, steps, stride, false);
}
}
