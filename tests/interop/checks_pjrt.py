"""Programs on real PJRT plugins: JAX's CPU plugins of two ages, and libtpu ahead of time, without a TPU."""
from harness import HERE

OLD = ("xla-cpu-pjrt", "0.0.1", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so")  # API 0.81
NEW = ("lammps-jax-pjrt-cpu", "0.11.2", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so")  # API 0.115


def on_both(programs, check):
    for plugin in (OLD, NEW):
        programs.in_peers(HERE / "pjrt_peer.py", check, programs.built("plugin_run"), programs.plugin(*plugin))


def check_programs_on_cpu_plugins_give_the_values_of_numpy(programs):
    on_both(programs, "values")


def check_donated_arguments_are_gone_and_kept_ones_are_not(programs):
    on_both(programs, "donation")


def check_a_thousand_executions_in_flight_two_threads_and_a_second_device(programs):
    on_both(programs, "many")


def check_errors_of_cpu_plugins_reach_the_caller_in_their_own_words(programs):
    on_both(programs, "errors")


def check_optimised_programs_of_cpu_plugins_keep_the_names_of_scopes(programs):
    on_both(programs, "optimized")


def check_libtpu_compiles_ahead_of_time_and_keeps_the_names_of_scopes(programs):
    libtpu = programs.plugin("libtpu", "0.0.52", "libtpu/libtpu.so")
    programs.in_peers(HERE / "pjrt_peer.py", "ahead", programs.built("plugin_run"), libtpu, "v5e:2x2x1", "4")
