/* The most that one core can do: independent multiplications and additions in registers, of the widest vectors. */
#ifndef BENCH_FMA_H
#define BENCH_FMA_H

/* GFLOP/s of one core, the fastest of several tries. */
double fma_peak_gflops(void);

#endif
