#ifndef THCUNN_EMULATION_OBSERVER_H
#define THCUNN_EMULATION_OBSERVER_H

#include <stddef.h>

/* Functions of emulation/traffic.cpp, a library that a process preloads in place of ThreadSanitizer to count the memory
   traffic of kernels. The instrumented emulation (-fsanitize=thread) calls them; in other processes they are null. The
   instrumentation itself calls __tsan_read4 and its companions at each access to memory. */

extern "C" {
#pragma GCC visibility push(default)
__attribute__((weak)) void trafficBeginLaunch();
__attribute__((weak)) void trafficEndBlock();
__attribute__((weak)) void trafficEndLaunch();
/* This thread of the block runs from now on. */
__attribute__((weak)) void trafficSetThread(int thread);
/* Device memory that is not an argument of the call. */
__attribute__((weak)) void trafficAddScratch(const void *memory, size_t size);
/* A launch that writes `size` bytes. */
__attribute__((weak)) void trafficFill(void *memory, size_t size);
#pragma GCC visibility pop
}

#endif
