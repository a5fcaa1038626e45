// Command registration: the commands that call a server, and those that prepare one.
// Each command's implementation is imported on use: starting a server loads none of it.
// The pieces:
//   program/   this tree: verbs, options, examples, completion, suggestions
//   commands/  one file per verb or group of verbs
//   template/  the project that `holdpoint new` creates
//   client/    calls of a server, its selection, ids
//   output/    tables, JSON, terminals, expressions of jq
//   errors/    exit codes and messages
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { Argument, type Command, Option } from "commander";
import { TRACE_STATUSES } from "@holdpoint/api/traces/traces.ts";
import type { Cli } from "../client/command-context.ts";
import type { Surroundings } from "../commands/checks/finding.ts";
import type { BackupPorts } from "../commands/backup.ts";
import type { TestNotifications } from "../commands/checks/notify.ts";
import type { Template } from "../commands/new.ts";
import type { Validate } from "../commands/checks/validate.ts";
import { EXIT } from "../errors/cli-error.ts";
import { completionScript, SHELLS, VALUE_KINDS } from "./completion.ts";
import { registerApi, registerAsk, registerAudit, registerLogs, registerOpen, registerRun } from "./data-verbs.ts";
import { addExamples } from "./examples.ts";
import { actions } from "./actions.ts";
import {
  age,
  answering,
  calling,
  collect,
  confirmed,
  count,
  json,
  listed,
  milliseconds,
  named,
  ofServer,
  ofTraces,
  paged,
  working,
} from "./options.ts";
import type { Output } from "../output/output.ts";

/** Orders of the list of items. */
const SORTS = ["oldest", "newest", "deadline", "priority"];

const KINDS: readonly InboxItem["kind"][] = ["tool_approval", "form", "question", "breakpoint"];

/** Operations of other packages that the commands need. */
export interface VerbPorts {
  readonly around: Surroundings;
  readonly validate: Validate;
  readonly testNotifications: TestNotifications;
  readonly template: Template;
  readonly mover: BackupPorts;
}

/** Commands that call a server and need nothing else. */
export function registerClientVerbs(program: Command, cli: Cli): void {
  program.commandsGroup("Work:");
  registerRun(program, cli);
  registerAsk(program, cli);
  registerInbox(program, cli);
  paged(ofServer(program.command("status").description("what waits, runs and fails on a server"))).action(
    actions(cli, () => import("../commands/status.ts"))("showStatus"),
  );
  registerOpen(program, cli);
  registerThreads(program, cli);
  registerTrace(program, cli);
  program
    .command("complete", { hidden: true })
    .addArgument(new Argument("<kind>").choices(VALUE_KINDS))
    .description("print values for the completion of a shell")
    .action(actions(cli, () => import("../commands/complete.ts"))("printValues"));
  registerLogs(program, cli);
  registerApi(program, cli);
  program.commandsGroup("Access:");
  registerAccess(program, cli);
  registerAudit(program, cli);
  takeOptionsBeforeVerb(program, () => cli.terminal.output);
}

export function registerVerbs(program: Command, cli: Cli, ports: VerbPorts): void {
  registerClientVerbs(program, cli);
  program.commandsGroup("Project and data:");
  registerLocal(program, cli, ports);
  registerNotify(program, cli, ports);
  registerMove(program, cli, ports);
  registerCompletion(program, cli);
  addExamples(program, cli.program);
}

function registerInbox(program: Command, cli: Cli): void {
  const inbox = program.command("inbox").description("pending interrupts: list, show, answer");
  const verb = {
    show: actions(cli, () => import("../commands/inbox-list.ts")),
    answer: actions(cli, () => import("../commands/inbox-answer.ts")),
    review: actions(cli, () => import("../commands/inbox-review.ts")),
  };
  listed(paged(ofServer(inbox.command("ls").description("list pending interrupts, oldest first"))), 50)
    .option("--search <text>", "with all of these words, in the question, the thread or its metadata")
    .option("--graph <id>", "of this graph")
    .option("--assistant <id>", "of this assistant")
    .option("--node <name>", "asked by this node")
    .addOption(new Option("--kind <kind>", "of this kind").choices(KINDS))
    .option("--thread <id>", "of this thread")
    .option("--older-than <age>", "older than 90s, 15m, 2h or 7d", age)
    .option("--metadata <json>", "of threads with this metadata")
    .option("--claimed-by <name>", "claimed by this person")
    .option("--unclaimed", "unclaimed items only")
    .addOption(new Option("--sort <order>", "order of the list").choices(SORTS).default("oldest"))
    .addOption(new Option("--newest", "short for --sort newest").implies({ sort: "newest" }))
    .addOption(new Option("--by-deadline", "short for --sort deadline").implies({ sort: "deadline" }))
    .action(verb.show("listItems"));
  paged(
    ofServer(
      inbox.command("show <item>").description("show one item with its question and the commands that answer it"),
    ),
  ).action(verb.show("showItem"));
  answering(
    inbox.command("approve <items...>").description("approve all actions of items, or continue at a breakpoint"),
  ).action(verb.answer("approve"));
  answering(inbox.command("edit <item>").description("approve an action with other arguments"))
    .option("--set <name=value>", "change one argument; it keeps its type (may be repeated)", collect, [])
    .option("--args <json>", "all arguments: JSON, @file, or - for standard input")
    .option("--action <number>", "number of the action, if there are several", count)
    .addOption(new Option("--others <decision>", "decision on the other actions").choices(["approve", "reject"]))
    .action(verb.answer("edit"));
  answering(inbox.command("reject <items...>").description("reject all actions of items"))
    .option("-m, --message <text>", "the reason, sent to the graph")
    .action(verb.answer("reject"));
  answering(
    inbox.command("answer <item> [value]").description("answer with a value: JSON, @file, or - for standard input"),
  )
    .option("--text <text>", "answer with plain text")
    .action(verb.answer("answer"));
  named(calling(inbox.command("review").description("answer pending items one after the other, in this terminal")))
    .option("--limit <number>", "maximum number of entries", count, 50)
    .option("--search <text>", "with all of these words, in the question, the thread or its metadata")
    .option("--graph <id>", "of this graph")
    .action(verb.review("reviewItems"));
  registerWork(inbox, cli);
}

/** Verbs that organise the work on an item. */
function registerWork(inbox: Command, cli: Cli): void {
  const verb = actions(cli, () => import("../commands/inbox-work.ts"));
  working(inbox.command("claim <item>").description("claim an item: others cannot answer it through the inbox")).action(
    verb("claim"),
  );
  working(inbox.command("assign <item> <person>").description("assign an item to a person"))
    .option("--force", "replace the claim of another person")
    .action(verb("assign"));
  working(inbox.command("release <item>").description("release a claim"))
    .option("--force", "release the claim of another person, too")
    .action(verb("release"));
  working(inbox.command("ask-again <item>").description("ask a question again whose answer failed")).action(
    verb("askAgain"),
  );
  working(
    inbox.command("snooze <item> <when>").description("set a follow-up date: 30m, 2h, 7d, a time, or off"),
  ).action(verb("snooze"));
  working(inbox.command("comment <item> <text>").description("comment on an item, in its audit trail")).action(
    verb("comment"),
  );
}

function registerThreads(program: Command, cli: Cli): void {
  const threads = program.command("threads").description("threads: list, inspect, cancel, delete");
  const verb = actions(cli, () => import("../commands/threads.ts"));
  listed(paged(ofServer(threads.command("ls").description("list threads, last changed first"))), 50)
    .option("--search <text>", "with all of these words, in the state or the metadata")
    .addOption(new Option("--status <status>", "with this status").choices(["idle", "busy", "interrupted", "error"]))
    .option("--graph <id>", "of this graph")
    .option("--metadata <json>", "with this metadata")
    .action(verb("listThreads"));
  paged(ofServer(threads.command("show <thread>").description("show a thread with its interrupts and last runs")))
    .option("--wide", "do not truncate lines")
    .action(verb("showThread"));
  ofServer(threads.command("state <thread>").description("print the values of a thread; with --json the whole state"))
    .option("--at <checkpoint>", "at this checkpoint")
    .action(verb("showState"));
  listed(
    ofServer(threads.command("history <thread>").description("list the checkpoints of a thread, newest first")),
    20,
  ).action(verb("showHistory"));
  ofServer(threads.command("cancel <thread> [run]").description("cancel the runs of a thread, or one of them"))
    .option("--rollback", "also revert their writes")
    .action(verb("cancelRuns"));
  confirmed(
    ofServer(
      threads.command("end <thread>").description("discard the pending interrupts of a thread without answering them"),
    ),
  ).action(verb("endThread"));
  confirmed(
    ofServer(threads.command("delete <threads...>").description("delete threads with runs and checkpoints")),
  ).action(verb("deleteThreads"));
  confirmed(
    ofServer(
      threads.command("erase [threads...]").description("delete threads with traces, webhooks and all else about them"),
    ),
  )
    .option("--metadata <json>", "the threads and crons with this metadata")
    .option("--dry-run", "print what would be deleted")
    .action(verb("eraseThreads"));
}

function registerTrace(program: Command, cli: Cli): void {
  const trace = program.command("trace").description("traces of the local store");
  const verb = actions(cli, () => import("../commands/trace.ts"));
  listed(paged(ofTraces(trace.command("ls").description("list traces, newest first"))), 50)
    .option("--project <name>", "of this project")
    .option("--name <part>", "with this text in the name")
    .option("--search <words>", "with these words in names, inputs, outputs or errors")
    .addOption(new Option("--status <status>", "with this status").choices(TRACE_STATUSES))
    .option("--model <name>", "that used this model")
    .option("--thread <id>", "of this thread")
    .option("--tag <tag>", "with this tag")
    .option("--metadata <pairs>", "with key:value, several separated by commas")
    .option("--slower <ms>", "with at least this duration", milliseconds)
    .action(verb("listTraces"));
  paged(ofTraces(trace.command("show <trace>").description("show a trace as a tree with timings")))
    .option("--wide", "do not truncate lines")
    .action(verb("showTrace"));
}

function registerNotify(program: Command, cli: Cli, { testNotifications: send }: VerbPorts): void {
  const notify = program.command("notify").description("notification rules: test");
  const test = notify
    .command("test")
    .description("send a test message to every recipient of the notification rules, with the settings of this machine")
    .option("--rule <name>", "of this rule only");
  json(test).action(actions(cli, () => import("../commands/checks/notify.ts"), send)("testNotifications"));
}

function registerLocal(program: Command, cli: Cli, { around, validate, template }: VerbPorts): void {
  ofServer(
    program.command("doctor").description("check the requirements of this machine; exit code 1 if a check fails"),
  ).action(actions(cli, () => import("../commands/doctor.ts"), around)("doctor"));
  json(
    program.command("validate").description("load everything in langgraph.json; exit code 1 if an entry fails to load"),
  )
    .option("-c, --config <file>", "path of langgraph.json (LANGGRAPH_CONFIG)")
    .action(actions(cli, () => import("../commands/checks/validate.ts"), validate)("validate"));
  json(
    program
      .command("new <folder>")
      .description("create a runnable project: a human-in-the-loop graph with a scripted model"),
  ).action(actions(cli, () => import("../commands/new.ts"), template)("makeProject"));
}

function registerMove(program: Command, cli: Cli, { mover }: VerbPorts): void {
  const verb = actions(cli, () => import("../commands/backup.ts"), mover);
  const ofFolder = (command: Command): Command =>
    json(command).option("-d, --data-dir <folder>", "folder of the database (HOLDPOINT_DATA_DIR)");
  ofFolder(
    program.command("backup <file>").description("copy the database of this machine while the server runs"),
  ).action(verb("backUp"));
  ofFolder(program.command("export <file>").description("export all data of a stopped server to a file")).action(
    verb("exportTo"),
  );
  ofFolder(
    program
      .command("import [file]")
      .description("import an exported file into an empty database, or the threads of LangGraph's own PostgresSaver"),
  )
    .option("--from-langgraph-postgres <address>", "database of a PostgresSaver, in place of a file")
    .option("--graph <id>", "graph of its threads, if langgraph.json has several")
    .option("--schema <name>", "schema of its tables (public)")
    .action(verb("importFrom"));
}

function registerCompletion(program: Command, cli: Cli): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .description("print a completion script for bash, zsh or fish")
    .action((shell) =>
      cli.run(async () => {
        cli.terminal.out(completionScript(program, shell));
        return EXIT.done;
      }),
    );
}

/** Keys of programs, people. */
function registerAccess(program: Command, cli: Cli): void {
  const verb = actions(cli, () => import("../commands/keys.ts"));
  const keys = program.command("keys").description("keys of programs: create, list, revoke");
  ofServer(keys.command("create <name>").description("create a key, and print it once"))
    .addOption(
      new Option("--role <role>", "rights of the key")
        .choices(["requester", "viewer", "reviewer", "operator", "admin"])
        .makeOptionMandatory(),
    )
    .option("--expires <time>", "12h, 90d or 52w; without it, never")
    .option("--assistant <id>", "limit it to this assistant or graph (may be repeated)", collect, [])
    .option("--metadata <json>", "limit it to objects with this metadata")
    .action(verb("createKey"));
  ofServer(keys.command("ls").description("list the keys, without the keys themselves"))
    .option("--wide", "do not truncate lines")
    .action(verb("listKeys"));
  confirmed(ofServer(keys.command("revoke <key>").description("revoke a key, on every server at once"))).action(
    verb("revokeKey"),
  );
  const people = program.command("people").description("people who have signed in: list, remove, erase");
  listed(ofServer(people.command("ls").description("list people with their groups")), 100)
    .option("--group <name>", "of this group")
    .action(verb("listPeople"));
  confirmed(
    ofServer(people.command("remove <name>").description("remove a person, and end all sessions of the person")),
  ).action(verb("removePerson"));
  confirmed(
    ofServer(people.command("erase <person>").description("replace a person by a pseudonym everywhere, for good")),
  )
    .option("--dry-run", "print what names the person")
    .action(verb("erasePerson"));
}

// `holdpoint --url <address> inbox ls` means `holdpoint inbox ls --url <address>`.

/** Options of a server, on the program and on each group whose verbs take them. */
function takeOptionsBeforeVerb(program: Command, output: () => Output): void {
  const groups = program.commands.filter(({ commands }) => commands.some((verb) => takes(verb, "url")));
  ofServer(program.enablePositionalOptions());
  for (const group of groups) for (const option of ofServer(group.enablePositionalOptions()).options) option.hideHelp(); // in the help of the verbs
  program.hook("preAction", (_program, verb) => {
    handDown(verb);
    const expression: unknown = verb.getOptionValue("jq");
    return typeof expression === "string" ? applyJq(verb, expression, output()) : undefined;
  });
}

const takes = ({ options }: Command, name: string): boolean =>
  options.some((option) => option.attributeName() === name);

/** The option nearest to the verb counts. */
function handDown(verb: Command): void {
  for (let above = verb.parent; above !== null; above = above.parent)
    for (const [name, value] of Object.entries(above.opts())) {
      const flag = FLAGS[name];
      if (flag === undefined) continue;
      if (!takes(verb, name)) verb.error(`error: ${verb.name()} has no option '${flag}'`);
      if (verb.getOptionValue(name) === undefined) verb.setOptionValue(name, value);
    }
}

/** `--jq` implies `--json`. */
async function applyJq(verb: Command, expression: string, output: Output): Promise<void> {
  verb.setOptionValue("json", true);
  await output.filter(expression).catch((error: Error) => verb.error(`error: ${error.message}`));
}

const FLAGS: Readonly<Record<string, string>> = { json: "--json", jq: "--jq", url: "--url", apiKey: "--api-key" };
