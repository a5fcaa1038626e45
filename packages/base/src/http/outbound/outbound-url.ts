// Outbound URL: may the server send a request to a URL that an outside caller chose? Checks the URL alone. Pure.
// Invariants:
//   outbound-url.1. The check uses the parsed URL: every notation of an address (decimal, octal, hex, percent) is the
//        same.
//   - guarded-post.ts checks the resolved address again at connect time: this check only gives early feedback.
import type { BlockList } from "node:net";
import { isIP } from "node:net";
import { isAllowedAddress, networks } from "./public-address.ts";

/** Allowed destinations. The default is public addresses over https. */
export interface OutboundRules {
  readonly requireHttps: boolean;
  /** `hooks.example.com`, or `*.example.com` for all subdomains; null for every name. */
  readonly domains: readonly string[] | null;
  readonly ports: readonly number[] | null;
  readonly urlUnitsMax: number;
  /** Non-public networks to allow, in CIDR form. */
  readonly networks: readonly string[];
}

export type CheckedUrl =
  | { readonly kind: "allowed"; readonly url: URL; readonly open: BlockList }
  | { readonly kind: "refused"; readonly reason: string };

export function checkOutboundUrl(text: string, rules: OutboundRules): CheckedUrl {
  const refused = (reason: string): CheckedUrl => ({ kind: "refused", reason });
  if (text.length > rules.urlUnitsMax) return refused(`the URL has more than ${rules.urlUnitsMax} characters`);
  if (text.startsWith("/")) return refused("a URL without a host names a route of this server, and no route matches");
  if (!URL.canParse(text)) return refused("not an absolute URL");
  const url = new URL(text); // outbound-url.1
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return refused(`${url.protocol} is not supported, only https`);
  if (url.protocol === "http:" && rules.requireHttps) return refused("only https is allowed");
  if (url.username !== "" || url.password !== "") return refused("a URL must not contain credentials");
  if (url.hostname === "") return refused("the URL has no host");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (rules.ports !== null && !rules.ports.includes(port)) return refused(`port ${port} is not allowed`);
  const host = readHost(url);
  if (rules.domains !== null && !rules.domains.some((domain) => fits(host, domain)))
    return refused(`host ${host} is not allowed`);
  const open = networks(rules.networks);
  const address = isIP(host) > 0 ? host : isLocalName(host) ? "127.0.0.1" : null;
  if (address !== null && !isAllowedAddress(address, open)) return refused(`${host} is not a public address`);
  return { kind: "allowed", url, open };
}

/** Whether a list contains the host of this URL. */
export function isNamed(url: string, domains: readonly string[]): boolean {
  const host = URL.canParse(url) ? readHost(new URL(url)) : "";
  return host !== "" && domains.some((domain) => fits(host, domain));
}

/** Without the brackets of an IPv6 address and without a trailing dot. */
export function readHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function fits(host: string, domain: string): boolean {
  const wanted = domain.toLowerCase();
  return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
}
