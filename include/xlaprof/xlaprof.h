/* All of libxlaprof. */
#ifndef XLAPROF_XLAPROF_H
#define XLAPROF_XLAPROF_H

#include "xlaprof/annotate.h"
#include "xlaprof/capture.h"
#include "xlaprof/error.h"
#include "xlaprof/metrics.h"
#include "xlaprof/server.h"
#include "xlaprof/session.h"

#endif
