/* Stands in for GnuTLS where libmicrohttpd is linked in.
 *
 * Debian builds libmicrohttpd with TLS, so that its archive names functions of GnuTLS.  The viewer serves the loopback
 * interface without TLS and never asks for it, so none of them is called but the two that start and end the library.
 * GnuTLS and what it needs cannot be linked in (p11-kit exists as a shared library only), and would be larger than the
 * program.  Whoever calls one of these is told that it failed. */

enum { FAILED = -1 };

/* The list is what the archive leaves undefined: nm libmicrohttpd.a | grep ' U gnutls'. */
#define FUNCTIONS(X)                                                                                                   \
  X(gnutls_alpn_set_protocols)                                                                                         \
  X(gnutls_bye)                                                                                                        \
  X(gnutls_certificate_allocate_credentials)                                                                           \
  X(gnutls_certificate_free_credentials)                                                                               \
  X(gnutls_certificate_server_set_request)                                                                             \
  X(gnutls_certificate_set_dh_params)                                                                                  \
  X(gnutls_certificate_set_retrieve_function2)                                                                         \
  X(gnutls_certificate_set_retrieve_function3)                                                                         \
  X(gnutls_certificate_set_x509_key_mem)                                                                               \
  X(gnutls_certificate_set_x509_key_mem2)                                                                              \
  X(gnutls_certificate_set_x509_trust_mem)                                                                             \
  X(gnutls_cipher_get)                                                                                                 \
  X(gnutls_credentials_set)                                                                                            \
  X(gnutls_deinit)                                                                                                     \
  X(gnutls_dh_params_deinit)                                                                                           \
  X(gnutls_dh_params_import_pkcs3)                                                                                     \
  X(gnutls_dh_params_init)                                                                                             \
  X(gnutls_handshake)                                                                                                  \
  X(gnutls_init)                                                                                                       \
  X(gnutls_priority_deinit)                                                                                            \
  X(gnutls_priority_init)                                                                                              \
  X(gnutls_priority_set)                                                                                               \
  X(gnutls_protocol_get_version)                                                                                       \
  X(gnutls_psk_allocate_server_credentials)                                                                            \
  X(gnutls_psk_free_server_credentials)                                                                                \
  X(gnutls_psk_set_server_credentials_function)                                                                        \
  X(gnutls_record_check_pending)                                                                                       \
  X(gnutls_record_get_direction)                                                                                       \
  X(gnutls_record_recv)                                                                                                \
  X(gnutls_record_send)                                                                                                \
  X(gnutls_session_get_ptr)                                                                                            \
  X(gnutls_session_set_ptr)                                                                                            \
  X(gnutls_transport_set_int2)

#define STAND_IN(name)                                                                                                 \
  int name(void);                                                                                                      \
  int name(void)                                                                                                       \
  {                                                                                                                    \
    return FAILED;                                                                                                     \
  }
FUNCTIONS(STAND_IN)

int gnutls_global_init(void);
int gnutls_global_init(void)
{
  return 0;
}

void gnutls_global_deinit(void);
void gnutls_global_deinit(void)
{
}

const char *gnutls_strerror(int error);
const char *gnutls_strerror(int error)
{
  (void)error;
  return "this program has no TLS";
}

void *(*gnutls_malloc)(unsigned long size);
