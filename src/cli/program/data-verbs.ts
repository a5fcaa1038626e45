// Data verbs: run, assistants, audit, crons, store.
import { type Command, Option } from "commander";
import type { Cli } from "../client/command-context.ts";
import { confirmed, listed, minutes, ofServer } from "./options.ts";

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
    .action((assistant, options) =>
      cli.run(async () => (await import("../commands/run.ts")).runAssistant(cli, assistant, options)),
    );
}

const changing = (command: Command): Command =>
  ofServer(command)
    .option("--name <name>", "name of the assistant")
    .option("--description <text>", "description of the assistant")
    .option("--configurable <json>", "members of config.configurable: JSON, @file, or -")
    .option("--context <json>", "context of its runs: JSON, @file, or -")
    .option("--metadata <json>", "metadata of the assistant");

export function registerAssistants(program: Command, cli: Cli): void {
  const assistants = program.command("assistants").description("assistants: list, inspect, create, update, delete");
  const load = () => import("../commands/assistants.ts");
  listed(ofServer(assistants.command("ls").description("list assistants")), 50)
    .option("--graph <id>", "of this graph")
    .option("--name <part>", "with this text in the name")
    .option("--metadata <json>", "with this metadata")
    .action((options) => cli.run(async () => (await load()).listAssistants(cli, options)));
  ofServer(assistants.command("show <assistant>").description("print an assistant, by its id or its graph")).action(
    (id, options) => cli.run(async () => (await load()).showAssistant(cli, id, options)),
  );
  changing(assistants.command("create <graph>").description("create an assistant: a graph with its own config")).action(
    (graph, options) => cli.run(async () => (await load()).createAssistant(cli, graph, options)),
  );
  changing(assistants.command("update <assistant>").description("update an assistant, which creates a version"))
    .option("--graph <id>", "run this graph")
    .action((id, options) => cli.run(async () => (await load()).updateAssistant(cli, id, options)));
  listed(
    ofServer(assistants.command("versions <assistant>").description("list the versions, newest first")),
    20,
  ).action((id, options) => cli.run(async () => (await load()).listVersions(cli, id, options)));
  confirmed(
    ofServer(assistants.command("delete <assistant>").description("delete an assistant with versions and ended runs")),
  ).action((id, options) => cli.run(async () => (await load()).deleteAssistant(cli, id, options)));
}

export function registerAudit(program: Command, cli: Cli): void {
  const audit = program.command("audit").description("audit trail: search it, verify it");
  listed(ofServer(audit.command("ls").description("list entries of the audit trail of all threads, newest first")), 50)
    .option("--search <text>", "with all of these words, in the question, the answer, its author or the thread")
    .option("--by <name>", "of this person")
    .option("--action <actions>", "one, or several separated by commas: answered,expired")
    .option("--thread <id>", "of this thread")
    .option("--since <time>", "from this time on: 2026-11-23T00:00:00Z")
    .action((options) => cli.run(async () => (await import("../commands/audit-list.ts")).listAudit(cli, options)));
  ofServer(
    audit
      .command("verify")
      .description("find entries of the audit trail that were changed, removed or added in the database"),
  )
    .option("--anchor <text>", "the anchor of an earlier verification, which the trail must extend; @file, or -")
    .action((options) => cli.run(async () => (await import("../commands/audit.ts")).verifyAudit(cli, options)));
}

export function registerCrons(program: Command, cli: Cli): void {
  const crons = program.command("crons").description("crons: list, create, enable, disable, delete");
  const load = () => import("../commands/crons.ts");
  listed(ofServer(crons.command("ls").description("list crons with their next run")), 50)
    .option("--assistant <id>", "of this assistant or graph")
    .option("--thread <id>", "on this thread")
    .action((options) => cli.run(async () => (await load()).listCrons(cli, options)));
  ofServer(crons.command("create <assistant>").description("create a cron"))
    .requiredOption("--schedule <expression>", "minute hour day month weekday; or six fields, seconds first")
    .option("--timezone <name>", "IANA name of the time zone; default: UTC")
    .option("--input <json>", "input of each run: JSON, @file, or -")
    .option("--thread <id>", "on this thread; without it, each run has its own")
    .option("--metadata <json>", "metadata of the cron")
    .action((assistant, options) => cli.run(async () => (await load()).createCron(cli, assistant, options)));
  for (const [name, enabled, description] of [
    ["enable", true, "resume the schedule of a cron"],
    ["disable", false, "suspend the schedule of a cron; its active runs continue"],
  ] as const)
    ofServer(crons.command(`${name} <cron>`).description(description)).action((cron, options) =>
      cli.run(async () => (await load()).enableCron(cli, cron, enabled, options)),
    );
  confirmed(ofServer(crons.command("delete <cron>").description("delete a cron; its active runs continue"))).action(
    (cron, options) => cli.run(async () => (await load()).deleteCron(cli, cron, options)),
  );
}

export function registerStore(program: Command, cli: Cli): void {
  const store = program.command("store").description("the long-term memory: list, get, put, delete items");
  const load = () => import("../commands/store.ts");
  listed(
    ofServer(
      store.command("ls [namespace]").description("list items of a namespace and of those below it: users.7.notes"),
    ),
    50,
  )
    .option("--filter <json>", "with a value that matches this filter")
    .option("--query <text>", "ranked by semantic similarity, if the server has an embedding function")
    .action((namespace, options) => cli.run(async () => (await load()).listItems(cli, namespace, options)));
  listed(ofServer(store.command("namespaces [prefix]").description("list the namespaces that have items")), 100).action(
    (prefix, options) => cli.run(async () => (await load()).listNamespaces(cli, prefix, options)),
  );
  ofServer(
    store.command("get <namespace> <key>").description("print the value of an item; with --json the item"),
  ).action((namespace, key, options) => cli.run(async () => (await load()).getItem(cli, namespace, key, options)));
  ofServer(store.command("put <namespace> <key> <value>").description("store an item: a JSON object, @file, or -"))
    .option("--ttl <minutes>", "delete the item this long after its last use", minutes)
    .action((namespace, key, value, options) =>
      cli.run(async () => (await load()).putItem(cli, { namespace, key, value }, options)),
    );
  confirmed(ofServer(store.command("delete <namespace> <key>").description("delete an item"))).action(
    (namespace, key, options) => cli.run(async () => (await load()).deleteItem(cli, namespace, key, options)),
  );
}
