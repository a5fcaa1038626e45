// Data verbs: run, audit, and api for every other operation.
import { type Command, Option } from "commander";
import type { Field } from "../commands/api-fields.ts";
import type { Cli } from "../client/command-context.ts";
import { actions } from "./actions.ts";
import { collect, count, listed, ofServer, paged, time } from "./options.ts";

export function registerRun(program: Command, cli: Cli): void {
  ofServer(
    program
      .command("run <assistant>")
      .description("run an assistant or graph, print its events, and show a pause with the commands that answer it"),
  )
    .option("-i, --input <json>", "input of the graph: JSON, @file, or - for standard input")
    .option("-m, --message <text>", "input of a chat graph: one message of the user")
    .option("--thread <id>", "on this thread; without it, on a new one")
    .addOption(
      new Option("--on-paused <choice>", "if the thread waits for a person; without it, as its assistant says").choices(
        ["abandon", "reject", "enqueue", "answer"],
      ),
    )
    .option("--configurable <json>", "members of config.configurable: JSON, @file, or -")
    .option("--context <json>", "context of the run: JSON, @file, or -")
    .option("--metadata <json>", "metadata of the run")
    .addOption(
      new Option("--stream <mode>", "events to print: the updates of nodes, whole values, or the text of messages")
        .choices(["updates", "values", "messages"])
        .default("updates"),
    )
    .action(actions(cli, () => import("../commands/run.ts"))("runAssistant"));
}

export function registerAsk(program: Command, cli: Cli): void {
  const verb = actions(cli, () => import("../commands/ask.ts"));
  asking(
    program
      .command("ask <question>")
      .description(
        "ask people, wait, and print the answer; exit code 0 for the first choice, 1 for another, 3 for none",
      ),
  )
    .option("--choice <answer>", "an answer to choose from (may be repeated)", collect, [])
    .option("--schema <json>", "JSON Schema of the answer: JSON, @file, or - for standard input")
    .action(verb("ask"));
  asking(
    program
      .enablePositionalOptions()
      .command("approve <command...>")
      .usage("[options] -- <command...>")
      .passThroughOptions()
      .description(
        "run a command when a person has approved it; exit code of the command, 1 if rejected, 3 without an answer",
      ),
  )
    .option("--description <text>", "Markdown above the command")
    .action(verb("approve"));
}

/** Options of a question. */
const asking = (command: Command): Command =>
  ofServer(command)
    .option("--timeout <duration>", "the question expires after 90s, 15m, 2h or 7d; without it, never")
    .option("--key <text>", "name of the question: with the same one, a restarted command continues it")
    .option("--title <text>", "one line for lists")
    .option("--assignee <name>", "who may answer: a name, an address, group:<name> (may be repeated)", collect, [])
    .option("--approvals <number>", "number of different people who must give the same answer", count)
    .addOption(new Option("--priority <level>", "for filters of lists").choices(["low", "normal", "high", "urgent"]))
    .option("--metadata <json>", "for filters of lists");

export function registerAudit(program: Command, cli: Cli): void {
  const audit = program.command("audit").description("audit trail: search it, verify it");
  const verb = actions(cli, () => import("../commands/audit.ts"));
  listed(
    paged(ofServer(audit.command("ls").description("list entries of the audit trail of all threads, newest first"))),
    50,
  )
    .option("--search <text>", "with all of these words, in the question, the answer, its author or the thread")
    .option("--by <name>", "of this person")
    .option("--action <actions>", "one, or several separated by commas: answered,expired")
    .addOption(
      new Option("--kind <kind>", "decisions about questions, administrative acts, or both").choices([
        "decision",
        "act",
        "all",
      ]),
    )
    .option("--thread <id>", "of this thread")
    .option("--since <time>", "from this time on: 2026-11-23T00:00:00Z", time)
    .action(verb("listAudit"));
  ofServer(
    audit
      .command("verify")
      .description("find entries of the audit trail that were changed, removed or added in the database"),
  )
    .option("--anchor <text>", "the anchor of an earlier verification, which the trail must extend; @file, or -")
    .action(verb("verifyAudit"));
}

export function registerOpen(program: Command, cli: Cli): void {
  ofServer(
    program
      .command("open [id]")
      .description("open the console in the browser, at an item, a thread or a trace, and print the address"),
  )
    .option("--print", "print the address only")
    .action(actions(cli, () => import("../commands/open.ts"))("openPlace"));
}

export function registerLogs(program: Command, cli: Cli): void {
  ofServer(
    program
      .command("logs <thread> [run]")
      .description("print the events of a run, of the last one without an id, and follow them to its end"),
  )
    .option("-f, --follow", "go on with the later runs of the thread, until you interrupt the command")
    .action(actions(cli, () => import("../commands/logs.ts"))("showLogs"));
}

export function registerApi(program: Command, cli: Cli): void {
  const fields: Field[] = [];
  const keep = (typed: boolean) => (text: string) => void fields.push({ text, typed });
  ofServer(
    program
      .command("api <words...>")
      .usage("[options] [method] <path>")
      .description("call any operation of the HTTP API: a method and a path, fields, and the reply as JSON"),
  )
    .option("-X, --method <method>", "the method; GET without fields and body, else POST")
    .option("-f, --raw-field <key=value>", "a member of the body, or of the query: text", keep(false))
    .option("-F, --field <key=value>", "the same: true, false, null, a number, @file, else text", keep(true))
    .option("-H, --header <name:value>", "a further header (may be repeated)", collect, [])
    .option("--input <file>", "the body: a file, or - for standard input")
    .option("-i, --include", "print status and headers of the reply too")
    .option("--paginate", "read every page of a list")
    .action((words, options) =>
      cli.run(async () => (await import("../commands/api.ts")).callApi(cli, words, { ...options, fields })),
    );
}
