#ifndef THNN_RUNTIME_ALGORITHM_H
#define THNN_RUNTIME_ALGORITHM_H

/* The algorithms that a core has chosen, for thnn.profile. */

/* Records an algorithm that the calling thread runs: a string constant. */
void thnn_useAlgorithm(const char *name);

/* The recorded algorithms of the calling thread, each once and separated by commas, which this call forgets; valid until
   the next call. */
const char *THNN_takeAlgorithms(void);

#endif
