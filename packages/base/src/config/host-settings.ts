// Settings of the host names that a listening service accepts.
import { setting } from "./config.ts";

const NAME = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;
const NAMES_MAX = 100;

export const HOST_SETTINGS = {
  allowedHosts: setting<readonly string[] | null>(
    "ALLOWED_HOSTS",
    { type: "list of hosts", fallback: null, limits: `up to ${NAMES_MAX} names, comma-separated` },
    {
      meaning:
        "Host header names to accept in addition to this machine's own; `*.example.com` matches every subdomain. Default: no other name on loopback, any name elsewhere. Outside loopback, IP addresses always pass.",
    },
    (text) => {
      const names = text.split(",").map((name) => name.trim().toLowerCase());
      const bad = names.find((name) => !NAME.test(name));
      if (bad !== undefined) throw new Error(`"${bad}" is not a host name without a port`);
      if (names.length > NAMES_MAX) throw new Error(`has more than ${NAMES_MAX} names`);
      return names;
    },
  ),
} as const;
