// Webhooks section of langgraph.json → allowed destinations and headers of webhooks.
// Invariants:
//   - A destination needs a key that allows it.
//   - A header may use only variables meant for webhooks: their names begin with `env_prefix`.
//   - Headers may hold secrets, and callers choose addresses: headers go to `header_domains`, else to the names of
//     `url.allowed_domains`, and without either to no destination.
import { BlockList, isIP } from "node:net";
import * as z from "zod";
import type { WebhookPolicy } from "../../ports/ports.ts";

const URL_UNITS_MAX = 2048;
const ENV_PREFIX = "LG_WEBHOOK_";

const network = z.string().refine(isNetwork, 'must be a network such as "10.0.0.0/8", or an address');
const domain = z
  .string()
  .regex(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i, 'must be a name such as "hooks.example.com" or "*.example.com"');

export const WEBHOOKS_SECTION = z.looseObject({
  url: z
    .looseObject({
      require_https: z.boolean().optional(),
      allowed_domains: z.array(domain).min(1).optional(),
      allowed_ports: z.array(z.number().int().min(1).max(65_535)).min(1).optional(),
      allowed_networks: z.array(network).optional(),
      max_url_length: z.number().int().min(16).max(65_536).optional(),
      disable_loopback: z.boolean().optional(),
    })
    .optional(),
  headers: z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[^\r\n]*$/)).optional(),
  header_domains: z.array(domain).min(1).optional(),
  env_prefix: z.string().min(1).optional(),
});

type Section = z.infer<typeof WEBHOOKS_SECTION>;

/** @throws {Error} if a header names a variable that is unset or not meant for webhooks */
export function webhookPolicy(
  section: Section | undefined,
  env: Readonly<Record<string, string | undefined>>,
): WebhookPolicy {
  const { url = {}, headers = {}, header_domains: headerDomains, env_prefix: prefix = ENV_PREFIX } = section ?? {};
  return {
    requireHttps: url.require_https ?? true,
    domains: url.allowed_domains ?? null,
    ports: url.allowed_ports ?? null,
    urlUnitsMax: url.max_url_length ?? URL_UNITS_MAX,
    networks: url.allowed_networks ?? [],
    headerDomains: headerDomains ?? url.allowed_domains ?? [],
    ownRoutes: url.disable_loopback !== true,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), filled(name, value, prefix, env)]),
    ),
  };
}

const TEMPLATE = /\$\{\{\s*env\.(\w+)\s*\}\}/g;

/** The variables in headers. */
export function webhookVariables(section: Section | undefined): readonly string[] {
  return Object.values(section?.headers ?? {}).flatMap((value) =>
    [...value.matchAll(TEMPLATE)].map(([, name = ""]) => name),
  );
}

/** `Bearer ${{ env.LG_WEBHOOK_KEY }}` */
function filled(
  header: string,
  value: string,
  prefix: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  return value.replaceAll(TEMPLATE, (_, name: string) => {
    if (!name.startsWith(prefix)) throw new Error(`headers.${header}: ${name} does not begin with ${prefix}`);
    const found = env[name];
    if (found === undefined) throw new Error(`headers.${header}: ${name} must be set and is not`);
    return found.trim();
  });
}

const KNOWN = new Set(["url", "headers", "header_domains", "env_prefix"]);
const KNOWN_URL = new Set([
  "require_https",
  "allowed_domains",
  "allowed_ports",
  "allowed_networks",
  "max_url_length",
  "disable_loopback",
]);

export function webhooksRemarks(section: Section | undefined): readonly string[] {
  const unknown = [
    ...Object.keys(section ?? {}).filter((key) => !KNOWN.has(key)),
    ...Object.keys(section?.url ?? {}).flatMap((key) => (KNOWN_URL.has(key) ? [] : [`url.${key}`])),
  ];
  const isSentNowhere =
    Object.keys(section?.headers ?? {}).length > 0 &&
    section?.header_domains === undefined &&
    section?.url?.allowed_domains === undefined;
  const nowhere =
    '"webhooks.headers" are sent nowhere: name their receivers in "webhooks.url.allowed_domains" or "webhooks.header_domains"';
  return [
    ...(isSentNowhere ? [nowhere] : []),
    ...unknown.map((key) => `"webhooks.${key}" is not a known key and has no effect`),
  ];
}

function isNetwork(text: string): boolean {
  const [address = "", bits] = text.split("/");
  const version = isIP(address);
  if (version === 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return false;
  try {
    new BlockList().addSubnet(address, Number(bits ?? (version === 4 ? 32 : 128)), version === 4 ? "ipv4" : "ipv6");
    return true;
  } catch {
    return false;
  }
}
