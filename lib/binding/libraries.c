#include "binding/libraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads may open a library and call functions at once where Python has no GIL. The list grows at its head, so that calls
   read it without the lock. */
static pthread_mutex_t listLock = PTHREAD_MUTEX_INITIALIZER;
static OpenLibrary *_Atomic openLibraries;

static OpenLibrary *openLibraryOf(const THNNLibrary *library)
{
  OpenLibrary *open = openLibraries;
  while (open != NULL && open->library != library) open = open->next;
  return open;
}

OpenLibrary *openLibraryWith(const THNNFunction *function)
{
  OpenLibrary *open = openLibraries;
  while (open != NULL &&
         (function < open->library->functions || function >= open->library->functions + open->library->count))
    open = open->next;
  return open;
}

/* Lists a library, unless it was opened before; false without memory. */
static bool addOpenLibrary(const THNNLibrary *library)
{
  pthread_mutex_lock(&listLock);
  bool done = openLibraryOf(library) != NULL;
  OpenLibrary *open = done ? NULL : malloc(sizeof *open);
  if (open != NULL) {
    *open = (OpenLibrary){library, NULL, NULL, openLibraries};
    openLibraries = open;
    done = true;
  }
  pthread_mutex_unlock(&listLock);
  return done;
}

const THNNLibrary *thnn_open(const char *path, char *reason, int64_t room)
{
  reason[0] = 0;
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    snprintf(reason, (size_t)room, "%s", dlerror());
    return NULL;
  }
  const THNNLibrary *(*table)(void) = (const THNNLibrary *(*)(void))dlsym(handle, "THNN_library");
  const THNNLibrary *library = table ? table() : NULL;
  if (library != NULL && library->abi == THNN_ABI) {
    if (addOpenLibrary(library)) return library;
    snprintf(reason, (size_t)room, "%s: out of memory", path);
    dlclose(handle);
    return NULL;
  }
  snprintf(reason, (size_t)room,
           library ? "%s was built for another version of the binding" : "%s has no THNN_library", path);
  dlclose(handle);
  return NULL;
}

int thnn_hasEntry(const THNNFunction *function)
{
  for (int type = 0; type < THNN_REAL_TYPES; type++)
    if (function->call[type] != NULL) return true;
  return false;
}

int thnn_setDeviceLibrary(const THNNLibrary *host, const THNNLibrary *device, uintptr_t compute)
{
  if (device != NULL && (host->count != device->count || strcmp(host->digest, device->digest) != 0)) return false;
  PyGILState_STATE gil = PyGILState_Ensure();
  OpenLibrary *open = openLibraryOf(host);
  thnn_keepReference(&open->computeMissing, compute);
  open->device = device; /* set last: a call that reads it calls computeMissing */
  PyGILState_Release(gil);
  return true;
}
