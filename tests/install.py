#!/usr/bin/env python3
"""Install what a build folder holds into a new prefix, and use it as a stranger would: a C program by pkg-config, a C++
program by CMake's find_package with the shared and with the static library, and Python.

    install.py BUILD_FOLDER

Each program records one trace, saves it, and prints the path; the installed xlaprof must find the trace there.  Then the
same with lazy tensors, whose programs must find their work on the embedded device in the capture, too.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = r"""
#include <stdio.h>
#include <xlaprof/xlaprof.h>

int main(int argc, char **argv)
{
  xp_error err;
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.logdir = argc > 1 ? argv[1] : ".";
  if (xp_session_start(&options, &err) != XP_OK) {
    puts(err.text);
    return 1;
  }
  XP_STEP("installed_step", 7) {
    XP_TRACE("installed_trace", XP_INT("number", 42)) {
    }
  }
  if (xp_session_save(NULL, NULL, &err) != XP_OK) {
    puts(err.text);
    return 1;
  }
  return 0;
}
"""

LAZY = r"""
#include <stdio.h>
#include <xlaprof/lazy.h>
#include <xlaprof/session.h>

int main(int argc, char **argv)
{
  xp_error err = {XP_OK, ""};
  double value = 0;
  const float values[] = {1, 2, 3};
  xp_session_options options = XP_SESSION_OPTIONS_INIT;
  options.logdir = argc > 1 ? argv[1] : ".";
  xl_set_ir_debug(true);
  xl_tensor x = xl_from_host(XL_F32, XL_SHAPE(3), values);
  if (xp_session_start(&options, &err) == XP_OK) {
    XP_STEP("installed_step", 7) {
      XP_TRACE("installed_trace", XP_INT("number", 42)) {
        x = xl_mul(x, x);
      }
    }
    if (xl_item(xl_sum(x), &value, &err) == XP_OK) {
      xp_session_save(NULL, NULL, &err);
    }
  }
  puts(err.text);
  xl_shutdown();
  return err.status == XP_OK && value == 14 ? 0 : 1;
}
"""

LAZY_ALONE = r"""
#include <xlaprof/lazy.h>

int main(void)
{
  double value = 0;
  const float values[] = {1, 2, 3};
  xl_tensor x = xl_from_host(XL_F32, XL_SHAPE(3), values);
  const bool is_read = xl_item(xl_sum(xl_mul(x, x)), &value, NULL) == XP_OK;
  xl_shutdown();
  return is_read && value == 14 ? 0 : 1;
}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(stranger LANGUAGES CXX)
find_package(xlaprof 0.1 REQUIRED)
add_executable(shared main.cpp)
target_link_libraries(shared PRIVATE xlaprof::xlaprof)
add_executable(static main.cpp)
target_link_libraries(static PRIVATE xlaprof::static)
add_executable(lazy_shared lazy.cpp)
target_link_libraries(lazy_shared PRIVATE xlaprof::xlalazy)
add_executable(lazy_static lazy.cpp)
target_link_libraries(lazy_static PRIVATE xlaprof::xlalazy_static)
"""

PYTHON = """
import sys
import xlaprof
xlaprof.start_trace(sys.argv[1])
with xlaprof.StepTrace("installed_step", step_num=7):
    with xlaprof.Trace("installed_trace", number=42):
        pass
xlaprof.stop_trace()
"""


def run(*command, **more):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit("%s: exit status %d\n%s%s" % (" ".join(map(str, command)), result.returncode, result.stdout, result.stderr))
    return result.stdout


def check_capture(prefix, logdir, who):
    events = run(prefix / "bin" / "xlaprof", "events", logdir)
    if "installed_step  _r=1 step_num=7" not in events or "installed_trace  number=42" not in events:
        sys.exit("%s: the capture lacks the trace:\n%s" % (who, events))
    print("%s: ok" % who)


def check_device(prefix, logdir, who):
    """The work of a program that used the embedded device, under the name of its trace."""
    check_capture(prefix, logdir, who)
    names = run(prefix / "bin" / "xlaprof", "ops", logdir, "--by", "scope", "--csv")
    if "installed_trace" not in names:
        sys.exit("%s: the device's work has not the name of the trace:\n%s" % (who, names))


def use_pkg_config(folder, prefix, environment):
    for package, source, check in ("xlaprof", SOURCE, check_capture), ("xlalazy", LAZY, check_device):
        program, logdir = folder / package, folder / ("log_c_" + package)
        program.with_suffix(".c").write_text(source)
        for kind, options in ("", []), ("_static", ["--static"]):
            flags = run("pkg-config", "--cflags", "--libs", *options, package, env=environment).split()
            if options: # the archives of the package alone; what they need comes from the machine
                flags = [archive_of(prefix, flag) for flag in flags]
            run("cc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror", "-o", program,
                program.with_suffix(".c"), *flags)
            run(program, str(logdir) + kind, env=environment if not options else os.environ)
            check(prefix, str(logdir) + kind, "C by pkg-config, %s%s" % (package, kind.replace("_", " ")))


def use_rpath(folder, prefix, environment):
    """A program that names libxlalazy alone, and finds what that needs by its own path alone."""
    program = folder / "lazy_alone"
    program.with_suffix(".c").write_text(LAZY_ALONE)
    flags = run("pkg-config", "--cflags", "--libs", "xlalazy", env=environment).split()
    library = next(flag[2:] for flag in flags if flag.startswith("-L"))
    run("cc", "-std=c11", "-o", program, program.with_suffix(".c"), "-Wl,--as-needed", *flags, "-Wl,-rpath," + library)
    run(program, env={k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"})
    print("C by a path in the program, xlalazy alone: ok")


def archive_of(prefix, flag):
    """-lxlalazy as the path of its archive; other flags as they are."""
    return next(map(str, prefix.glob("lib*/**/lib%s.a" % flag[2:])), flag) if flag.startswith("-lx") else flag


def use_cmake(folder, prefix, environment):
    (folder / "main.cpp").write_text(SOURCE)
    (folder / "lazy.cpp").write_text(LAZY)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    run("cmake", "-S", folder, "-B", folder / "build", "-DCMAKE_PREFIX_PATH=%s" % prefix,
        "-DCMAKE_CXX_FLAGS=-std=c++17 -Wall -Wextra -Werror")
    run("cmake", "--build", folder / "build")
    for kind, check in (("shared", check_capture), ("static", check_capture), ("lazy_shared", check_device),
                        ("lazy_static", check_device)):
        run(folder / "build" / kind, folder / ("log_" + kind), env=environment)
        check(prefix, folder / ("log_" + kind), "C++ by CMake, %s" % kind)


def use_python(folder, prefix):
    (folder / "use.py").write_text(PYTHON)
    environment = dict(os.environ, PYTHONPATH=str(prefix / "share" / "xlaprof"))
    environment.pop("XLAPROF_LIBRARY", None)
    run(sys.executable, folder / "use.py", folder / "log_python", env=environment)
    check_capture(prefix, folder / "log_python", "Python")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="xlaprof-install-") as name:
        folder = pathlib.Path(name)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", prefix)
        library = next(prefix.glob("lib*/**/libxlaprof.so")).parent
        pc = library / "pkgconfig" / "xlaprof.pc"
        environment = dict(os.environ, LD_LIBRARY_PATH=str(library), PKG_CONFIG_PATH=str(pc.parent))
        if shutil.which("pkg-config"):
            use_pkg_config(folder, prefix, environment)
            use_rpath(folder, prefix, environment)
        else:
            sys.exit("pkg-config is missing: install the Debian package pkg-config")
        use_cmake(folder, prefix, environment)
        use_python(folder, prefix)


if __name__ == "__main__":
    main()
