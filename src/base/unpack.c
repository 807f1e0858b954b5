/* Unpacking of unknown size without copying: the destination is a mapping that mremap makes longer.
 *
 * Doubling asks for addresses only; pages become resident when the unpacker writes them, and the rest is given back at
 * the end.  So the peak is the unpacked size plus a huge page.
 */
#define _GNU_SOURCE
#include "base/unpack.h"

#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/pages.h"

enum { FIRST_MAPPING = 4 << 20, PIECE = 1 << 20 };

xp_status xp_page_buffer_reserve(xp_page_buffer *buffer, size_t more)
{
  if (more > XP_UNPACK_LIMIT || buffer->len > XP_UNPACK_LIMIT - more) {
    return XP_ERR_LIMIT;
  }
  size_t size = buffer->mapped == 0 ? FIRST_MAPPING : buffer->mapped;
  while (size - buffer->len < more) {
    size *= 2;
  }
  if (size == buffer->mapped) {
    return XP_OK;
  }
  void *data = buffer->mapped == 0
                   ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                   : mremap(buffer->data, buffer->mapped, size, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) {
    return XP_ERR_MEMORY;
  }
  madvise(data, size, MADV_HUGEPAGE);
  buffer->data = data;
  buffer->mapped = size;
  return XP_OK;
}

void xp_page_buffer_trim(xp_page_buffer *buffer)
{
  size_t page = xp_page_bytes(), keep = (buffer->len + page - 1) / page * page;
  if (keep > 0 && keep < buffer->mapped) {
    void *data = mremap(buffer->data, buffer->mapped, keep, 0);
    if (data != MAP_FAILED) {
      buffer->mapped = keep;
    }
  }
}

void xp_page_buffer_free(xp_page_buffer *buffer)
{
  if (buffer->mapped > 0) {
    munmap(buffer->data, buffer->mapped);
  }
  memset(buffer, 0, sizeof *buffer);
}

static bool is_gzip(xp_str s)
{
  return s.len >= 3 && memcmp(s.ptr, "\x1f\x8b\x08", 3) == 0;
}

static bool is_zstd(xp_str s)
{
  return s.len >= 4 && memcmp(s.ptr, "\x28\xb5\x2f\xfd", 4) == 0;
}

bool xp_is_packed(xp_str bytes)
{
  return is_gzip(bytes) || is_zstd(bytes);
}

/* Unpacks one gzip member and moves *packed behind it. */
static xp_status unpack_member(z_stream *z, xp_str *packed, xp_page_buffer *buffer)
{
  for (;;) {
    xp_status status = xp_page_buffer_reserve(buffer, PIECE);
    if (status != XP_OK) {
      return status;
    }
    size_t room = buffer->mapped - buffer->len;
    z->next_in = (Bytef *)(uintptr_t)packed->ptr;
    z->avail_in = (uInt)(packed->len < 1u << 30 ? packed->len : 1u << 30);
    z->next_out = (Bytef *)buffer->data + buffer->len;
    z->avail_out = (uInt)(room < 1u << 30 ? room : 1u << 30);
    size_t in = z->avail_in, out = z->avail_out;
    int code = inflate(z, Z_NO_FLUSH);
    *packed = xp_str_skip(*packed, in - z->avail_in);
    buffer->len += out - z->avail_out;
    if (code == Z_STREAM_END) {
      return XP_OK;
    }
    if (code == Z_MEM_ERROR) {
      return XP_ERR_MEMORY;
    }
    if (code != Z_OK && code != Z_BUF_ERROR) {
      return XP_ERR_FORMAT;
    }
    if (packed->len == 0 && z->avail_out > 0) {
      return XP_ERR_TRUNCATED;
    }
  }
}

/* Archives are padded with zeros. */
static bool is_padding(xp_str s)
{
  for (size_t i = 0; i < s.len; i++) {
    if (s.ptr[i] != '\0') {
      return false;
    }
  }
  return true;
}

static xp_status unpack_gzip(xp_str packed, xp_page_buffer *buffer, const char **what)
{
  z_stream z = {0};
  if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) {
    return XP_ERR_MEMORY;
  }
  xp_status status;
  do {
    status = unpack_member(&z, &packed, buffer);
  } while (status == XP_OK && is_gzip(packed) && inflateReset(&z) == Z_OK);
  inflateEnd(&z);
  if (status == XP_OK && !is_padding(packed)) {
    *what = "bytes that are no gzip data follow";
    status = XP_ERR_FORMAT;
  }
  return status;
}

static xp_status unpack_zstd(xp_str packed, xp_page_buffer *buffer)
{
  ZSTD_DStream *stream = ZSTD_createDStream();
  if (stream == NULL) {
    return XP_ERR_MEMORY;
  }
  ZSTD_inBuffer in = {packed.ptr, packed.len, 0};
  xp_status status = XP_OK;
  for (size_t left = 1; status == XP_OK && (in.pos < in.size || left > 0);) {
    status = xp_page_buffer_reserve(buffer, PIECE);
    if (status != XP_OK) {
      break;
    }
    ZSTD_outBuffer out = {buffer->data + buffer->len, buffer->mapped - buffer->len, 0};
    left = ZSTD_decompressStream(stream, &out, &in);
    buffer->len += out.pos;
    if (ZSTD_isError(left)) {
      status = ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? XP_ERR_MEMORY : XP_ERR_FORMAT;
    } else if (left > 0 && in.pos == in.size && out.pos < out.size) {
      status = XP_ERR_TRUNCATED;
    }
  }
  ZSTD_freeDStream(stream);
  return status;
}

xp_status xp_unpack(xp_str packed, xp_page_buffer *buffer, const char **what)
{
  bool gzip = is_gzip(packed);
  xp_status status = gzip ? unpack_gzip(packed, buffer, what) : unpack_zstd(packed, buffer);
  if (status == XP_ERR_TRUNCATED) {
    *what = gzip ? "the gzip stream ends early" : "the zstd stream ends early";
  } else if (status == XP_ERR_FORMAT && *what == NULL) {
    *what = gzip ? "the gzip stream is damaged" : "the zstd stream is damaged";
  }
  return status;
}
