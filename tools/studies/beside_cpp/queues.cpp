#include "programs.hpp"

#include <functional>

static const char *kernels = KERNELS(R"(
KERNEL count_launch(int *count) { count[0] += 1; }

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

KERNEL add_rows(sycl::accessor<int> a, sycl::accessor<int> b, sycl::accessor<int> totals, int n, int row, int work) {
    int lane = get_nd_item<1>().get_local_id(0);
    totals[row * 256 + lane] = 0;
    for (int again = 0; again < work; ++again)
        for (int k = lane; k < n; k += 256)
            totals[row * 256 + lane] += a[k] + b[k];
}
)");

static double launches(Programs &p, int count, bool wait_for_each) {
    sycl::kernel kernel = p.kernel("count_launch");
    int *counter = sycl::malloc_device<int>(1, p.queue), found = 0;
    p.queue.fill(counter, 0, 1).wait();
    double taken = timed([&] {
        for (int at = 0; at < count; ++at) {
            sycl::event event = launch(p.queue, kernel, 1, 1, counter);
            if (wait_for_each)
                event.wait();
        }
        p.queue.wait();
    });
    p.queue.memcpy(&found, counter, sizeof(int)).wait();
    sycl::free(counter, p.queue);
    return found == 2 * count ? taken : -1;
}

static double add_in_steps(Programs &p, int n, int steps, const std::function<sycl::queue()> &queue_of_step) {
    constexpr int group = 512;
    std::vector<int> data(n, 1);
    int total = 0;
    bool right = true;
    sycl::buffer<int> of_data(data.data(), n, {sycl::property::buffer::use_host_ptr()});
    sycl::buffer<int> of_total(&total, 1, {sycl::property::buffer::use_host_ptr()});
    sycl::kernel kernel = p.kernel("add_up");
    double taken = timed([&] {
        for (int step = 0; step < steps; ++step) {
            sycl::queue queue = queue_of_step();
            queue.submit([&](sycl::handler &h) {
                sycl::accessor read(of_data, h, sycl::read_only);
                sycl::accessor written(of_total, h, sycl::write_only, sycl::no_init);
                h.set_args(read, written, sycl::local_accessor<int>(group, h), n);
                h.parallel_for(sycl::nd_range<1>(group, group), kernel);
            });
            queue.wait();
            right &= sycl::host_accessor(of_total)[0] == n;
        }
    });
    return right ? taken : -1;
}

// the guide's inputs are buffers; those of our variants are copied to each context
static double add_on(Programs &p, int n, int rounds, int work, std::vector<sycl::queue> queues) {
    constexpr int group = 256;
    sycl::kernel kernel = p.kernel("add_rows");
    std::vector<int> a(n, 1), b(n, 2);
    std::vector<std::vector<int>> totals(queues.size(), std::vector<int>(rounds * group));
    double taken = timed([&] {
        sycl::buffer<int> of_a(a.data(), n), of_b(b.data(), n);
        std::vector<sycl::buffer<int>> of_totals;
        for (auto &each : totals)
            of_totals.emplace_back(each.data(), each.size());
        for (int row = 0; row < rounds; ++row)
            for (std::size_t at = 0; at < queues.size(); ++at)
                queues[at].submit([&](sycl::handler &h) {
                    sycl::accessor read_a(of_a, h, sycl::read_only), read_b(of_b, h, sycl::read_only);
                    h.set_args(read_a, read_b, sycl::accessor(of_totals[at], h), n, row, work);
                    h.parallel_for(sycl::nd_range<1>(group, group), kernel);
                });
    });
    return totals.back().back() == 3 * work * (n / group) ? taken : -1;
}

extern "C" {

Programs *prepare(const sycl::queue *queue) { return prepared(queue, kernels); }

double kernel_launch_latency_wait_for_each(Programs *p, int count, int, int) { return launches(*p, count, true); }

double kernel_launch_latency_wait_once(Programs *p, int count, int, int) { return launches(*p, count, false); }

double redundant_queue_construction_queue_each_step(Programs *p, int n, int steps, int) {
    return add_in_steps(*p, n, steps, [&] { return sycl::queue{p->device}; });
}

double redundant_queue_construction_queue_each_step_shared_context(Programs *p, int n, int steps, int) {
    return add_in_steps(*p, n, steps, [&] { return sycl::queue{p->queue.get_context(), p->device}; });
}

double redundant_queue_construction_one_queue(Programs *p, int n, int steps, int) {
    return add_in_steps(*p, n, steps, [&] { return p->queue; });
}

double multiple_queues_default_queues(Programs *p, int n, int rounds, int work) {
    return add_on(*p, n, rounds, work, {sycl::queue{p->device}, sycl::queue{p->device}, sycl::queue{p->device}});
}

double multiple_queues_one_queue(Programs *p, int n, int rounds, int work) {
    sycl::queue queue{p->device};
    return add_on(*p, n, rounds, work, {queue, queue, queue});
}
}
