// Classes of SYCL for Python, on queues and kernels of dpctl: buffers, accessors, streams, and the compiler of SYCL C++
// that is a library of the runtime. The runtime's errors become texts here, as none may pass through C. A submission has
// the signature of dpctl's own, but for pointers, which are accessors.
#include <sycl/accessor.hpp>
#include <sycl/buffer.hpp>
#include <sycl/handler.hpp>
#include <sycl/kernel.hpp>
#include <sycl/kernel_bundle.hpp>
#include <sycl/queue.hpp>
#include <sycl/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Byte = std::uint8_t;
using Buffer = sycl::buffer<Byte>;
using Mode = sycl::access_mode;

thread_local std::string error;

template <typename Call> auto caught(Call call) -> decltype(call()) {
    try {
        error.clear();
        return call();
    } catch (std::exception &thrown) {
        error = thrown.what();
    } catch (...) {
        error = "an error that is no std::exception";
    }
    return nullptr;
}

// calls a function with the access mode as a constant of the type
template <typename Call> auto with_mode(int mode, Call call) {
    switch (mode) {
    case 0: return call(std::integral_constant<Mode, Mode::read>{});
    case 1: return call(std::integral_constant<Mode, Mode::write>{});
    default: return call(std::integral_constant<Mode, Mode::read_write>{});
    }
}

sycl::property_list properties(int no_init) {
    return no_init ? sycl::property_list{sycl::no_init} : sycl::property_list{};
}

// an accessor that a launch asks for; Python's side is `Request` in buffer.py
struct Request {
    Buffer *buffer;
    std::int32_t mode, no_init;
};

struct LocalLayout { // of dpctl
    std::size_t dimensions;
    std::int32_t type;
    std::size_t extents[3];
};

struct HostAccess {
    virtual ~HostAccess() = default;
    virtual void *pointer() = 0;
    virtual void add(float value, std::size_t step) = 0;
};

template <typename Element, Mode mode> struct HostAccessOf : HostAccess {
    sycl::host_accessor<Element, 1, mode> accessor;
    HostAccessOf(sycl::buffer<Element> buffer, int no_init) : accessor(buffer, properties(no_init)) {}
    void *pointer() override { return const_cast<Byte *>(reinterpret_cast<const Byte *>(&accessor[0])); }
    void add([[maybe_unused]] float value, [[maybe_unused]] std::size_t step) override {
        if constexpr (mode != Mode::read)
            for (std::size_t i = 0, size = accessor.size(); i < size; i += step) // asked for once, as in the guide
                accessor[i] += value;
    }
};

struct StreamLayout { // Python's side is in native_handles.py
    std::size_t bytes, statement_bytes;
};

// A kernel takes a stream as its members, which only the runtime may name; an explicit instantiation may, too.
using Characters = sycl::detail::GlobalBufAccessorT;
using Offset = sycl::detail::GlobalOffsetAccessorT;
struct Text {
    friend Characters &member(Text, sycl::stream &);
};
struct TextOffset {
    friend Offset &member(TextOffset, sycl::stream &);
};
struct Statements {
    friend Characters &member(Statements, sycl::stream &);
};
template <typename Which, typename Member, Member sycl::stream::*pointer> struct Named {
    friend Member &member(Which, sycl::stream &stream) { return stream.*pointer; }
};
template struct Named<Text, Characters, &sycl::stream::GlobalBuf>;
template struct Named<TextOffset, Offset, &sycl::stream::GlobalOffset>;
template struct Named<Statements, Characters, &sycl::stream::GlobalFlushBuf>;

template <typename Accessor> void set_accessor(sycl::handler &handler, int at, Accessor &accessor, std::size_t size) {
    std::size_t offset = accessor.get_offset()[0];
    handler.set_arg(at + 1, size); // of the accessor, and of the memory, which one dimension does not need
    handler.set_arg(at + 2, size);
    handler.set_arg(at + 3, offset);
    handler.set_arg(at, accessor);
}

// the thirteen arguments of a stream, in which each work-item has a part for a statement
void set_stream(sycl::handler &handler, int at, const StreamLayout &layout, std::size_t items) {
    sycl::stream stream(layout.bytes, layout.statement_bytes, handler);
    std::size_t part = layout.statement_bytes + sycl::detail::FLUSH_BUF_OFFSET_SIZE;
    set_accessor(handler, at, member(Text{}, stream), layout.bytes);
    set_accessor(handler, at + 4, member(TextOffset{}, stream), 1);
    set_accessor(handler, at + 8, member(Statements{}, stream), part * items);
    handler.set_arg(at + 12, part);
}

constexpr std::size_t type_bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8}; // of dpctl's codes

void set_argument(sycl::handler &handler, int at, void *value, std::int32_t code, std::size_t items) {
    switch (code) {
    case 0: case 1: return handler.set_arg(at, *static_cast<std::uint8_t *>(value));
    case 2: case 3: return handler.set_arg(at, *static_cast<std::uint16_t *>(value));
    case 4: case 5: return handler.set_arg(at, *static_cast<std::uint32_t *>(value));
    case 6: case 7: return handler.set_arg(at, *static_cast<std::uint64_t *>(value));
    case 8: return handler.set_arg(at, *static_cast<float *>(value));
    case 9: return handler.set_arg(at, *static_cast<double *>(value));
    case 10: {
        auto *request = static_cast<Request *>(value);
        return with_mode(request->mode, [&](auto mode) {
            handler.set_arg(at, sycl::accessor<Byte, 1, mode.value>(*request->buffer, handler, properties(request->no_init)));
        });
    }
    case 12: return set_stream(handler, at, *static_cast<StreamLayout *>(value), items);
    case 13: return; // set with the stream
    default: {
        auto *layout = static_cast<LocalLayout *>(value);
        std::size_t bytes = type_bytes[layout->type] * layout->extents[0] * layout->extents[1] * layout->extents[2];
        return handler.set_arg(at, sycl::local_accessor<Byte, 1>(bytes, handler));
    }
    }
}

template <int dimensions> sycl::range<dimensions> range_of(const std::size_t *extents) {
    sycl::range<dimensions> range;
    for (int at = 0; at < dimensions; ++at)
        range[at] = extents[at];
    return range;
}

template <int dimensions>
void launch(sycl::handler &handler, sycl::kernel &kernel, const std::size_t *global, const std::size_t *local) {
    if (local)
        handler.parallel_for(sycl::nd_range<dimensions>(range_of<dimensions>(global), range_of<dimensions>(local)), kernel);
    else
        handler.parallel_for(range_of<dimensions>(global), kernel);
}

sycl::event *submit(sycl::kernel *kernel, sycl::queue *queue, void **values, const std::int32_t *codes, std::size_t count,
                    const std::size_t *global, const std::size_t *local, std::size_t dimensions, sycl::event **depends,
                    std::size_t depends_count) {
    return caught([&] {
        return new sycl::event(queue->submit([&](sycl::handler &handler) {
            for (std::size_t at = 0; at < depends_count; ++at)
                handler.depends_on(*depends[at]);
            std::size_t items = 1;
            for (std::size_t at = 0; at < dimensions; ++at)
                items *= global[at];
            for (std::size_t at = 0; at < count; ++at)
                set_argument(handler, static_cast<int>(at), values[at], codes[at], items);
            if (dimensions == 1)
                launch<1>(handler, *kernel, global, local);
            else if (dimensions == 2)
                launch<2>(handler, *kernel, global, local);
            else
                launch<3>(handler, *kernel, global, local);
        }));
    });
}

// a device whose driver takes SPIR-V, which is the same for all of them
sycl::device device_of_spirv() {
    namespace ex = sycl::ext::oneapi::experimental;
    for (auto &device : sycl::device::get_devices()) {
        bool takes = device.get_backend() == sycl::backend::opencl || device.get_backend() == sycl::backend::ext_oneapi_level_zero;
        if (takes && device.ext_oneapi_can_compile(ex::source_language::sycl))
            return device;
    }
    throw std::runtime_error("no device here has a compiler of SYCL C++");
}

std::vector<std::byte> compiled(const char *text, std::string entry_point, const char *options) {
    namespace ex = sycl::ext::oneapi::experimental;
    std::vector<std::string> each;
    std::istringstream lines(options);
    for (std::string line; std::getline(lines, line);)
        each.push_back(line);
    sycl::context context(device_of_spirv());
    auto source = ex::create_kernel_bundle_from_source(context, ex::source_language::sycl, std::string(text));
    auto built = ex::build(source, ex::properties{ex::build_options(each)});
    for (auto &image : built) { // kernels that require different things are in modules of their own
        auto module = image.ext_oneapi_get_backend_content();
        std::string_view characters(reinterpret_cast<const char *>(module.data()), module.size());
        if (characters.find(entry_point + '\0') != characters.npos)
            return module;
    }
    throw std::runtime_error("no module has the kernel: declare it extern \"C\", with the property nd_range_kernel");
}

} // namespace

extern "C" {

const char *last_error() { return error.c_str(); }

// over memory of the host, which is written back if it may be; of none where that is null
Buffer *new_buffer(std::size_t bytes, Byte *host, int writable) {
    return caught([&] {
        if (!host)
            return new Buffer(sycl::range<1>(bytes));
        if (writable)
            return new Buffer(host, sycl::range<1>(bytes));
        return new Buffer(static_cast<const Byte *>(host), sycl::range<1>(bytes));
    });
}

// waits for the kernels and writes back; gives its argument, or null after an error
Buffer *free_buffer(Buffer *buffer) {
    return caught([&] {
        delete buffer;
        return buffer;
    });
}

HostAccess *open_host_access(Buffer *buffer, int mode, int no_init, int of_floats) {
    return caught([&] {
        return with_mode(mode, [&](auto constant) -> HostAccess * {
            if (of_floats)
                return new HostAccessOf<float, constant.value>(buffer->reinterpret<float, 1>(sycl::range<1>(buffer->byte_size() / sizeof(float))), no_init);
            return new HostAccessOf<Byte, constant.value>(*buffer, no_init);
        });
    });
}

HostAccess *close_host_access(HostAccess *access) {
    return caught([&] {
        delete access;
        return access;
    });
}

void *pointer_of(HostAccess *access) {
    return caught([&] { return access->pointer(); });
}

void *add_through(HostAccess *access, float value, std::size_t step) {
    return caught([&]() -> void * {
        access->add(value, step);
        return access;
    });
}

// the SPIR-V of a kernel in SYCL C++, which stays until the next call of this thread; options are lines
const std::byte *compile_source(const char *text, const char *entry_point, const char *options, std::size_t *bytes) {
    thread_local std::vector<std::byte> module;
    return caught([&]() -> const std::byte * {
        module = compiled(text, entry_point, options);
        *bytes = module.size();
        return module.data();
    });
}

sycl::event *submit_range(sycl::kernel *kernel, sycl::queue *queue, void **values, const std::int32_t *codes,
                          std::size_t count, const std::size_t *global, std::size_t dimensions, sycl::event **depends,
                          std::size_t depends_count) {
    return submit(kernel, queue, values, codes, count, global, nullptr, dimensions, depends, depends_count);
}

sycl::event *submit_nd_range(sycl::kernel *kernel, sycl::queue *queue, void **values, const std::int32_t *codes,
                             std::size_t count, const std::size_t *global, const std::size_t *local,
                             std::size_t dimensions, sycl::event **depends, std::size_t depends_count) {
    return submit(kernel, queue, values, codes, count, global, local, dimensions, depends, depends_count);
}

}
