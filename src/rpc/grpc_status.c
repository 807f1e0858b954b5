/* Names of the status codes. */
#include "rpc/grpc_status.h"

#include <stddef.h>
#include <stdio.h>

static const char *const NAMES[] = {
    [XP_GRPC_OK] = "OK",
    [XP_GRPC_CANCELLED] = "CANCELLED",
    [XP_GRPC_UNKNOWN] = "UNKNOWN",
    [XP_GRPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
    [XP_GRPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
    [XP_GRPC_NOT_FOUND] = "NOT_FOUND",
    [XP_GRPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
    [XP_GRPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
    [XP_GRPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
    [XP_GRPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
    [XP_GRPC_ABORTED] = "ABORTED",
    [XP_GRPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
    [XP_GRPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
    [XP_GRPC_INTERNAL] = "INTERNAL",
    [XP_GRPC_UNAVAILABLE] = "UNAVAILABLE",
    [XP_GRPC_DATA_LOSS] = "DATA_LOSS",
    [XP_GRPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *xp_grpc_code_name(int code)
{
  if (code >= 0 && (size_t)code < sizeof NAMES / sizeof NAMES[0]) {
    return NAMES[code];
  }
  static _Thread_local char text[24];
  snprintf(text, sizeof text, "code %d", code);
  return text;
}
