/* rng-bit-generator: Philox 4x32 and Threefry 2x32, with the counters and the order of words of XLA.
 *
 * The state is a key and a counter.  Philox counts in 128 bits and gives four words a count; the order of elements is
 * the order of words, two for an element of 64 bits, one for anything smaller (its low bits).  Threefry counts in 64
 * bits and gives two words: for elements of up to 32 bits, an array's first even dimension (or its longest one, rounded
 * up) is split into pairs of elements, and a count gives both of a pair.
 */
#include "device/eval_move.h"
#include "device/eval_ops.h"

typedef struct {
  bool is_threefry;
  int64_t counts;              /* of the counter */
  int64_t pairs, inner, outer; /* Threefry: extent of the split dimension in pairs; elements after and before it */
  int64_t extent;              /* of the split dimension in elements */
} generator;

static uint32_t high(uint64_t x)
{
  return (uint32_t)(x >> 32);
}

static void philox(const uint32_t counter[4], uint64_t key, uint32_t words[4])
{
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = (uint32_t)key, k1 = high(key);
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)c0 * 0xd2511f53u, b = (uint64_t)c2 * 0xcd9e8d57u;
    c0 = high(b) ^ c1 ^ k0;
    c1 = (uint32_t)b;
    c2 = high(a) ^ c3 ^ k1;
    c3 = (uint32_t)a;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
}

static uint32_t turn(uint32_t x, int by)
{
  return x << by | x >> (32 - by);
}

static void threefry(uint64_t counter, uint64_t key, uint32_t words[2])
{
  static const int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t k[3] = {(uint32_t)key, high(key), (uint32_t)key ^ high(key) ^ 0x1bd11bdau};
  uint32_t a = (uint32_t)counter + k[0], b = high(counter) + k[1];
  for (uint32_t i = 0; i < 5; i++) {
    for (int r = 0; r < 4; r++) {
      a += b;
      b = turn(b, turns[i % 2][r]) ^ a;
    }
    a += k[(i + 1) % 3];
    b += k[(i + 2) % 3] + i + 1;
  }
  words[0] = a, words[1] = b;
}

/* Element i out of a word, or of two. */
static void put(void *out, size_t size, int64_t i, uint32_t low, uint32_t upper)
{
  uint64_t value = (uint64_t)upper << 32 | low;
  switch (size) {
  case 1:
    ((uint8_t *)out)[i] = (uint8_t)value;
    break;
  case 2:
    ((uint16_t *)out)[i] = (uint16_t)value;
    break;
  case 4:
    ((uint32_t *)out)[i] = low;
    break;
  default:
    ((uint64_t *)out)[i] = value;
    break;
  }
}

static void fill_philox(const generator *d, void *out, size_t size, int64_t count, uint64_t key, uint64_t low,
                        uint64_t upper)
{
  int64_t words_each = size == 8 ? 2 : 1;
  for (int64_t c = 0; c < d->counts; c++) {
    uint32_t words[4], counter[4] = {(uint32_t)low, high(low), (uint32_t)upper, high(upper)};
    philox(counter, key, words);
    for (int64_t w = 0; w < 4 && (c * 4 + w) / words_each < count; w += words_each) {
      put(out, size, (c * 4 + w) / words_each, words[w], words_each == 2 ? words[w + 1] : 0);
    }
    upper += ++low == 0;
  }
}

static void fill_threefry(const generator *d, void *out, size_t size, int64_t count, uint64_t key, uint64_t counter)
{
  uint32_t words[2];
  if (size == 8) {
    for (int64_t i = 0; i < count; i++) {
      threefry(counter++, key, words);
      put(out, size, i, words[0], words[1]);
    }
    return;
  }
  for (int64_t o = 0; o < d->outer; o++) {
    for (int64_t p = 0; p < d->pairs; p++) {
      for (int64_t i = 0; i < d->inner; i++) {
        threefry(counter++, key, words);
        int64_t at = (o * d->extent + 2 * p) * d->inner + i;
        put(out, size, at, words[0], 0);
        if (2 * p + 1 < d->extent) {
          put(out, size, at + d->inner, words[1], 0);
        }
      }
    }
  }
}

static xp_status run_bits(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const generator *d = step->detail;
  uint64_t state[3] = {0};
  memcpy(state, xp_dev_at(frame, step->in[0]), (size_t)step->in[0].count * sizeof *state);
  size_t size = xp_dev_type_sizes[step->out[1].type];
  void *bits = xp_dev_at(frame, step->out[1]);
  if (d->is_threefry) {
    fill_threefry(d, bits, size, step->out[1].count, state[0], state[1]);
  } else {
    fill_philox(d, bits, size, step->out[1].count, state[0], state[1], step->in[0].count == 3 ? state[2] : state[0]);
  }
  state[1] += (uint64_t)d->counts;
  state[2] += state[1] < (uint64_t)d->counts;
  memcpy(xp_dev_at(frame, step->out[0]), state, (size_t)step->in[0].count * sizeof *state);
  return XP_OK;
}

/* Which dimension Threefry splits into pairs. */
static void split(generator *d, const xp_hlo_shape *shape)
{
  int chosen = -1;
  for (int i = 0; i < shape->rank && chosen < 0; i++) {
    chosen = shape->dims[i] % 2 == 0 ? i : -1;
  }
  for (int i = 0; i < shape->rank && (chosen < 0 || shape->dims[chosen] % 2 != 0); i++) {
    chosen = chosen < 0 || shape->dims[i] > shape->dims[chosen] ? i : chosen;
  }
  d->inner = d->outer = d->extent = 1;
  for (int i = 0; i < shape->rank; i++) {
    int64_t *part = i < chosen ? &d->outer : i == chosen ? &d->extent : &d->inner;
    *part *= shape->dims[i];
  }
  d->pairs = (d->extent + 1) / 2;
}

xp_status xp_dev_prepare_rng_bits(xp_dev_context *context, xp_dev_step *step)
{
  xp_hlo_rng_algorithm algorithm = context->instruction->rng_algorithm;
  generator *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  d->is_threefry = algorithm == XP_HLO_RNG_THREE_FRY;
  if (algorithm != XP_HLO_RNG_DEFAULT && algorithm != XP_HLO_RNG_PHILOX && !d->is_threefry) {
    return xp_dev_reject(context, "this device does not have its algorithm");
  }
  if (step->in_count != 1 || step->out_count != 2 || step->in[0].type != XP_DEV_U64 ||
      !xp_hlo_shape_same(step->in[0].shape, step->out[0].shape) ||
      (step->in[0].count != 2 && (d->is_threefry || step->in[0].count != 3))) {
    return xp_dev_reject(context, "its state is not u64[2], or u64[3] for Philox");
  }
  if (step->out[1].type == XP_DEV_PRED || xp_dev_type_is_float(step->out[1].type)) {
    return xp_dev_reject(context, "it gives integers only");
  }
  bool is_wide = xp_dev_type_sizes[step->out[1].type] == 8;
  int64_t count = step->out[1].count;
  split(d, step->out[1].shape);
  int64_t pairs = d->outer * d->pairs * d->inner;
  d->counts = d->is_threefry ? (is_wide ? count : count == 0 ? 0 : pairs) : is_wide ? (count + 1) / 2 : (count + 3) / 4;
  step->detail = d;
  step->run = run_bits;
  return XP_OK;
}
