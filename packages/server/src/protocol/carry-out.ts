// Carry out: a command → its envelope.
// Invariants:
//   - Every command is answered, whatever happens; a fault is logged and shows no details.
//   - A refusal shows the thread's position only when the caller may see that part of the thread.
//   - `applied_through_seq` is read before the command acts: it includes no event that the command causes, and is never
//     0.
import { ApiError, type ErrorCode } from "@holdpoint/base/api-error.ts";
import { toApiError } from "@holdpoint/base/http/server/problem.ts";
import type { AgentContext } from "../context/context.ts";
import type { CommandCall, CommandResult } from "./command-call.ts";
import { CommandError, type Envelope, buildFailure } from "./envelope.ts";
import { positionAfter } from "./convert/event-place.ts";
import { parseAnswers, forkCommand, respondCommand, startCommand } from "./run-commands.ts";
import { getCommand, listCommand, treeCommand } from "./state-commands.ts";

type Command = (agent: AgentContext, call: CommandCall) => Promise<CommandResult>;

const notSupported: Command = (_agent, { command }) =>
  Promise.reject(new CommandError("not_supported", `${command.method} is not supported here.`));

const COMMANDS: Readonly<Record<string, Command>> = {
  "run.start": startCommand,
  "input.respond": respondCommand,
  "input.inject": notSupported,
  "state.get": getCommand,
  "state.listCheckpoints": listCommand,
  "state.fork": forkCommand,
  "agent.getTree": treeCommand,
  "subscription.subscribe": notSupported,
  "subscription.unsubscribe": notSupported,
  "subscription.reconnect": notSupported,
};

export interface CarriedOut {
  readonly envelope: Envelope;
  readonly runId: string | null;
  /** The cause of a failure. */
  readonly error: unknown;
}

export async function carryOut(agent: AgentContext, call: CommandCall): Promise<CarriedOut> {
  const { threadId, command } = call;
  let position = positionAfter(0);
  const meta = () => ({ thread_id: threadId, applied_through_seq: position });
  try {
    position = positionAfter(await agent.storage.read((tx) => tx.newestEvents(threadId)));
    const act = Object.hasOwn(COMMANDS, command.method) ? COMMANDS[command.method] : undefined;
    if (act === undefined) throw new CommandError("unknown_command", `There is no command ${command.method}.`);
    const { result, runId = null } = await act(agent, call);
    return { envelope: { type: "success", id: command.id, result, meta: meta() }, runId, error: null };
  } catch (error) {
    const refusal = error instanceof CommandError ? error : toApiError(error, agent.log);
    const failure = buildFailure(command.id, refusal, interruptIds(call));
    if (!isInside(refusal)) position = positionAfter(0);
    return { envelope: { ...failure, meta: meta() }, runId: null, error: refusal };
  }
}

/** These refusals come after the thread was found within the caller's scope. */
function isInside(refusal: unknown): boolean {
  return refusal instanceof ApiError && INSIDE.includes(refusal.code);
}

const INSIDE: readonly ErrorCode[] = [
  "interrupt_stale",
  "interrupt_unknown",
  "no_pending_interrupt",
  "thread_busy",
  "checkpoint_not_found",
  "answer_invalid",
  "approvals_pending",
  "reviewer_not_assigned",
  "reviewer_excluded",
];

function interruptIds({ command }: CommandCall): readonly string[] {
  if (command.method !== "input.respond") return [];
  try {
    return [...parseAnswers(command.params).keys()];
  } catch {
    return [];
  }
}
