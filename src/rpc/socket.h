/* What both ends set on a connected socket. */
#ifndef XP_RPC_SOCKET_H
#define XP_RPC_SOCKET_H

/* Sends small frames at once, and notices within a minute that the other machine has vanished: a kept call may last for
 * hours without a byte.  Sockets that cannot do that work without it. */
void xp_grpc_socket_set_up(int fd);

#endif
