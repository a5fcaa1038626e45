// Start failure: why a service did not start, in the form of its log. Pure.
export interface StartFailure {
  readonly program: string;
  readonly message: string;
  readonly exitCode: number;
}

/** As its setting reads it: the setting may be the fault, so no other check applies. */
const IS_OFF = /^(false|0|no|off)$/i;

/** @param logJson `LOG_JSON` @returns a line of JSON where the log is JSON, else text */
export function formatStartFailure(
  { program, message, exitCode }: StartFailure,
  output: { readonly logJson: string | undefined; readonly isTerminal: boolean; readonly now: number },
): string {
  const { logJson = "", isTerminal, now } = output;
  if (logJson === "" ? isTerminal : IS_OFF.test(logJson)) return `${program}: ${message}\n`;
  const entry = { time: new Date(now).toISOString(), level: "error", event: "start_failed" };
  return `${JSON.stringify({ ...entry, reason: message, exit_code: exitCode })}\n`;
}
