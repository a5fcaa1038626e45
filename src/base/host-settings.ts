// Settings of the names that a service is called by, which every service with a port has.
import { setting } from "./config.ts";

const NAME = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;
const NAMES_MAX = 100;

export const HOST_SETTINGS = {
  allowedHosts: setting<readonly string[] | null>(
    "ALLOWED_HOSTS",
    "list of hosts",
    null,
    `up to ${NAMES_MAX} names, with commas between them`,
    {
      meaning:
        "Names that the Host header may have, beside those of this machine; `*.example.com` stands for all below it. Without it, no other name on loopback and any name elsewhere; IP addresses pass elsewhere in any case.",
    },
    (text) => {
      const names = text.split(",").map((name) => name.trim().toLowerCase());
      const bad = names.find((name) => !NAME.test(name));
      if (bad !== undefined) throw new Error(`"${bad}" is no host name without a port`);
      if (names.length > NAMES_MAX) throw new Error(`has more than ${NAMES_MAX} names`);
      return names;
    },
  ),
} as const;
