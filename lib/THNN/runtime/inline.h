#ifndef THNN_RUNTIME_INLINE_H
#define THNN_RUNTIME_INLINE_H

/* For functions whose loops the compiler specializes for constant arguments: static ALWAYS_INLINE void f(...). */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#endif
