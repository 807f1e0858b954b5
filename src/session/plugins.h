/* The plugins that sessions trace: xp_session_add_plugin. */
#ifndef XP_SESSION_PLUGINS_H
#define XP_SESSION_PLUGINS_H

#include "session/profile.h"

/* Starts every plugin with a serialized ProfileOptions; those that fail leave a sentence in the profile.  The sessions
 * stand in profile->plugins, which has room for all. */
void xp_plugins_start(xp_profile *profile, xp_str options);

/* Stops them all, then collects from each. */
void xp_plugins_collect(xp_profile *profile);

#endif
