# Builds for arm64 on another machine, with Debian's cross compiler and the arm64 packages of the libraries beside its own:
#
#   cmake -S . -B build/arm64 --toolchain cmake/aarch64-linux-gnu.cmake
#
# Programs of the build are run by qemu-user, so ctest works.  `make arm64` does it all.  -DCMAKE_C_COMPILER=clang-14 works, too.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

if(NOT CMAKE_C_COMPILER)
  set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
endif()
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu) # for clang, which is one program for all processors

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
