#ifndef THNN_RUNTIME_ARENA_H
#define THNN_RUNTIME_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Cuts one block of scratch memory into arrays. If `memory` is NULL, arenaTake only adds up sizes: a function that
   takes all arrays of a kernel runs once to find the size of the block, and once more to lay the arrays out in it. */
typedef struct ScratchArena {
  char *memory;
  int64_t bytes; /* taken so far */
} ScratchArena;

/* `count` is a double because the product of extreme sizes exceeds 64 bits; the size of an array saturates at 1e12. */
static inline void *arenaTake(ScratchArena *arena, double count, size_t size)
{
  char *array = arena->memory ? arena->memory + arena->bytes : NULL;
  double bytes = count * (double)size + 64;
  arena->bytes += bytes < 1e12 ? (int64_t)bytes / 64 * 64 : (int64_t)1e12;
  return array;
}

#endif
