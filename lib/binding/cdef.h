/* The part of the binding that Python sees, in cffi's language: `...` stands for the members that are not listed here.
   The build fails if the C headers lack a listed member, and the first use of a structure in Python fails if a member
   has another size in the C headers. */

typedef struct {
  void *data;
  int32_t type, device, deviceIndex, ndim, argument;
  int64_t size[64], stride[64];
  ...;
} THNNTensor;

typedef struct {
  int32_t argument, like, layout, ndim;
  int64_t size[64];
  ...;
} THNNRequest;

typedef struct {
  int32_t status, requestCount;
  THNNRequest requests[16];
  char message[1024];
  ...;
} THNNState;

typedef struct {
  const char *name, *arguments;
  ...;
} THNNFunction;

typedef struct {
  int32_t device, count;
  const char *digest;
  const THNNFunction *functions;
  const char *(*capability)(void);
  const char *(*environmentError)(void);
  ...;
} THNNLibrary;

typedef struct {
  int32_t kind, index, dimension, flag;
  double number;
  ...;
} THNNSource;

const THNNLibrary *thnn_open(const char *path, char *reason, int64_t room);
int thnn_hasEntry(const THNNFunction *function);
int thnn_setDeviceLibrary(const THNNLibrary *host, const THNNLibrary *device, uintptr_t computeMissing);
int thnn_bind(uintptr_t function, int flags, const char *results, uintptr_t repeat, uintptr_t list);
void thnn_release(uintptr_t state);
int thnn_observe(uintptr_t observer);
int thnn_connect(uintptr_t capsule, uintptr_t getNumThreads, uintptr_t allocate, uintptr_t generator);
int thnn_connectAllocation(uintptr_t objects, uintptr_t emptyStrided, uintptr_t dataPointer,
                           uintptr_t deleteTensor, uintptr_t wrapTensor);
int thnn_implementOperator(const char *namespace, const char *name, uintptr_t function, const char *letters,
                           const THNNSource *sources, const int32_t *results, int resultCount, int scale,
                           uintptr_t fallback);
int thnn_connectOperators(const uintptr_t *addresses, int count);
int thnn_connectContext(const uintptr_t *addresses, int count, uintptr_t forwardMode, uintptr_t inPython);
int thnn_makeContextFunctions(uintptr_t list);
int thnn_makeContextOfCall(int tensors, int64_t constants, uintptr_t list);
