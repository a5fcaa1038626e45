// Quiet log: a log that keeps its information back while a person reads a banner. Warnings and errors always pass.
import type { Log } from "@holdpoint/base/log/log.ts";

/** @param speaks whether information passes now */
export function quietLog(log: Log, speaks: () => boolean): Log {
  return {
    ...log,
    debug: (event, fields) => void (speaks() && log.debug(event, fields)),
    info: (event, fields) => void (speaks() && log.info(event, fields)),
  };
}
