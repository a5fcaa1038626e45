// Settings of the parts that the console shows beside the agent server: traces and a collector.
import { setting, text } from "@holdpoint/base/config/config.ts";
import { INGEST_SETTINGS } from "@holdpoint/base/config/shared-settings.ts";

function readAddress(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error("is not a URL: write http://host:port or https://host");
  if (url.username !== "" || url.password !== "") throw new Error("must not contain a user or a password");
  if (url.search !== "" || url.hash !== "") throw new Error("has a query or a fragment");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function readTraces(value: string): string {
  const word = value.trim().toLowerCase();
  if (word === "on" || word === "off") return word;
  try {
    return readAddress(value);
  } catch {
    throw new Error("is neither on, off nor an address such as http://127.0.0.1:4319");
  }
}

export const PARTS_SETTINGS = {
  traces: setting<string>(
    "TRACES",
    { type: "choice or URL", fallback: "off", limits: "off, on, or http or https" },
    {
      meaning:
        "`on`: `holdpoint serve` also runs a collector on loopback and the local trace store, and the console shows the traces. `holdpoint dev` always does. An address: the console shows the traces of another process, `http://127.0.0.1:4319`, or `https://host/console/api` of another server.",
    },
    readTraces,
  ),
  tracesKey: text("TRACES_KEY", null, {
    meaning:
      "Key for the address in TRACES, sent as `x-api-key`. No page sees it. The role viewer reads, admin also erases.",
    secret: true,
  }),
  collectorUrl: setting<string | null>(
    "COLLECTOR_URL",
    { type: "URL", fallback: null, limits: "http or https" },
    {
      meaning:
        "Collector of another process, which the console shows: `http://host:4318`. Sample spans go there with INGEST_TOKEN.",
    },
    readAddress,
  ),
  ...INGEST_SETTINGS,
} as const;
