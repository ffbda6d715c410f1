#ifndef THNN_RUNTIME_WINOGRAD_H
#define THNN_RUNTIME_WINOGRAD_H

#include <stdbool.h>

/* False if the environment variable THNN_WINOGRAD is 0: no convolution is then computed by Winograd's method. */
bool thnn_winogradEnabled(void);

/* The message for an invalid THNN_WINOGRAD, or NULL. */
const char *thnn_winogradError(void);

#endif
