/* An open device: one of a PJRT client, with what the runtime keeps for it.  All under the runtime's lock, but for the
 * work in flight, which callbacks of the plugin count down. */
#ifndef XL_DEVICE_H
#define XL_DEVICE_H

#include <pthread.h>

#include "lazy/cell.h"
#include "pjrt/client.h"

enum { XL_NUMBERS_KEPT = 128 };

typedef struct {
  xl_node *node; /* a reference; NULL: empty */
  uint64_t bits, used;
  uint8_t type;
} xl_kept_number;

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t count;   /* executions that are not done */
  xp_error error; /* of the first one that failed and was not reported yet */
} xl_in_flight;

struct xl_device {
  xl_device *next;
  xp_pjrt_client *client;
  const xp_pjrt_device *handle;
  char *plugin, *name;
  int number;
  bool is_lost;  /* it is the parent's, of which this process is a fork */
  xl_cell cells; /* ring of all cells with a value on this device, oldest first; this one is its beginning */
  xl_kept_number numbers[XL_NUMBERS_KEPT];
  uint64_t number_clock;
  uint64_t seed, next_seed; /* of random numbers, as the host knows them: the step's first, and the next operation's */
  xl_node *seed_node;       /* a reference; NULL: not asked for since the last barrier */
  xl_in_flight flight;
};

/* The device in use, opened if none is; NULL with an error. */
xl_device *xl_device_current(xp_error *err);

/* Counts work: begun before it is launched; done_with is what the plugin's event calls. */
void xl_flight_begin(xl_in_flight *flight);
void xl_flight_end(xl_in_flight *flight, const xp_error *err);

/* Waits until at most so many executions are in flight.  What calls back does not take the runtime's lock. */
void xl_flight_limit(xl_in_flight *flight, size_t most);

/* Waits for all work; the first error that was not reported. */
xp_status xl_flight_wait(xl_in_flight *flight, xp_error *err);

/* Closes all devices.  Cells, numbers and programs must be gone. */
void xl_devices_close(void);

#endif
