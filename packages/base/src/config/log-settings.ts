// Log settings, shared by every service.
import { boolean, choice } from "./config.ts";
import { LOG_LEVELS } from "../log/log.ts";

export const LOG_SETTINGS = {
  logLevel: choice("LOG_LEVEL", "info", LOG_LEVELS, { meaning: "Lowest severity that the log writes." }),
  logJson: boolean("LOG_JSON", null, {
    meaning: "One JSON object a log line. Default: true unless the output is a terminal.",
  }),
} as const;
