#include "runtime/dispatch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef THNN_X86_VARIANTS
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include "runtime/cpu_features.h"
#endif
#include "runtime/caches.h"
#include "runtime/winograd.h"

THNNCapability thnn_capability;

static const char *const names[] = {"default", "avx2", "avx512", "avx512_bf16", "amx_bf16"};
static char error[160];

static bool supported(THNNCapability capability)
{
#ifdef THNN_X86_VARIANTS
  if (capability == THNN_CAPABILITY_AVX2) return thnn_cpuHasAvx2();
  if (capability == THNN_CAPABILITY_AVX512) return thnn_cpuHasAvx512();
  if (capability == THNN_CAPABILITY_AVX512_BFLOAT16) return thnn_cpuHasAvx512BFloat16();
  if (capability == THNN_CAPABILITY_AMX_BFLOAT16) return thnn_cpuHasAmxBFloat16();
#endif
  return capability == THNN_CAPABILITY_DEFAULT;
}

/* On Intel's processors VDPBF16PS multiplies no more elements per cycle than the instructions of float32, and packing and
   storing bfloat16 take longer. */
static bool isChosen(THNNCapability capability)
{
  if (!supported(capability)) return false;
#ifdef THNN_X86_VARIANTS
  if (capability == THNN_CAPABILITY_AVX512_BFLOAT16) return !__builtin_cpu_is("intel");
#endif
  return true;
}

__attribute__((constructor)) static void chooseCapability(void)
{
  for (int c = THNN_CAPABILITY_AMX_BFLOAT16; !isChosen(thnn_capability = (THNNCapability)c); c--) {
  }
  const char *wanted = getenv("THNN_CPU_CAPABILITY");
  if (wanted == NULL || *wanted == 0) return;
  for (int c = 0; c <= THNN_CAPABILITY_AMX_BFLOAT16; c++) {
    if (strcmp(wanted, names[c]) != 0) continue;
    if (supported((THNNCapability)c)) thnn_capability = (THNNCapability)c;
    else snprintf(error, sizeof error, "THNN_CPU_CAPABILITY: this CPU does not support %s", names[c]);
    return;
  }
  snprintf(error, sizeof error,
           "THNN_CPU_CAPABILITY: expected default, avx2, avx512, avx512_bf16 or amx_bf16, got '%.64s'", wanted);
}

static bool granted;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void askForTiles(void)
{
#if defined(THNN_EMULATE_TILES)
  granted = true;
#elif defined(THNN_X86_VARIANTS) && defined(__linux__)
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM of Linux 5.16, XFEATURE_XTILEDATA */
  granted = syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#endif
}

bool thnn_grantsTiles(void)
{
  if (thnn_capability < THNN_CAPABILITY_AMX_BFLOAT16) return false;
  pthread_once(&asked, askForTiles);
  return granted;
}

const char *THNN_capabilityName(void) { return names[thnn_capability]; }

const char *THNN_environmentError(void)
{
  if (error[0]) return error;
  return thnn_cacheError() ? thnn_cacheError() : thnn_winogradError();
}
