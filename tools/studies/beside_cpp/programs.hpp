// What the programs in C++ share. A program gives the nanoseconds of the region that our variant of the same name
// measures, or -1 for wrong results. It runs twice, so that no first touch of memory is in the time.
#pragma once
#define SYCL_DISABLE_FSYCL_SYCLHPP_WARNING // the runtime compiles the kernels
#include <sycl/sycl.hpp>

#include <chrono>
#include <string>
#include <vector>

#define KERNELS(...) \
    "#include <sycl/sycl.hpp>\n" \
    "namespace ex = sycl::ext::oneapi::experimental;\n" \
    "using sycl::ext::oneapi::this_work_item::get_nd_item;\n" \
    "#define KERNEL extern \"C\" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::nd_range_kernel<1>)) void\n" __VA_ARGS__

struct Programs {
    sycl::device device;
    sycl::queue queue;
    sycl::kernel_bundle<sycl::bundle_state::executable> bundle;
    sycl::kernel kernel(const char *name) { return bundle.ext_oneapi_get_kernel(name); }
};

inline Programs *prepared(const sycl::queue *given, const char *kernels) {
    namespace ex = sycl::ext::oneapi::experimental;
    sycl::queue queue{given->get_device(), sycl::property::queue::in_order{}};
    auto source = ex::create_kernel_bundle_from_source(queue.get_context(), ex::source_language::sycl, std::string(kernels));
    return new Programs{given->get_device(), queue, ex::build(source)};
}

template <typename... Arguments>
sycl::event launch(sycl::queue &queue, sycl::kernel &kernel, int items, int group, const Arguments &...arguments) {
    return queue.submit([&](sycl::handler &h) {
        h.set_args(arguments...);
        h.parallel_for(sycl::nd_range<1>(items, items < group ? items : group), kernel);
    });
}

template <typename Body> double timed(const Body &body) {
    body();
    auto begin = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}
