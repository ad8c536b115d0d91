// Programs in C++ as the guide describes them, on a queue's device. Each gives nanoseconds of the region that our variant
// of the same name measures, or -1 for wrong results.
#define SYCL_DISABLE_FSYCL_SYCLHPP_WARNING // the runtime compiles the kernels
#include <sycl/sycl.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace ex = sycl::ext::oneapi::experimental;
using Clock = std::chrono::steady_clock;

static const char *kernels = R"(
#include <sycl/sycl.hpp>
namespace ex = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;
#define KERNEL extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::nd_range_kernel<1>)) void

KERNEL ones(sycl::accessor<int> data) { data[get_nd_item<1>().get_global_id(0)] = 1; }

KERNEL add_up(sycl::accessor<int> data, sycl::accessor<int> total, sycl::local_accessor<int> scratch, int n) {
    auto item = get_nd_item<1>();
    int lane = item.get_local_id(0), lanes = item.get_local_range(0), own = 0;
    for (int i = lane; i < n; i += lanes)
        own += data[i];
    scratch[lane] = own;
    for (int half = lanes / 2; half > 0; half /= 2) {
        sycl::group_barrier(item.get_group());
        if (lane < half)
            scratch[lane] += scratch[lane + half];
    }
    if (lane == 0)
        total[0] = scratch[0];
}

KERNEL part(sycl::accessor<int> a, sycl::accessor<int> b, sycl::accessor<int> c) {
    auto i = get_nd_item<1>().get_global_id(0);
    c[i] = a[i] < b[i] ? -1 : 1;
    a[i] += c[i];
    b[i] -= c[i];
}

KERNEL advance_accessor(sycl::accessor<float> data, int steps) {
    auto i = get_nd_item<1>().get_global_id(0);
    for (int k = 0; k < steps; ++k)
        data[i] += 1.0f;
}

KERNEL advance_pointer(float *data, int steps) {
    auto i = get_nd_item<1>().get_global_id(0);
    for (int k = 0; k < steps; ++k)
        data[i] += 1.0f;
}
)";

struct Programs {
    sycl::device device;
    sycl::queue queue{device, sycl::property::queue::in_order{}};
    sycl::kernel_bundle<sycl::bundle_state::executable> bundle;
    sycl::kernel kernel(const char *name) { return bundle.ext_oneapi_get_kernel(name); }
};

static sycl::kernel_bundle<sycl::bundle_state::executable> built(const sycl::queue &queue) {
    auto source = ex::create_kernel_bundle_from_source(queue.get_context(), ex::source_language::sycl, std::string(kernels));
    return ex::build(source);
}

static double since(Clock::time_point begin) { return std::chrono::duration<double, std::nano>(Clock::now() - begin).count(); }

static double add_in_steps(Programs &p, int n, int steps, const std::function<sycl::queue()> &queue_of_step) {
    constexpr int group = 512;
    std::vector<int> data(n);
    int total = 0;
    sycl::buffer<int> of_data(data.data(), n, {sycl::property::buffer::use_host_ptr()});
    sycl::buffer<int> of_total(&total, 1, {sycl::property::buffer::use_host_ptr()});
    sycl::kernel ones = p.kernel("ones"), add_up = p.kernel("add_up");
    p.queue.submit([&](sycl::handler &h) {
        h.set_args(sycl::accessor(of_data, h, sycl::write_only, sycl::no_init));
        h.parallel_for(sycl::nd_range<1>(n, group), ones);
    }).wait();
    bool right = true;
    auto begin = Clock::now();
    for (int step = 0; step < steps; ++step) {
        sycl::queue queue = queue_of_step();
        queue.submit([&](sycl::handler &h) {
            sycl::accessor read(of_data, h, sycl::read_only);
            sycl::accessor written(of_total, h, sycl::write_only, sycl::no_init);
            h.set_args(read, written, sycl::local_accessor<int>(group, h), n);
            h.parallel_for(sycl::nd_range<1>(group, group), add_up);
        });
        queue.wait();
        right &= sycl::host_accessor(of_total)[0] == n;
    }
    double taken = since(begin);
    return right ? taken : -1;
}

static double step_through(Programs &p, int n, int steps, bool once) {
    std::vector<int> a(n, 10), b(n, 20), c(n);
    sycl::kernel part = p.kernel("part");
    auto begin = Clock::now();
    {
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
    }
    double taken = since(begin);
    return a[0] == 10 - steps && b[0] == 20 + steps ? taken : -1;
}

static constexpr int device_steps = 20;

static double buffer_turns(Programs &p, int n, int steps, int stride) {
    sycl::buffer<float> data{sycl::range<1>(n)};
    sycl::kernel advance = p.kernel("advance_accessor");
    auto begin = Clock::now();
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
    double taken = since(begin);
    return sycl::host_accessor(data)[0] == 1 + steps * (device_steps + 1) ? taken : -1;
}

static double pointer_turns(Programs &p, int n, int steps, int stride, bool shared) {
    float *data = shared ? sycl::malloc_shared<float>(n, p.queue) : sycl::malloc_device<float>(n, p.queue);
    std::vector<float> memory(shared ? 0 : n);
    float *host = shared ? data : memory.data();
    sycl::kernel advance = p.kernel("advance_pointer");
    auto begin = Clock::now();
    std::fill_n(host, n, 1.0f);
    for (int step = 0; step < steps; ++step) {
        if (!shared)
            p.queue.memcpy(data, host, sizeof(float) * n);
        p.queue.submit([&](sycl::handler &h) {
            h.set_args(data, device_steps);
            h.parallel_for(sycl::nd_range<1>(n, 256), advance);
        });
        if (!shared)
            p.queue.memcpy(host, data, sizeof(float) * n);
        p.queue.wait();
        for (int i = 0; i < n; i += stride)
            host[i] += 1.0f;
    }
    double taken = since(begin);
    bool right = host[0] == 1 + steps * (device_steps + 1);
    sycl::free(data, p.queue);
    return right ? taken : -1;
}

extern "C" {

Programs *prepare(const sycl::queue *queue) {
    sycl::queue own{queue->get_device(), sycl::property::queue::in_order{}};
    return new Programs{queue->get_device(), own, built(own)};
}

double queue_each_step(Programs *p, int n, int steps, int) {
    return add_in_steps(*p, n, steps, [&] { return sycl::queue{p->device}; });
}

double queue_each_step_shared_context(Programs *p, int n, int steps, int) {
    return add_in_steps(*p, n, steps, [&] { return sycl::queue{p->queue.get_context(), p->device}; });
}

double one_queue(Programs *p, int n, int steps, int) {
    return add_in_steps(*p, n, steps, [&] { return p->queue; });
}

double buffer_every_step(Programs *p, int n, int steps, int) { return step_through(*p, n, steps, false); }

double buffer_once(Programs *p, int n, int steps, int) { return step_through(*p, n, steps, true); }

double buffer_by_reference(Programs *p, int n, int steps, int stride) { return buffer_turns(*p, n, steps, stride); }

double shared_memory(Programs *p, int n, int steps, int stride) { return pointer_turns(*p, n, steps, stride, true); }

double device_memory(Programs *p, int n, int steps, int stride) { return pointer_turns(*p, n, steps, stride, false); }
}
