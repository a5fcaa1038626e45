// Address: the URLs of the console and the API. Both derive from the URL of this file, in a build `<console>/assets/…`,
// so that they work below any prefix and behind any proxy.

const { origin, pathname } = new URL(import.meta.url);

/** `/console`, or with a prefix `/api/console`. */
export const CONSOLE_PATH = pathname.slice(0, pathname.lastIndexOf("/assets/"));

/** Prefix of the API's paths, without a trailing slash. */
export const API_URL = origin + CONSOLE_PATH.slice(0, CONSOLE_PATH.lastIndexOf("/"));
