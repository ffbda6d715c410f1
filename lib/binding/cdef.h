/* The part of the binding that Python sees, in cffi's language: `...` stands for members that are not listed and for
   the lengths of arrays, a `const int` for a macro or a constant of an enumeration. cffi takes them from the C headers,
   and compares names and sizes with these. */

static const int THNN_MAX_DIM;
static const int THNN_TYPE_FLOAT, THNN_TYPE_DOUBLE, THNN_TYPE_HALF, THNN_TYPE_BFLOAT16, THNN_REAL_TYPES,
    THNN_TYPE_INDEX, THNN_TYPE_INTEGER, THNN_TYPE_OTHER;
static const int THNN_DEVICE_CPU, THNN_DEVICE_CUDA;
static const int THNN_CHANNELS_LAST;
static const int THNN_RESIZE, THNN_TYPE_ERROR, THNN_VALUE_ERROR, THNN_INDEX_ERROR, THNN_NOT_IMPLEMENTED,
    THNN_RUNTIME_ERROR, THNN_UNPACK, THNN_DRAW, THNN_ALLOCATE;
static const int THNN_CALL_TYPE, THNN_CALL_ANY, THNN_CALL_VIEWS, THNN_CALL_META, THNN_CALL_SCALED,
    THNN_CALL_MULTIPLIED, THNN_CALL_HOST, THNN_CALL_DEVICE;
static const int THNN_WHOLE, THNN_KEPT_DATA, THNN_KEPT_RESULT;
static const int THNN_EXCHANGE_VIEWS, THNN_EXCHANGE_CAPSULES, THNN_EXCHANGE_API;
static const int THNN_CONTEXT_PLAIN, THNN_CONTEXT_GRADIENT, THNN_CONTEXT_TRANSFORM, THNN_CONTEXT_CONSTANT;

typedef struct {
  void *data;
  int32_t type, device, deviceIndex, ndim, argument;
  int64_t size[...], stride[...];
  ...;
} THNNTensor;

typedef struct {
  int32_t argument, like, layout, ndim;
  int64_t size[...];
  ...;
} THNNRequest;

typedef struct {
  int32_t status, requestCount;
  THNNRequest requests[...];
  char message[...];
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
  uintptr_t function;
  int32_t flags;
  const char *results;
  uintptr_t repeat, constants;
  const int16_t *sources;
} THNNBinding;

typedef struct {
  int32_t tensors, scalars, arguments, savesByAttribute, inplaceAt, indicesAt, output, indices;
  int32_t keptCount, zeroCount, backwardCount, gradientCount;
  int16_t kept[...], zeros[...], gradients[...], gradientCall[...];
  ...;
} THNNClassPlan;

const THNNLibrary *thnn_open(const char *path, char *reason, int64_t room);
int thnn_hasEntry(const THNNFunction *function);
int thnn_setDeviceLibrary(const THNNLibrary *host, const THNNLibrary *device, uintptr_t computeMissing);
int thnn_bind(const THNNBinding *binding, uintptr_t list);
int thnn_bindClass(const THNNClassPlan *plan, uintptr_t objects, uintptr_t list);
int thnn_makeBackwardMethod(uintptr_t base, uintptr_t list);
void thnn_release(uintptr_t state);
int thnn_observe(uintptr_t observer);
int thnn_connect(uintptr_t api, uintptr_t toDlpack, uintptr_t getNumThreads, uintptr_t allocate,
                 uintptr_t generator);
int thnn_connectAllocation(uintptr_t objects, uintptr_t emptyStrided, uintptr_t dataPointer,
                           uintptr_t deleteTensor, uintptr_t wrapTensor);
int thnn_connectContext(const uintptr_t *addresses, int count, uintptr_t forwardMode, uintptr_t inPython);
int thnn_makeContextFunctions(uintptr_t list);
int thnn_makeContextOfCall(int tensors, int64_t constants, uintptr_t list);
