/* Servers that are not ours, or none: the client tells each way for a call to fail apart, and says so in words.
 *
 * A peer is a thread that takes one connection, reads what the client says for a moment, says its words, and closes or
 * stays silent.
 */
#include "http2_bytes.h"

typedef struct {
  int listener;
  uint16_t port;
  xp_str words;
  bool stays; /* silent, until the client closes */
  pthread_t thread;
} peer;

static int listen_anywhere(uint16_t *port)
{
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = loopback_at(0);
  socklen_t len = sizeof address;
  assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(fd, 8), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
  *port = ntohs(address.sin_port);
  return fd;
}

static void *be_peer(void *argument)
{
  peer *p = argument;
  int fd = accept(p->listener, NULL, NULL);
  char buffer[4096];
  bool closed;
  (void)raw_read(fd, buffer, sizeof buffer, 100, &closed);
  (void)raw_send(fd, p->words.ptr, p->words.len);
  if (!p->stays) {
    shutdown(fd, SHUT_WR);
  }
  (void)raw_is_closed(fd, p->stays ? 20000 : 2000); /* a close with words unread would be a reset */
  close(fd);
  return NULL;
}

/* Calls a peer that says these words. */
static xp_grpc_answer call_peer(xp_str words, bool stays, uint64_t timeout_ms)
{
  peer p = {.words = words, .stays = stays};
  p.listener = listen_anywhere(&p.port);
  assert_int_equal(pthread_create(&p.thread, NULL, be_peer, &p), 0);
  reply_check reply = {0};
  xp_grpc_answer answer;
  xp_grpc_request request = request_to(p.port, "/t/Echo", xp_str_c("x"), &reply);
  request.connect_timeout_ns = 500u * (uint64_t)XP_NS_IN_MS;
  request.timeout_ns = timeout_ms * (uint64_t)XP_NS_IN_MS;
  xp_grpc_unary(&request, &answer);
  pthread_join(p.thread, NULL);
  close(p.listener);
  return answer;
}

static void assert_told(xp_grpc_answer answer, xp_grpc_end end, const char *message)
{
  assert_end(&answer, end);
  assert_contains(answer.message, message);
}

/* ---------------------------------------------------------------- no HTTP/2 */

static void http_1_servers_are_known(void **state)
{
  (void)state;
  xp_grpc_answer answer = call_peer(xp_str_c("HTTP/1.1 400 Bad Request\r\n\r\n<html>"), false, 5000);
  assert_told(answer, XP_GRPC_END_NOT_GRPC,
              "is an HTTP/1 server, not a profiler server (it says \"HTTP/1.1 400 Bad Request\")");
}

static void pages_without_a_header_are_known(void **state)
{
  (void)state; /* Python's http.server answers so */
  xp_grpc_answer answer = call_peer(xp_str_c("<!DOCTYPE HTML>\n<html>"), true, 5000);
  assert_told(answer, XP_GRPC_END_NOT_GRPC, "does not speak gRPC (its answer begins \"<!DOCTYPE HTML>\")");
}

static void ssh_servers_are_known(void **state)
{
  (void)state;
  xp_grpc_answer answer = call_peer(xp_str_c("SSH-2.0-OpenSSH_9.2p1\r\n"), true, 5000);
  assert_told(answer, XP_GRPC_END_NOT_GRPC, "is an SSH server (it says \"SSH-2.0-OpenSSH_9.2p1\")");
}

static void tls_servers_are_known(void **state)
{
  (void)state;
  xp_grpc_answer answer = call_peer(xp_str_from("\x15\3\1\0\2\2\x16", 7), false, 5000); /* alert: record overflow */
  assert_told(answer, XP_GRPC_END_NOT_GRPC, "speaks TLS");
}

static void two_bytes_and_an_end_are_no_http_2(void **state)
{
  (void)state;
  assert_told(call_peer(xp_str_c("+O"), false, 5000), XP_GRPC_END_NOT_GRPC, "its answer begins \"+O\"");
}

static void silence_has_its_own_limit(void **state)
{
  (void)state;
  int64_t start = xp_monotonic_ns();
  assert_told(call_peer(xp_str_c(""), true, 60000), XP_GRPC_END_TIMEOUT, "took the connection but says nothing");
  assert_in_range(xp_monotonic_ns() - start, 500 * XP_NS_IN_MS, 3 * XP_NS_IN_S);
}

static void a_close_without_a_word_is_a_lost_connection(void **state)
{
  (void)state;
  assert_told(call_peer(xp_str_c(""), false, 5000), XP_GRPC_END_LOST, "closed it without a word");
}

/* ---------------------------------------------------------------- nobody */

static void nobody_listens(void **state)
{
  (void)state;
  uint16_t port;
  close(listen_anywhere(&port));
  xp_grpc_answer answer;
  xp_grpc_request request = request_to(port, "/t/Echo", xp_str_c("x"), &(reply_check){0});
  strcpy(request.target.host, "localhost");
  xp_grpc_unary(&request, &answer);
  assert_told(answer, XP_GRPC_END_NO_LISTENER, "Nothing listens on localhost:");
  strcpy(request.target.host, "::1");
  xp_grpc_unary(&request, &answer);
  assert_told(answer, XP_GRPC_END_NO_LISTENER, "Nothing listens on [::1]:");
}

static void names_without_an_address_are_told(void **state)
{
  (void)state;
  xp_grpc_answer answer;
  xp_grpc_request request = request_to(9, "/t/Echo", xp_str_c("x"), &(reply_check){0});
  strcpy(request.target.host, "no such host");
  xp_grpc_unary(&request, &answer);
  assert_told(answer, XP_GRPC_END_NO_ADDRESS, "The host no such host has no address");
}

static void a_queue_that_is_full_is_a_timeout(void **state)
{
  (void)state;
  uint16_t port;
  int listener = listen_anywhere(&port);
  assert_int_equal(listen(listener, 0), 0); /* one connection waits in the queue, the next hears nothing */
  int waiting[4];
  for (int i = 0; i < 4; i++) {
    waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = loopback_at(port);
    (void)connect(waiting[i], (struct sockaddr *)&address, sizeof address);
  }
  nap_ms(50);
  xp_grpc_answer answer;
  xp_grpc_request request = request_to(port, "/t/Echo", xp_str_c("x"), &(reply_check){0});
  request.connect_timeout_ns = 300u * (uint64_t)XP_NS_IN_MS;
  xp_grpc_unary(&request, &answer);
  assert_told(answer, XP_GRPC_END_TIMEOUT, "does not answer: the host is down or a firewall is in between");
  for (int i = 0; i < 4; i++) {
    close(waiting[i]);
  }
  close(listener);
}

static void a_flag_that_is_set_before_ends_the_call_at_once(void **state)
{
  (void)state;
  int flag = 1;
  uint16_t port;
  int listener = listen_anywhere(&port);
  xp_grpc_answer answer;
  xp_grpc_request request = request_to(port, "/t/Echo", xp_str_c("x"), &(reply_check){0});
  request.cancel = &flag;
  xp_grpc_unary(&request, &answer);
  assert_told(answer, XP_GRPC_END_CANCELLED, "was given up");
  close(listener);
}

/* ---------------------------------------------------------------- HTTP/2 */

/* Calls a peer that says SETTINGS and these frames. */
static xp_grpc_answer call_http2(const bytes *frames, bool stays)
{
  bytes b = {0};
  put_frame(&b, SETTINGS, 0, 0, "", 0);
  put(&b, frames->data, frames->len);
  xp_grpc_answer answer = call_peer(xp_str_from((char *)b.data, b.len), stays, 2000);
  free(b.data);
  return answer;
}

static void put_response(bytes *b, const char *status, const char *content_type, uint8_t flags)
{
  bytes block = {0};
  put_header(&block, 0, ":status", status);
  put_header(&block, 0, "content-type", content_type);
  put_frame(b, HEADERS, END_HEADERS | flags, 1, block.data, block.len);
  free(block.data);
}

static void put_trailers(bytes *b, const char *status, const char *message)
{
  bytes block = {0};
  put_header(&block, 0, "grpc-status", status);
  if (message != NULL) {
    put_header(&block, 0, "grpc-message", message);
  }
  put_frame(b, HEADERS, END_HEADERS | END_STREAM, 1, block.data, block.len);
  free(block.data);
}

static void an_answer_by_hand_is_understood(void **state)
{
  (void)state;
  bytes b = {0};
  put_response(&b, "200", "application/grpc", 0);
  put_message(&b, 1, "abc", 0);
  put_trailers(&b, "0", NULL);
  xp_grpc_answer answer = call_http2(&b, true);
  assert_status(&answer, XP_GRPC_OK, "");
  assert_int_equal(answer.reply_bytes, 3);
  b.len = 0;
  put_response(&b, "200", "application/grpc", 0);
  put_trailers(&b, "13", "caf%C3%A9");
  answer = call_http2(&b, true);
  assert_status(&answer, XP_GRPC_INTERNAL, "caf\xc3\xa9");
  free(b.data);
}

static void web_servers_of_http_2_are_known(void **state)
{
  (void)state;
  bytes b = {0};
  put_response(&b, "404", "text/html", 0);
  assert_told(call_http2(&b, true), XP_GRPC_END_NOT_GRPC,
              "speaks HTTP/2 but not gRPC: it answered with HTTP status 404 and content type \"text/html\"");
  free(b.data);
}

static void an_answer_without_a_status_is_not_grpc(void **state)
{
  (void)state;
  bytes b = {0};
  put_response(&b, "200", "application/grpc", 0);
  put_message(&b, 1, "abc", END_STREAM);
  assert_told(call_http2(&b, true), XP_GRPC_END_NOT_GRPC, "without a status of gRPC");
  free(b.data);
}

static void ok_without_a_message_is_not_grpc(void **state)
{
  (void)state;
  bytes b = {0};
  put_response(&b, "200", "application/grpc", 0);
  put_trailers(&b, "0", NULL);
  assert_told(call_http2(&b, true), XP_GRPC_END_NOT_GRPC, "answered OK, but without a message");
  free(b.data);
}

static void ok_inside_of_the_message_is_a_lost_answer(void **state)
{
  (void)state;
  bytes b = {0};
  put_response(&b, "200", "application/grpc", 0);
  put_frame(&b, DATA, 0, 1, "\0\0\0\0\7abc", 8);
  put_trailers(&b, "0", NULL);
  assert_told(call_http2(&b, true), XP_GRPC_END_LOST, "ends inside of its message");
  free(b.data);
}

static void two_messages_or_a_compressed_one_are_refused(void **state)
{
  (void)state;
  bytes b = {0};
  put_response(&b, "200", "application/grpc", 0);
  put_message(&b, 1, "abc", 0);
  put_message(&b, 1, "abc", 0);
  assert_told(call_http2(&b, true), XP_GRPC_END_NOT_GRPC, "more than one message");
  b.len = 0;
  put_response(&b, "200", "application/grpc", 0);
  put_frame(&b, DATA, 0, 1, "\1\0\0\0\1z", 6);
  assert_told(call_http2(&b, true), XP_GRPC_END_NOT_GRPC, "compressed message");
  free(b.data);
}

static void a_reset_in_the_middle_is_told_with_its_reason(void **state)
{
  (void)state;
  bytes b = {0};
  put_response(&b, "200", "application/grpc", 0);
  put_frame(&b, DATA, 0, 1, "\0\0\0\0\7abc", 8);
  put_frame(&b, RST_STREAM, 0, 1, "\0\0\0\2", 4);
  xp_grpc_answer answer = call_http2(&b, true);
  assert_told(answer, XP_GRPC_END_LOST, "broke the call off (INTERNAL_ERROR)");
  assert_int_equal(answer.reply_bytes, 3);
  free(b.data);
}

static void a_close_in_the_middle_is_a_lost_answer(void **state)
{
  (void)state;
  bytes b = {0};
  put_response(&b, "200", "application/grpc", 0);
  put_frame(&b, DATA, 0, 1, "\0\0\0\0\7abc", 8);
  assert_told(call_http2(&b, false), XP_GRPC_END_LOST, "closed the connection before its answer was whole");
  free(b.data);
}

static void a_goaway_is_told_with_its_reason(void **state)
{
  (void)state;
  bytes b = {0};
  put_frame(&b, GOAWAY, 0, 0, "\0\0\0\0\0\0\0\13too_many_pings", 22);
  assert_told(call_http2(&b, true), XP_GRPC_END_LOST, "takes no more calls (ENHANCE_YOUR_CALM, too_many_pings)");
  b.len = 0;
  put_frame(&b, GOAWAY, 0, 0, "\0\0\0\1\0\0\0\0", 8); /* this call may still end */
  put_response(&b, "200", "application/grpc", 0);
  put_message(&b, 1, "abc", 0);
  put_trailers(&b, "0", NULL);
  xp_grpc_answer answer = call_http2(&b, true);
  assert_status(&answer, XP_GRPC_OK, "");
  free(b.data);
}

static void broken_http_2_is_told(void **state)
{
  (void)state;
  bytes b = {0};
  put_frame(&b, HEADERS, END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  assert_told(call_http2(&b, true), XP_GRPC_END_LOST, "The connection to 127.0.0.1:");
  free(b.data);
}

static void a_server_that_does_not_answer_is_a_timeout(void **state)
{
  (void)state;
  bytes b = {0};
  int64_t start = xp_monotonic_ns();
  assert_told(call_http2(&b, true), XP_GRPC_END_TIMEOUT, "did not answer in time");
  assert_in_range(xp_monotonic_ns() - start, 2 * XP_NS_IN_S, 4 * XP_NS_IN_S);
}

static int fds_before;

static int count_before(void **state)
{
  (void)state;
  fds_before = count_fds();
  return 0;
}

static int compare_after(void **state)
{
  (void)state;
  assert_int_equal(count_fds(), fds_before);
  return 0;
}

#define COUNTED(test) cmocka_unit_test_setup_teardown(test, count_before, compare_after)

int main(void)
{
  const struct CMUnitTest tests[] = {
      COUNTED(http_1_servers_are_known),
      COUNTED(pages_without_a_header_are_known),
      COUNTED(ssh_servers_are_known),
      COUNTED(tls_servers_are_known),
      COUNTED(two_bytes_and_an_end_are_no_http_2),
      COUNTED(silence_has_its_own_limit),
      COUNTED(a_close_without_a_word_is_a_lost_connection),
      COUNTED(nobody_listens),
      COUNTED(names_without_an_address_are_told),
      COUNTED(a_queue_that_is_full_is_a_timeout),
      COUNTED(a_flag_that_is_set_before_ends_the_call_at_once),
      COUNTED(an_answer_by_hand_is_understood),
      COUNTED(web_servers_of_http_2_are_known),
      COUNTED(an_answer_without_a_status_is_not_grpc),
      COUNTED(ok_without_a_message_is_not_grpc),
      COUNTED(ok_inside_of_the_message_is_a_lost_answer),
      COUNTED(two_messages_or_a_compressed_one_are_refused),
      COUNTED(a_reset_in_the_middle_is_told_with_its_reason),
      COUNTED(a_close_in_the_middle_is_a_lost_answer),
      COUNTED(a_goaway_is_told_with_its_reason),
      COUNTED(broken_http_2_is_told),
      COUNTED(a_server_that_does_not_answer_is_a_timeout),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
