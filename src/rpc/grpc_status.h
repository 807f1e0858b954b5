/* The status codes of gRPC, with their numbers on the wire. */
#ifndef XP_RPC_GRPC_STATUS_H
#define XP_RPC_GRPC_STATUS_H

typedef enum {
  XP_GRPC_OK = 0,
  XP_GRPC_CANCELLED = 1,
  XP_GRPC_UNKNOWN = 2,
  XP_GRPC_INVALID_ARGUMENT = 3,
  XP_GRPC_DEADLINE_EXCEEDED = 4,
  XP_GRPC_NOT_FOUND = 5,
  XP_GRPC_ALREADY_EXISTS = 6,
  XP_GRPC_PERMISSION_DENIED = 7,
  XP_GRPC_RESOURCE_EXHAUSTED = 8,
  XP_GRPC_FAILED_PRECONDITION = 9,
  XP_GRPC_ABORTED = 10,
  XP_GRPC_OUT_OF_RANGE = 11,
  XP_GRPC_UNIMPLEMENTED = 12,
  XP_GRPC_INTERNAL = 13,
  XP_GRPC_UNAVAILABLE = 14,
  XP_GRPC_DATA_LOSS = 15,
  XP_GRPC_UNAUTHENTICATED = 16
} xp_grpc_code;

/* "UNAVAILABLE"; "code 99" for numbers that the protocol does not know (in a static buffer of the calling thread). */
const char *xp_grpc_code_name(int code);

#endif
