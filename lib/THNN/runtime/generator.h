#ifndef THNN_RUNTIME_GENERATOR_H
#define THNN_RUNTIME_GENERATOR_H

#include "state.h"

/* The caller's random number generator, as a call sees it: `seed` is the one number that the call takes from it,
   negative until the caller has drawn it. */
typedef struct THGenerator {
  int64_t seed;
} THGenerator;

/* Used after all checks of a kernel: returns from it with THNN_DRAW until the seed is drawn. */
#define THNN_REQUIRE_SEED(generator)                                    \
  do {                                                                  \
    THNN_CHECK((generator) != NULL, generator, "expected a generator"); \
    if ((generator)->seed < 0) {                                        \
      (state)->status = THNN_DRAW;                                      \
      return;                                                           \
    }                                                                   \
  } while (0)

#endif
