// CORS: which other origins may read replies, and the reply to a preflight.
// Invariants:
//   cors.1. By default only pages from this machine may read replies, never with credentials.
//   cors.2. A preflight executes no route.
//   cors.3. Credentials need an origin that the rules name. "*" gets "*", which browsers never combine with
//        credentials.
//   cors.4. The headers that clients need to follow a run are always exposed.
export interface CorsRules {
  /** Origins as browsers send them, or "*". */
  readonly origins: readonly string[];
  /** Matches whole origins. */
  readonly pattern: { readonly test: (text: string) => boolean } | null;
  /** Null: the methods of the routes. */
  readonly methods: readonly string[] | null;
  /** Null: the headers that the page requests. */
  readonly headers: readonly string[] | null;
  readonly credentials: boolean;
  /** In addition to those of cors.4. */
  readonly exposed: readonly string[];
  readonly maxAgeSecs: number;
}

type Headers = Readonly<Record<string, string>>;

export interface Cors {
  /** Headers of a reply; none when the page may not read it. */
  readonly headers: (origin: string | undefined) => Headers;
  /** The page may read replies. */
  readonly allows: (origin: string | undefined) => boolean;
  /** Headers of the reply to a preflight (cors.2). */
  readonly preflight: (origin: string | undefined, requestedHeaders: string | undefined) => Headers;
}

const LOOPBACK_ORIGIN = /^https?:\/\/(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const EXPOSED = [
  "Content-Location",
  "Location",
  "Retry-After",
  "X-Pagination-Total",
  "X-Pagination-Next",
  "Mcp-Session-Id", // carries the capabilities of a client: without it a page would get no form
  "WWW-Authenticate",
];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const ORIGIN_UNITS_MAX = 512;

/** cors.1 */
export const LOOPBACK_CORS: CorsRules = {
  origins: [],
  pattern: LOOPBACK_ORIGIN,
  methods: null,
  headers: null,
  credentials: false,
  exposed: [],
  maxAgeSecs: 600,
};

export function createCors(rules: CorsRules): Cors {
  const exposed = [...EXPOSED, ...rules.exposed].join(", "); // cors.4
  const isNamed = (origin: string): boolean =>
    origin !== "*" && (rules.origins.includes(origin) || rules.pattern?.test(origin) === true);
  const allowed = (origin: string | undefined): Record<string, string> | null => {
    if (origin === undefined || origin.length > ORIGIN_UNITS_MAX) return null;
    if (isNamed(origin)) {
      const credentials = rules.credentials ? { "Access-Control-Allow-Credentials": "true" } : {};
      return { "Access-Control-Allow-Origin": origin, ...credentials, Vary: "Origin" };
    }
    return rules.origins.includes("*") ? { "Access-Control-Allow-Origin": "*", Vary: "Origin" } : null; // cors.3
  };
  return {
    allows: (origin) => allowed(origin) !== null,
    headers(origin) {
      const own = allowed(origin);
      return own === null ? {} : { ...own, "Access-Control-Expose-Headers": exposed };
    },
    preflight(origin, requestedHeaders) {
      const own = allowed(origin);
      if (own === null) return {};
      return {
        ...own,
        "Access-Control-Expose-Headers": exposed,
        "Access-Control-Allow-Methods": (rules.methods ?? METHODS).join(", "),
        "Access-Control-Allow-Headers": rules.headers?.join(", ") ?? requestedHeaders ?? "content-type",
        "Access-Control-Allow-Private-Network": "true",
        "Access-Control-Max-Age": String(rules.maxAgeSecs),
      };
    },
  };
}
