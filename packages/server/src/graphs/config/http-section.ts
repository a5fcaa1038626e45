// HTTP section of langgraph.json → the routes, origins and headers of the server, and warnings about the rest.
import * as z from "zod";
import { compilePattern } from "@holdpoint/base/linear-pattern.ts";
import { sectionRemarks, unknownKey } from "./config-keys.ts";
import { EXPORT_PATH_FORM, parseExportPath, type ExportPath } from "./export-path.ts";

const texts = z.array(z.string().min(1).max(1024)).max(1000);
const PREFIX = /^(\/[\w~-][\w.~-]*)+\/?$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const headerNames = z.array(z.string().regex(HEADER_NAME, "is not a header name")).max(1000);

/** `include` is the older spelling of `includes`. */
const HEADER_RULES = z.looseObject({
  includes: headerNames.nullish(),
  excludes: headerNames.nullish(),
  include: headerNames.nullish(),
  exclude: headerNames.nullish(),
});

const DISABLED = ["assistants", "threads", "runs", "store", "meta", "crons", "inbox", "ui", "mcp", "a2a"] as const;

export const HTTP_SECTION = z.looseObject({
  app: z
    .string()
    .refine((text) => parseExportPath(text, "") !== null, EXPORT_PATH_FORM)
    .nullish(),
  enable_custom_route_auth: z.boolean().nullish(),
  middleware_order: z.enum(["auth_first", "middleware_first"]).nullish(),
  mount_prefix: z
    .string()
    .refine((text) => text === "" || text === "/" || PREFIX.test(text), 'is not of the form "/path"')
    .nullish(),
  ...Object.fromEntries(DISABLED.map((name) => [`disable_${name}`, z.boolean().nullish()] as const)),
  // its loss would send headers that the deployment excludes
  disable_webhooks: z
    .literal(false, 'this server cannot disable webhooks: limit their receivers in "webhooks.url.allowed_domains"')
    .nullish(),
  cors: z
    .looseObject({
      allow_origins: texts.nullish(),
      allow_origin_regex: z.string().refine(isPattern, "is not a regular expression that RE2 has").nullish(),
      allow_methods: texts.nullish(),
      allow_headers: headerNames.nullish(),
      allow_credentials: z.boolean().nullish(),
      expose_headers: headerNames.nullish(),
      max_age: z.number().int().min(0).max(86_400).nullish(),
    })
    .nullish(),
  configurable_headers: HEADER_RULES.nullish(),
});

type Section = z.infer<typeof HTTP_SECTION>;

export interface HttpConfig {
  readonly app: ExportPath | null;
  readonly customRouteAuth: boolean;
  readonly authBeforeMiddleware: boolean;
  /** `""`, or `/path`. */
  readonly mountPrefix: string;
  /** Names of the disabled route groups. */
  readonly disabled: readonly string[];
  readonly cors: CorsConfig | null;
  readonly configurableHeaders: HeaderConfig | null;
}

interface CorsConfig {
  /** Null without names and without a pattern: the default applies. */
  readonly origins: readonly string[] | null;
  readonly pattern: { readonly test: (text: string) => boolean } | null;
  readonly methods: readonly string[] | null;
  readonly headers: readonly string[] | null;
  readonly credentials: boolean;
  readonly exposed: readonly string[];
  readonly maxAgeSecs: number | null;
}

interface HeaderConfig {
  /** Names, in lower case; `*` stands for any characters. */
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
}

export function httpConfig(section: Section | null | undefined, folder: string): HttpConfig {
  const given: Section = section ?? {};
  return {
    app: typeof given.app === "string" ? parseExportPath(given.app, folder) : null,
    customRouteAuth: given.enable_custom_route_auth ?? true,
    authBeforeMiddleware: given.middleware_order === "auth_first",
    mountPrefix: (given.mount_prefix ?? "").replace(/\/$/, ""),
    disabled: DISABLED.filter((name) => given[`disable_${name}`] === true),
    cors: given.cors === null || given.cors === undefined ? null : corsConfig(given.cors),
    configurableHeaders: headerConfig(given.configurable_headers),
  };
}

function corsConfig(given: NonNullable<Section["cors"]>): CorsConfig {
  const { allow_origins: origins, allow_origin_regex: regex, allow_methods: methods, allow_headers: headers } = given;
  const named = (origins ?? null) !== null || (regex ?? null) !== null;
  return {
    origins: named ? (origins ?? []).map((origin) => origin.replace(/\/$/, "")) : null,
    pattern: regex === null || regex === undefined ? null : wholly(regex),
    methods: methods === null || methods === undefined || methods.includes("*") ? null : methods,
    headers: headers === null || headers === undefined || headers.includes("*") ? null : headers,
    credentials: given.allow_credentials ?? false,
    exposed: given.expose_headers ?? [],
    maxAgeSecs: given.max_age ?? null,
  };
}

/** The pattern covers the whole origin: one for a domain must not match origins that merely contain it. */
function wholly(regex: string): CorsConfig["pattern"] {
  return compilePattern(`^(?:${regex})$`);
}

function isPattern(text: string): boolean {
  return wholly(text) !== null;
}

function headerConfig(given: Section["configurable_headers"]): HeaderConfig | null {
  if (given === null || given === undefined) return null;
  const lower = (names: readonly string[] | null | undefined) => (names ?? []).map((name) => name.toLowerCase());
  return {
    includes: [...lower(given.includes), ...lower(given.include)],
    excludes: [...lower(given.excludes), ...lower(given.exclude)],
  };
}

const KNOWN = new Set(Object.keys(HTTP_SECTION.shape));
const WITHOUT_EFFECT = { logging_headers: "the log contains no headers of calls" };
const KNOWN_CORS = new Set([
  "allow_origins",
  "allow_origin_regex",
  "allow_methods",
  "allow_headers",
  "allow_credentials",
  "expose_headers",
  "max_age",
]);

export function httpRemarks(section: Section | null | undefined): readonly string[] {
  const given: Section = section ?? {};
  const remarks = [...sectionRemarks("http", given, KNOWN, WITHOUT_EFFECT)];
  for (const key of Object.keys(given.cors ?? {})) {
    if (!KNOWN_CORS.has(key)) remarks.push(unknownKey("http.cors.", key, KNOWN_CORS));
  }
  if (given.cors?.allow_credentials === true && given.cors.allow_origins?.includes("*") === true) {
    remarks.push('"http.cors.allow_credentials" has no effect on "*": name the origins that may send credentials');
  }
  return remarks;
}
