// Settings of the log, which every service has.
import { boolean, choice } from "./config.ts";
import { LOG_LEVELS } from "./log.ts";

export const LOG_SETTINGS = {
  logLevel: choice("LOG_LEVEL", "info", LOG_LEVELS, { meaning: "Least severe log line that is written." }),
  logJson: boolean("LOG_JSON", null, {
    meaning: "One JSON object a log line. Default: true unless the output is a terminal.",
  }),
} as const;
