/* A PJRT plugin that the test is, made out of machine words at the offsets of upstream's headers (minor 114) and not
 * with our declarations of them.  It can misbehave in every way that we know of, and counts its objects.  Include it
 * once.
 *
 * Its programs have two outputs (f32[2,3] and a scalar of type pred).  An event is ready at once, or, while
 * `events_wait`, when the test says so.
 */
#ifndef XP_TESTS_FAKE_PJRT_H
#define XP_TESTS_FAKE_PJRT_H

#include <pthread.h>
#include <stdatomic.h>

#include "pjrt/client.h"
#include "testing.h"

enum { FAKE_SLOTS = 138, FAKE_MOST_TABLES = 512, FAKE_MOST_OBJECTS = 16384, FAKE_DEVICES = 2 };

/* What the plugin does wrong, and what it was asked. */
static struct {
  const char *fails; /* name of the function that answers with an error */
  const char *empty; /* name of the function that answers without error and with nothing */
  bool empty_event;  /* of an execution: it gives outputs and no event */
  bool no_devices;   /* there are none */
  bool wrong_count;  /* of types and dimensions of outputs */
  bool code_fails;   /* PJRT_Error_GetCode answers with an error */
  const char *text;  /* of errors; NULL: none */
  bool events_wait;  /* events are not ready until fake_finish */
  bool events_fail;  /* they end with an error */
  atomic_int live;   /* objects that were not destroyed: errors, too */
  atomic_int calls;  /* of PJRT_Plugin_Initialize */
  uint64_t last[16]; /* words of the arguments of the last call of the function `watch` */
  const char *watch;
  char bytes[256]; /* options of the last compilation */
  size_t bytes_len;
  uint64_t options[18];    /* words of the options of the last execution */
  int64_t kept[8];         /* ... and its kept arguments */
  uint64_t arguments[256]; /* ... and its arguments */
  uint64_t extension;      /* that is expected with arguments; 0: none */
  uint64_t values[4][7];   /* options of the last client or topology */
} fake;

static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER; /* of what it was asked */

/* An object of the plugin. */
typedef struct {
  bool is_alive;
} fake_object;

static fake_object fake_objects[FAKE_MOST_OBJECTS];
static atomic_int fake_object_count;
static fake_object fake_devices[FAKE_DEVICES];

static uint64_t word(const void *args, size_t offset)
{
  uint64_t value;
  memcpy(&value, (const char *)args + offset, sizeof value);
  return value;
}

static void set_word(void *args, size_t offset, uint64_t value)
{
  memcpy((char *)args + offset, &value, sizeof value);
}

static uint64_t address(const void *p)
{
  return (uint64_t)(uintptr_t)p;
}

static uint64_t new_object(void)
{
  int i = atomic_fetch_add(&fake_object_count, 1);
  assert_true(i < FAKE_MOST_OBJECTS);
  fake_objects[i].is_alive = true;
  atomic_fetch_add(&fake.live, 1);
  return address(&fake_objects[i]);
}

static void end_object(uint64_t object)
{
  fake_object *o = (fake_object *)(uintptr_t)object;
  assert_true(o >= fake_objects && o < fake_objects + FAKE_MOST_OBJECTS && o->is_alive); /* ours, and the first time */
  o->is_alive = false;
  atomic_fetch_sub(&fake.live, 1);
}

static bool is_name(const char *which, const char *name)
{
  return which != NULL && strcmp(which, name) == 0;
}

/* Checks the head of the arguments and their object; answers with an error if it shall. */
static void *answer(const char *name, const void *args, size_t size)
{
  assert_int_equal(word(args, 0), size);
  assert_int_equal(word(args, 8), fake.extension);
  if (is_name(fake.watch, name)) {
    memcpy(fake.last, args, size < sizeof fake.last ? size : sizeof fake.last);
  }
  return is_name(fake.fails, name) ? (void *)(uintptr_t)new_object() : NULL;
}

static bool gives(const char *name)
{
  return !is_name(fake.fails, name) && !is_name(fake.empty, name);
}

/* ---------------------------------------------------------------- functions of a common form */

static void *answer_object(const char *name, void *args)
{
  assert_true(word(args, 16) != 0);
  return answer(name, args, 24);
}

static void *answer_destroy(const char *name, void *args)
{
  end_object(word(args, 16));
  return answer(name, args, 24);
}

static void *answer_text(const char *name, void *args, const char *text)
{
  if (gives(name)) {
    set_word(args, 24, address(text));
    set_word(args, 32, strlen(text));
  }
  return answer(name, args, 40);
}

static void *answer_number(const char *name, void *args, size_t size, int number)
{
  memcpy((char *)args + 24, &number, size - 24);
  return answer(name, args, size);
}

static void *answer_word(const char *name, void *args, uint64_t value)
{
  if (gives(name)) {
    set_word(args, 24, value);
  }
  return answer(name, args, 32);
}

/* With `empty`, a count without rows. */
static void *answer_list(const char *name, void *args, const void *rows, size_t count)
{
  set_word(args, 24, gives(name) ? address(rows) : 0);
  set_word(args, 32, count);
  return answer(name, args, 40);
}

#define OBJECT(name)                                                                                                   \
  static void *fake_##name(void *args)                                                                                 \
  {                                                                                                                    \
    return answer_object("PJRT_" #name, args);                                                                         \
  }
#define DESTROY(name)                                                                                                  \
  static void *fake_##name(void *args)                                                                                 \
  {                                                                                                                    \
    return answer_destroy("PJRT_" #name, args);                                                                        \
  }
#define TEXT(name, text)                                                                                               \
  static void *fake_##name(void *args)                                                                                 \
  {                                                                                                                    \
    return answer_text("PJRT_" #name, args, text);                                                                     \
  }
#define NUMBER(name, size, number)                                                                                     \
  static void *fake_##name(void *args)                                                                                 \
  {                                                                                                                    \
    return answer_number("PJRT_" #name, args, size, number);                                                           \
  }
#define WORD(name, value)                                                                                              \
  static void *fake_##name(void *args)                                                                                 \
  {                                                                                                                    \
    return answer_word("PJRT_" #name, args, value);                                                                    \
  }
#define LIST(name, rows, count)                                                                                        \
  static void *fake_##name(void *args)                                                                                 \
  {                                                                                                                    \
    return answer_list("PJRT_" #name, args, rows, count);                                                              \
  }

static uint64_t fake_device_rows[FAKE_DEVICES]; /* filled in by fake_reset */
static const int64_t fake_dimensions[2] = {2, 3};
static const int fake_types[3] = {11, 1, 11};
static const size_t fake_ranks[3] = {2, 0, 1};

TEXT(Client_PlatformName, "fake")
TEXT(Client_PlatformVersion, "fake version 1")
TEXT(DeviceDescription_Kind, "imagined")
TEXT(DeviceDescription_ToString, "FakeDevice")
TEXT(Executable_Name, "jit_step")
TEXT(Executable_Fingerprint, "0f1e2d")
TEXT(TopologyDescription_PlatformName, "fake machine")
NUMBER(DeviceDescription_ProcessIndex, 28, 3)
NUMBER(Device_LocalHardwareId, 28, 5)
NUMBER(Buffer_ElementType, 28, 11)
NUMBER(Buffer_IsDeleted, 25, 1)
WORD(Device_GetDescription, word(args, 16))
WORD(Executable_NumOutputs, 2)
WORD(LoadedExecutable_GetExecutable, gives("PJRT_LoadedExecutable_GetExecutable") ? new_object() : 0)
WORD(Buffer_ReadyEvent, gives("PJRT_Buffer_ReadyEvent") ? new_object() : 0)
WORD(Buffer_OnDeviceSizeInBytes, 64)
WORD(Buffer_UnsafePointer, 0xfeedface12345678)
LIST(Client_AddressableDevices, fake_device_rows, fake.no_devices ? 0 : FAKE_DEVICES)
LIST(Buffer_Dimensions, fake_dimensions, 2)
LIST(Executable_OutputElementTypes, fake_types, fake.wrong_count ? 3 : 2)
LIST(TopologyDescription_GetDeviceDescriptions, fake_device_rows, FAKE_DEVICES)
DESTROY(Event_Destroy)
DESTROY(Client_Destroy)
DESTROY(Executable_Destroy)
DESTROY(LoadedExecutable_Destroy)
DESTROY(Buffer_Destroy)
DESTROY(TopologyDescription_Destroy)
OBJECT(Buffer_Delete)
OBJECT(Buffer_IncreaseExternalReferenceCount)
OBJECT(Buffer_DecreaseExternalReferenceCount)

#undef OBJECT
#undef DESTROY
#undef TEXT
#undef NUMBER
#undef WORD
#undef LIST

/* ---------------------------------------------------------------- errors and the plugin */

static void fake_Error_Destroy(void *args)
{
  assert_int_equal(word(args, 0), 24);
  end_object(word(args, 16));
}

static void fake_Error_Message(void *args)
{
  assert_int_equal(word(args, 0), 40);
  set_word(args, 24, address(fake.text));
  set_word(args, 32, fake.text == NULL ? 7 : strlen(fake.text));
}

static void *fake_Error_GetCode(void *args)
{
  int code = 14;
  assert_int_equal(word(args, 0), 28);
  memcpy((char *)args + 24, &code, sizeof code);
  return fake.code_fails ? (void *)(uintptr_t)new_object() : NULL;
}

static void *fake_Plugin_Initialize(void *args)
{
  atomic_fetch_add(&fake.calls, 1);
  return answer("PJRT_Plugin_Initialize", args, 16);
}

/* ---------------------------------------------------------------- events */

static struct {
  void (*callback)(void *error, void *context);
  void *context;
} fake_waiting[64];
static atomic_int fake_waiting_count;

static void *event_error(void)
{
  return fake.events_fail ? (void *)(uintptr_t)new_object() : NULL;
}

static void *fake_Event_Await(void *args)
{
  void *error = answer("PJRT_Event_Await", args, 24);
  return error != NULL ? error : event_error();
}

static void *fake_Event_IsReady(void *args)
{
  return answer_number("PJRT_Event_IsReady", args, 25, !fake.events_wait);
}

static void *fake_Event_OnReady(void *args)
{
  void (*callback)(void *error, void *context) = (void (*)(void *, void *))(uintptr_t)word(args, 24);
  void *context = (void *)(uintptr_t)word(args, 32);
  void *error = answer("PJRT_Event_OnReady", args, 40);
  if (error == NULL && fake.events_wait) {
    int i = atomic_fetch_add(&fake_waiting_count, 1);
    assert_true(i < 64);
    fake_waiting[i].callback = callback;
    fake_waiting[i].context = context;
  } else if (error == NULL) {
    callback(event_error(), context);
  }
  return error;
}

/* All events that wait become ready, in a thread of the plugin. */
static inline void *fake_finish(void *unused)
{
  for (int i = 0; i < atomic_load(&fake_waiting_count); i++) {
    fake_waiting[i].callback(event_error(), fake_waiting[i].context);
  }
  atomic_store(&fake_waiting_count, 0);
  return unused;
}

/* ---------------------------------------------------------------- clients, programs, buffers */

static void keep_options(uint64_t options, uint64_t count)
{
  for (uint64_t i = 0; i < count && i < 4; i++) {
    memcpy(fake.values[i], (const char *)(uintptr_t)options + i * 56, 56);
  }
}

static void *fake_Client_Create(void *args)
{
  keep_options(word(args, 16), word(args, 24));
  assert_int_equal(word(args, 32) | word(args, 48) | word(args, 72), 0); /* no store of keys */
  set_word(args, 64, gives("PJRT_Client_Create") ? new_object() : 0);
  return answer("PJRT_Client_Create", args, 88);
}

static void *fake_TopologyDescription_Create(void *args)
{
  keep_options(word(args, 32), word(args, 40));
  assert_memory_equal((const char *)(uintptr_t)word(args, 16), "v5e:2x2", (size_t)word(args, 24));
  set_word(args, 48, gives("PJRT_TopologyDescription_Create") ? new_object() : 0);
  return answer("PJRT_TopologyDescription_Create", args, 56);
}

static void *fake_DeviceDescription_Id(void *args)
{
  int id = 70 + (int)((fake_object *)(uintptr_t)word(args, 16) - fake_devices);
  return answer_number("PJRT_DeviceDescription_Id", args, 28, id);
}

static void *fake_Device_MemoryStats(void *args)
{
  set_word(args, 24, 1000);
  set_word(args, 80, 16000);
  set_word(args, 88, 1);
  return answer("PJRT_Device_MemoryStats", args, 201);
}

static void keep_program(uint64_t program, uint64_t options, uint64_t size)
{
  const void *p = (const void *)(uintptr_t)program;
  assert_int_equal(word(p, 0), 48);
  assert_memory_equal((const char *)(uintptr_t)word(p, 16), "module", (size_t)word(p, 24));
  assert_memory_equal((const char *)(uintptr_t)word(p, 32), "hlo", (size_t)word(p, 40));
  assert_true(size <= sizeof fake.bytes);
  pthread_mutex_lock(&fake_lock);
  memcpy(fake.bytes, (const char *)(uintptr_t)options, (size_t)size);
  fake.bytes_len = (size_t)size;
  pthread_mutex_unlock(&fake_lock);
}

static void *fake_Client_Compile(void *args)
{
  keep_program(word(args, 24), word(args, 32), word(args, 40));
  set_word(args, 48, gives("PJRT_Client_Compile") ? new_object() : 0);
  return answer("PJRT_Client_Compile", args, 56);
}

static void *fake_Compile(void *args)
{
  keep_program(word(args, 24), word(args, 32), word(args, 40));
  assert_int_equal(word(args, 48), 0); /* no client */
  set_word(args, 56, gives("PJRT_Compile") ? new_object() : 0);
  return answer("PJRT_Compile", args, 64);
}

static void *fake_Executable_OutputDimensions(void *args)
{
  const char *name = "PJRT_Executable_OutputDimensions";
  set_word(args, 24, fake.wrong_count ? 3 : 2);
  set_word(args, 32, address(fake_dimensions));
  set_word(args, 40, gives(name) ? address(fake_ranks) : 0);
  return answer(name, args, 48);
}

static void *fake_Executable_OptimizedProgram(void *args)
{
  void *program = (void *)(uintptr_t)word(args, 24);
  assert_int_equal(word(program, 0), 48);
  if (word(program, 16) != 0) {
    assert_int_equal(word(program, 24), 9);
    memcpy((char *)(uintptr_t)word(program, 16), "optimized", 9);
  }
  set_word(program, 24, 9);
  set_word(program, 32, address("hlo_with_config"));
  set_word(program, 40, 15);
  return answer("PJRT_Executable_OptimizedProgram", args, 32);
}

static void keep_execution(const void *args)
{
  const void *options = (const void *)(uintptr_t)word(args, 24);
  const uint64_t *const *lists = (const uint64_t *const *)(uintptr_t)word(args, 32);
  size_t count = (size_t)word(args, 48);
  assert_int_equal(word(options, 0), 144);
  pthread_mutex_lock(&fake_lock);
  memcpy(fake.options, options, sizeof fake.options);
  for (size_t i = 56; i < 144; i += 8) {
    assert_true(i == 56 || i == 64 || word(options, i) == 0);
  }
  for (size_t i = 0; i < word(options, 64) && i < 8; i++) {
    fake.kept[i] = ((const int64_t *)(uintptr_t)word(options, 56))[i];
  }
  for (size_t i = 0; i < count && i < 256; i++) {
    fake.arguments[i] = lists[0][i];
  }
  pthread_mutex_unlock(&fake_lock);
}

static void *fake_LoadedExecutable_Execute(void *args)
{
  const char *name = "PJRT_LoadedExecutable_Execute";
  keep_execution(args);
  assert_int_equal(word(args, 40), 1); /* device */
  uint64_t *const *outputs = (uint64_t *const *)(uintptr_t)word(args, 56);
  uint64_t *events = (uint64_t *)(uintptr_t)word(args, 64);
  if (!is_name(fake.fails, name)) {
    outputs[0][0] = new_object();
    outputs[0][1] = gives(name) ? new_object() : 0;
    if (events != NULL && !fake.empty_event) {
      events[0] = new_object();
    }
  }
  return answer(name, args, 80);
}

static void *fake_Client_BufferFromHostBuffer(void *args)
{
  const char *name = "PJRT_Client_BufferFromHostBuffer";
  set_word(args, 104, is_name(fake.fails, name) ? 0 : new_object());
  set_word(args, 112, gives(name) ? new_object() : 0);
  return answer(name, args, 120);
}

static void *fake_Buffer_CopyToDevice(void *args)
{
  assert_int_equal(word(args, 24), address(&fake_devices[1]));
  set_word(args, 32, gives("PJRT_Buffer_CopyToDevice") ? new_object() : 0);
  return answer("PJRT_Buffer_CopyToDevice", args, 40);
}

/* The contents of every buffer: 1, 2, 3... */
static void *fake_Buffer_ToHostBuffer(void *args)
{
  const void *layout = (const void *)(uintptr_t)word(args, 24);
  const int64_t *order = (const int64_t *)(uintptr_t)word(layout, 32);
  assert_int_equal(word(layout, 0), 76);
  assert_int_equal((int)word(layout, 72), 0); /* tiled */
  assert_int_equal(word(layout, 16), 56);
  assert_int_equal(word(layout, 40), 2);
  assert_true(order[0] == 1 && order[1] == 0);
  assert_int_equal(word(args, 40), 24);
  float values[6] = {1, 2, 3, 4, 5, 6};
  memcpy((void *)(uintptr_t)word(args, 32), values, sizeof values);
  set_word(args, 48, gives("PJRT_Buffer_ToHostBuffer") ? new_object() : 0);
  return answer("PJRT_Buffer_ToHostBuffer", args, 56);
}

/* ---------------------------------------------------------------- the table */

/* How the client takes it when a function fails or is missing. */
typedef enum { NEEDED, EXTRA, DESTROYS } fake_kind;

#define SLOT(kind, offset, name)                                                                                       \
  {                                                                                                                    \
    "PJRT_" #name, offset, (uintptr_t)fake_##name, kind                                                                \
  }
static const struct {
  const char *name;
  size_t offset;
  uintptr_t function;
  fake_kind kind;
} fake_functions[] = {
    SLOT(NEEDED, 40, Error_Destroy),
    SLOT(NEEDED, 48, Error_Message),
    SLOT(NEEDED, 56, Error_GetCode),
    SLOT(NEEDED, 64, Plugin_Initialize),
    SLOT(DESTROYS, 80, Event_Destroy),
    SLOT(NEEDED, 88, Event_IsReady),
    SLOT(NEEDED, 104, Event_Await),
    SLOT(NEEDED, 112, Event_OnReady),
    SLOT(NEEDED, 120, Client_Create),
    SLOT(DESTROYS, 128, Client_Destroy),
    SLOT(EXTRA, 136, Client_PlatformName),
    SLOT(EXTRA, 152, Client_PlatformVersion),
    SLOT(NEEDED, 168, Client_AddressableDevices),
    SLOT(NEEDED, 200, Client_Compile),
    SLOT(NEEDED, 216, Client_BufferFromHostBuffer),
    SLOT(NEEDED, 224, DeviceDescription_Id),
    SLOT(EXTRA, 232, DeviceDescription_ProcessIndex),
    SLOT(EXTRA, 248, DeviceDescription_Kind),
    SLOT(EXTRA, 264, DeviceDescription_ToString),
    SLOT(NEEDED, 272, Device_GetDescription),
    SLOT(EXTRA, 288, Device_LocalHardwareId),
    SLOT(NEEDED, 312, Device_MemoryStats),
    SLOT(DESTROYS, 360, Executable_Destroy),
    SLOT(NEEDED, 368, Executable_Name),
    SLOT(NEEDED, 392, Executable_NumOutputs),
    SLOT(NEEDED, 424, Executable_OptimizedProgram),
    SLOT(DESTROYS, 440, LoadedExecutable_Destroy),
    SLOT(NEEDED, 448, LoadedExecutable_GetExecutable),
    SLOT(NEEDED, 480, LoadedExecutable_Execute),
    SLOT(DESTROYS, 504, Buffer_Destroy),
    SLOT(NEEDED, 512, Buffer_ElementType),
    SLOT(NEEDED, 520, Buffer_Dimensions),
    SLOT(NEEDED, 552, Buffer_OnDeviceSizeInBytes),
    SLOT(NEEDED, 576, Buffer_Delete),
    SLOT(NEEDED, 584, Buffer_IsDeleted),
    SLOT(NEEDED, 592, Buffer_CopyToDevice),
    SLOT(NEEDED, 600, Buffer_ToHostBuffer),
    SLOT(NEEDED, 616, Buffer_ReadyEvent),
    SLOT(NEEDED, 624, Buffer_UnsafePointer),
    SLOT(NEEDED, 632, Buffer_IncreaseExternalReferenceCount),
    SLOT(NEEDED, 640, Buffer_DecreaseExternalReferenceCount),
    SLOT(NEEDED, 696, TopologyDescription_Create),
    SLOT(DESTROYS, 704, TopologyDescription_Destroy),
    SLOT(NEEDED, 712, TopologyDescription_PlatformName),
    SLOT(NEEDED, 728, TopologyDescription_GetDeviceDescriptions),
    SLOT(NEEDED, 752, Compile),
    SLOT(NEEDED, 760, Executable_OutputElementTypes),
    SLOT(NEEDED, 768, Executable_OutputDimensions),
    SLOT(NEEDED, 792, Executable_Fingerprint),
};
#undef SLOT

enum { FAKE_FUNCTIONS = sizeof fake_functions / sizeof fake_functions[0] };

/* A plugin is known by the address of its table and kept for good, so that every one gets a table of its own. */
static uint64_t fake_tables[FAKE_MOST_TABLES][5 + FAKE_SLOTS];
static int fake_table_count;
static uint64_t *fake_table; /* of the next plugin that is opened */

static const xp_abi_api *fake_get_api(void)
{
  return (const xp_abi_api *)fake_table;
}

/* A plugin of minor 114 that behaves. */
static int fake_reset(void **state)
{
  (void)state;
  memset(&fake, 0, sizeof fake);
  fake.text = "no chip";
  atomic_store(&fake_object_count, 0);
  atomic_store(&fake_waiting_count, 0);
  for (int i = 0; i < FAKE_DEVICES; i++) {
    fake_device_rows[i] = address(&fake_devices[i]);
  }
  assert_true(fake_table_count < FAKE_MOST_TABLES);
  fake_table = fake_tables[fake_table_count++];
  fake_table[0] = sizeof fake_tables[0];
  fake_table[2] = 24;
  int version[2] = {0, 114};
  memcpy(&fake_table[4], version, sizeof version);
  for (size_t i = 0; i < FAKE_FUNCTIONS; i++) {
    fake_table[fake_functions[i].offset / 8] = fake_functions[i].function;
  }
  return 0;
}

static int fake_check(void **state)
{
  (void)state;
  return atomic_load(&fake.live) != 0; /* every object was destroyed, once */
}

#endif
