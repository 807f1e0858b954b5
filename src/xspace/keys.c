/* Names of the stats that xlaprof asks for. */
#include "xspace/keys.h"

#include "xspace/tables.h"

static const xp_str names[XP_KEY_COUNT] = {
#define XP_KEY_NAME(key, name) [XP_KEY_##key] = XP_STR_INIT(name),
    XP_KEYS(XP_KEY_NAME)
#undef XP_KEY_NAME
};

const char *xp_key_name(xp_key key)
{
  return key > XP_KEY_NONE && key < XP_KEY_COUNT ? names[key].ptr : "";
}

xp_key xp_key_find(xp_str name)
{
  for (int key = XP_KEY_NONE + 1; key < XP_KEY_COUNT; key++) {
    if (xp_str_eq(names[key], name)) {
      return (xp_key)key;
    }
  }
  /* libtpu 0.0.37 wrote it like this. */
  return xp_str_is(name, "HLO Proto") ? XP_KEY_HLO_PROTO : XP_KEY_NONE;
}

uint32_t xp_key_flags(xp_key key)
{
  switch (key) {
  case XP_KEY_HLO_OP:
    return XP_EVENT_HLO_OP;
  case XP_KEY_STEP_NUM:
    return XP_EVENT_STEP;
  case XP_KEY_ROOT:
    return XP_STAT_IS_ROOT;
  case XP_KEY_RUN_ID:
  case XP_KEY_CORRELATION_ID:
    return XP_EVENT_LINK;
  case XP_KEY_PRODUCER:
  case XP_KEY_CONSUMER:
    return XP_EVENT_FLOW;
  default:
    return 0;
  }
}
