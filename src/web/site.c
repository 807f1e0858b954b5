/* Checks go from cheap to dear: method and headers, then the token, and only then is anything looked up. */
#include "web/site.h"

#include "web/assets.h"
#include "web/handlers.h"

typedef struct {
  const char *path; /* behind the token; a slash at the end stands for one more part */
  xp_web_handler *answer;
  xp_view_state from;
} route;

static const route routes[] = {
    {"data/meta", xp_web_meta, XP_VIEW_READING},        {"data/summary", xp_web_summary, XP_VIEW_INDEXING},
    {"data/tracks", xp_web_tracks, XP_VIEW_READY},      {"data/window", xp_web_window, XP_VIEW_READY},
    {"data/minimap", xp_web_minimap, XP_VIEW_INDEXING}, {"data/item", xp_web_item, XP_VIEW_READY},
    {"data/next", xp_web_next, XP_VIEW_READY},          {"data/sums", xp_web_sums, XP_VIEW_READY},
    {"data/search", xp_web_search, XP_VIEW_READY},      {"data/table/", xp_web_table, XP_VIEW_INDEXING},
};

static bool is_at(const route *r, xp_str path)
{
  size_t length = strlen(r->path);
  bool has_more = r->path[length - 1] == '/';
  return has_more ? xp_str_starts(path, r->path) && xp_str_find(path, '/', length) == path.len
                  : xp_str_is(path, r->path);
}

static void answer_data(const xp_site *site, const xp_query *query, xp_str path, xp_reply *reply)
{
  for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
    if (!is_at(&routes[i], path)) {
      continue;
    }
    if (routes[i].from != XP_VIEW_READING && !xp_viewer_at(site->viewer, routes[i].from)) {
      bool failed = atomic_load(&site->viewer->state) == XP_VIEW_FAILED;
      xp_reply_fail(reply, 503, "%s",
                    failed ? site->viewer->error.text : "The capture is still being read; ask again in a moment");
      return;
    }
    routes[i].answer(site->viewer, query, reply);
    return;
  }
  xp_reply_fail(reply, 404, "There are no such data");
}

/* False after a refusal. */
static bool is_welcome(const xp_request *request, xp_reply *reply)
{
  const char *refusal = xp_request_refusal(request);
  if (refusal != NULL) {
    xp_reply_fail(reply, 403, "%s", refusal);
  } else if (!xp_str_is(request->method, "GET") && !xp_str_is(request->method, "HEAD")) {
    xp_reply_fail(reply, 405, "This server only answers to GET and HEAD");
  } else if (request->has_body) {
    xp_reply_fail(reply, 413, "A request to this server has no body");
  } else {
    return true;
  }
  return false;
}

void xp_site_answer(const xp_site *site, const xp_request *request, xp_reply *reply)
{
  xp_query query;
  xp_str path;
  xp_reply_clear(reply);
  if (!is_welcome(request, reply)) {
    return;
  }
  xp_query_status status = xp_query_read(&query, request->target);
  if (status != XP_QUERY_OK) {
    xp_reply_fail(reply, status == XP_QUERY_LONG ? 414 : 400, "%s",
                  status == XP_QUERY_LONG ? "The address is too long" : "The address is not well-formed");
  } else if (!xp_path_after_token(query.path, site->token, &path)) {
    xp_reply_fail(reply, 403, "The address lacks its token: use the one that xlaprof view printed");
  } else if (xp_str_starts(path, "data/")) {
    answer_data(site, &query, path, reply);
  } else {
    xp_assets_answer(site->folder, path, reply);
  }
}
