/* Preloaded by `python -m tools.memory`: the n-th allocation of thnn's libraries, or of torch's CPU allocator, fails.
   Other callers, which are not the subject of the test, always get memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* The segments of code of thnn's libraries. */
static struct {
  uintptr_t begin, end;
} ranges[16];
static int rangeCount;
static _Atomic long remaining; /* until the allocation that fails; negative: none fails */
static _Atomic long counted;
static _Atomic int armed;

static int addRanges(struct dl_phdr_info *info, size_t size, void *data)
{
  (void)size, (void)data;
  if (!strstr(info->dlpi_name, "libTHNN.so") && !strstr(info->dlpi_name, "/_C.abi3.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || rangeCount == 16) continue;
    ranges[rangeCount].begin = info->dlpi_addr + segment->p_vaddr;
    ranges[rangeCount++].end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
  }
  return 0;
}

/* Makes allocation n from now on fail, counted from 1; with 0 none fails. Returns the number of code segments. */
int failing_arm(long n)
{
  if (rangeCount == 0) dl_iterate_phdr(addRanges, NULL);
  atomic_store(&counted, 0);
  atomic_store(&remaining, n);
  atomic_store(&armed, 1);
  return rangeCount;
}

/* Ends the counting; returns the number of allocations since failing_arm. */
long failing_disarm(void)
{
  atomic_store(&armed, 0);
  return atomic_load(&counted);
}

static int fails(const void *caller, int always)
{
  if (!atomic_load(&armed)) return 0;
  for (int i = 0; i < rangeCount && !always; i++)
    always = (uintptr_t)caller >= ranges[i].begin && (uintptr_t)caller < ranges[i].end;
  if (!always) return 0;
  atomic_fetch_add(&counted, 1);
  return atomic_fetch_sub(&remaining, 1) == 1;
}

void *malloc(size_t size)
{
  if (fails(__builtin_return_address(0), 0)) return errno = ENOMEM, NULL;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  if (fails(__builtin_return_address(0), 0)) return errno = ENOMEM, NULL;
  return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
  if (fails(__builtin_return_address(0), 0)) return errno = ENOMEM, NULL;
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
  if (fails(__builtin_return_address(0), 0)) return errno = ENOMEM, NULL;
  return __libc_memalign(alignment, size);
}

/* torch's CPU allocator calls this function, and few others do. */
int posix_memalign(void **result, size_t alignment, size_t size)
{
  if (fails(__builtin_return_address(0), 1)) return ENOMEM;
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}
