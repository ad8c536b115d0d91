#include "programs.hpp"

// Results of blocks of 16 cubed, as of `benchmarks/common/spectral_element.py`.
static const char *kernels = KERNELS(R"(
static float product(const float *dx, const float *u, unsigned n) {
    unsigned k = n % 16, j = n / 16 % 16, i = n / 256 % 16, block = n / 4096 * 4096;
    float ur = 0, us = 0, ut = 0;
    for (unsigned m = 0; m < 16; ++m) {
        ur += dx[i * 16 + m] * u[block + m * 256 + j * 16 + k];
        us += dx[k * 16 + m] * u[block + i * 256 + m * 16 + k];
        ut += dx[j * 16 + m] * u[block + i * 256 + j * 16 + m];
    }
    return ur * us * ut;
}

KERNEL compute_each(float *dx, float *u, float *w) {
    unsigned n = get_nd_item<1>().get_global_id(0);
    w[n] = product(dx, u, n);
}

KERNEL add_each(float *dx, float *u, float *w) {
    unsigned n = get_nd_item<1>().get_global_id(0);
    w[n] += product(dx, u, n);
}

KERNEL compute_in_memory(float *dx, float *u, float *w, float *ur, float *us, float *ut) {
    unsigned n = get_nd_item<1>().get_global_id(0);
    unsigned k = n % 16, j = n / 16 % 16, i = n / 256 % 16, block = n / 4096 * 4096;
    ur[n] = us[n] = ut[n] = 0;
    for (unsigned m = 0; m < 16; ++m) {
        ur[n] += dx[i * 16 + m] * u[block + m * 256 + j * 16 + k];
        us[n] += dx[k * 16 + m] * u[block + i * 256 + m * 16 + k];
        ut[n] += dx[j * 16 + m] * u[block + i * 256 + j * 16 + m];
    }
    w[n] = ur[n] * us[n] * ut[n];
}
)");

// Arrays of both sides: dx, u and w. All numbers are 0.5, so that each sum is 4.
struct Fields {
    Programs &p;
    int sizes[3];
    std::vector<float> host[3];
    float *device[3];

    Fields(Programs &p, int blocks) : p(p), sizes{256, blocks * 4096, blocks * 4096} {
        for (int at = 0; at < 3; ++at) {
            host[at].assign(sizes[at], 0.5f);
            device[at] = sycl::malloc_device<float>(sizes[at], p.queue);
        }
    }
    ~Fields() {
        for (auto array : device)
            sycl::free(array, p.queue);
    }
    int items() const { return sizes[2]; }
    void in(int at) { p.queue.memcpy(device[at], host[at].data(), sizeof(float) * sizes[at]); }
    void out(int at) { p.queue.memcpy(host[at].data(), device[at], sizeof(float) * sizes[at]); }
    void compute(const char *name) {
        sycl::kernel kernel = p.kernel(name);
        launch(p.queue, kernel, items(), 64, device[0], device[1], device[2]);
    }
    double checked(double taken, int times) const { return host[2].back() == 64.0f * times ? taken : -1; }
};

enum class Work { copied, allocated, once };

static double with_work_arrays(Programs &p, int blocks, Work work) {
    Fields fields(p, blocks);
    sycl::kernel kernel = p.kernel("compute_in_memory");
    std::vector<float> zeros(fields.items());
    float *arrays[3];
    auto allocate = [&] {
        for (auto &array : arrays)
            array = sycl::malloc_device<float>(fields.items(), p.queue);
    };
    auto free = [&] {
        for (auto array : arrays)
            sycl::free(array, p.queue);
    };
    if (work == Work::once)
        allocate();
    double taken = timed([&] {
        fields.in(0);
        fields.in(1);
        if (work != Work::once)
            allocate();
        if (work == Work::copied)
            for (auto array : arrays)
                p.queue.memcpy(array, zeros.data(), sizeof(float) * zeros.size());
        launch(p.queue, kernel, fields.items(), 64, fields.device[0], fields.device[1], fields.device[2], arrays[0], arrays[1],
               arrays[2]);
        fields.out(2);
        p.queue.wait();
        if (work != Work::once)
            free();
    });
    if (work == Work::once)
        free();
    return fields.checked(taken, 1);
}

static double several(Programs &p, int blocks, int kernels, bool one_scope) {
    Fields fields(p, blocks);
    double taken = timed([&] {
        for (int number = 0; number < kernels; ++number) {
            if (!one_scope || number == 0) {
                fields.in(0);
                fields.in(1);
                if (number)
                    fields.in(2);
            }
            fields.compute(number ? "add_each" : "compute_each");
            if (!one_scope || number == kernels - 1)
                fields.out(2);
        }
        p.queue.wait();
    });
    return fields.checked(taken, kernels);
}

static double in_directions(Programs &p, int blocks, bool all) {
    Fields fields(p, blocks);
    double taken = timed([&] {
        for (int at = 0; at < (all ? 3 : 2); ++at)
            fields.in(at);
        fields.compute("compute_each");
        for (int at = all ? 0 : 2; at < 3; ++at)
            fields.out(at);
        p.queue.wait();
    });
    return fields.checked(taken, 1);
}

extern "C" {

Programs *prepare(const sycl::queue *queue) { return prepared(queue, kernels); }

double work_arrays_copied(Programs *p, int blocks, int, int) { return with_work_arrays(*p, blocks, Work::copied); }

double work_arrays_allocated(Programs *p, int blocks, int, int) { return with_work_arrays(*p, blocks, Work::allocated); }

double work_arrays_allocated_once(Programs *p, int blocks, int, int) { return with_work_arrays(*p, blocks, Work::once); }

double resident_data_scope_for_each(Programs *p, int blocks, int kernels, int) { return several(*p, blocks, kernels, false); }

double resident_data_one_scope(Programs *p, int blocks, int kernels, int) { return several(*p, blocks, kernels, true); }

double copy_directions_both_ways(Programs *p, int blocks, int, int) { return in_directions(*p, blocks, true); }

double copy_directions_needed_ways(Programs *p, int blocks, int, int) { return in_directions(*p, blocks, false); }
}
