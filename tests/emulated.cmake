# Tests that are left out where an emulator runs them, each with the reason.  ctest lists them as disabled.  Single cases
# are left out by skip_if_emulated of unit/testing.h.

function(xp_not_emulated reason)
  list(JOIN ARGN " " names)
  message(STATUS "Not run under the emulator: ${names}: ${reason}")
  set_tests_properties(${ARGN} PROPERTIES DISABLED ON)
endfunction()

xp_not_emulated("Python of this machine cannot load a library for another processor"
                python python_misuse lazy_ops lazy_programs
                lazy_gradient_programs)
xp_not_emulated("they compile and run programs with this machine's compiler" headers install)
xp_not_emulated("they see no file of this build" scenarios_generator palette layers dist)
if(NODE)
  xp_not_emulated("they see no file of this build" page_modules)
endif()
xp_not_emulated("minutes each, of what the processor does not change: failing allocations, widths of lines"
                test_lazy_memory cli_widths)
xp_not_emulated("they hold times of the host and of the device against each other, which it slows down differently"
                truth cli_demos)
xp_not_emulated("eight and four minutes" fuzz_view_replay fuzz_analyze_replay)
