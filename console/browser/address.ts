// Address: where the console and the API are. Both follow from where this file was loaded from, which once built is
// `<console>/assets/…`, so that they are found below any prefix and behind any proxy.

const { origin, pathname } = new URL(import.meta.url);

/** `/console`, or with a prefix `/api/console`. */
export const CONSOLE_PATH = pathname.slice(0, pathname.lastIndexOf("/assets/"));

/** What the API's paths are put behind; without a slash at the end. */
export const API_URL = origin + CONSOLE_PATH.slice(0, CONSOLE_PATH.lastIndexOf("/"));
