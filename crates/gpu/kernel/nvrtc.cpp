// Makes PTX of a kernel with NVRTC: `nvrtc LIBRARY SOURCE FOLDER ARCHITECTURE` writes it to the output. Only `cargo xtask gpu-ptx`
// uses it.

#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>

typedef struct Program* Handle;

template <class Function> static Function load(void* library, const char* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
}

int main(int n_arguments, char** arguments) {
    if (n_arguments != 5) return 2;
    void* library = dlopen(arguments[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    auto create = load<int (*)(Handle*, const char*, const char*, int, const char* const*, const char* const*)>(
        library, "nvrtcCreateProgram");
    auto compile = load<int (*)(Handle, int, const char* const*)>(library, "nvrtcCompileProgram");
    auto size = load<int (*)(Handle, size_t*)>(library, "nvrtcGetPTXSize");
    auto ptx = load<int (*)(Handle, char*)>(library, "nvrtcGetPTX");
    auto log_size = load<int (*)(Handle, size_t*)>(library, "nvrtcGetProgramLogSize");
    auto log = load<int (*)(Handle, char*)>(library, "nvrtcGetProgramLog");
    std::ifstream file(arguments[2]);
    std::stringstream text;
    text << file.rdbuf();
    Handle program;
    if (create(&program, text.str().c_str(), "kernels", 0, nullptr, nullptr) != 0) return 1;
    std::string folder = std::string("-I") + arguments[3], target = std::string("-arch=") + arguments[4];
    const char* options[] = {folder.c_str(), target.c_str(), "-std=c++17", "-default-device"};
    int error = compile(program, 4, options);
    size_t n;
    log_size(program, &n);
    std::string said(n, ' ');
    log(program, &said[0]);
    fprintf(stderr, "%s", said.c_str());
    if (error != 0) return 1;
    size(program, &n);
    std::string made(n, ' ');
    ptx(program, &made[0]);
    fwrite(made.data(), 1, n - 1, stdout);
    return 0;
}
