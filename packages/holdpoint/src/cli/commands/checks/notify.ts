// Notify: sends a test message to the recipients of the notification rules, with the settings of this machine.
import type { Cli } from "../../client/command-context.ts";
import { EXIT, type ExitCode } from "../../errors/cli-error.ts";
import { type PrintOptions, paint, printJson } from "../../output/print.ts";
import { oneLine } from "../../output/sanitize.ts";

export interface TestMessage {
  readonly rule: string;
  readonly channel: "slack" | "email";
  readonly to: string;
  /** Null if the service accepted the message. */
  readonly problem: string | null;
}

/** Sends to the recipients of one rule, or of all. @throws {ConfigError} */
export type TestNotifications = (rule: string | undefined) => Promise<readonly TestMessage[]>;

export interface NotifyTestOptions extends PrintOptions {
  readonly rule?: string;
}

export async function testNotifications(
  { terminal }: Cli,
  send: TestNotifications,
  options: NotifyTestOptions,
): Promise<ExitCode> {
  const messages = await send(options.rule);
  const failed = messages.some(({ problem }) => problem !== null);
  if (options.json === true) printJson(terminal, { ok: !failed, messages });
  else {
    for (const { rule, channel, to, problem } of messages) {
      const mark = problem === null ? paint(terminal, "green", "ok  ") : paint(terminal, "red", "fail");
      terminal.out(
        `${mark}  ${oneLine(rule)}: ${channel} to ${oneLine(to)}${problem === null ? "" : `: ${oneLine(problem)}`}\n`,
      );
    }
    if (messages.length === 0) terminal.out("No rule names a recipient that is known now.\n");
  }
  return failed ? EXIT.failed : EXIT.done;
}
