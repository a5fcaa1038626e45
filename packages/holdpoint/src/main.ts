#!/usr/bin/env -S node --max-semi-space-size=16
// Main: the command line. Only this file reads the environment, handles signals and sets exit codes. The flag bounds
// V8's memory for young objects: 30 MB less in a process, for 1 % of its CPU time.
// A command imports its parts on use, so the others cost nothing at start.
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { stopOnSignals, type LongRunningProcess } from "@holdpoint/base/log/long-running-process.ts";
import type { Command as Program, Option } from "commander";
import type { Cli } from "./cli/client/command-context.ts";
import { createOutput } from "./cli/output/output.ts";
import { programName } from "./cli/client/program-name.ts";
import type { DevOptions } from "./main/dev.ts";
import type { Host } from "./main/host.ts";
import { readProduct } from "./main/product.ts";
import type { ServeOptions } from "./main/serve.ts";
import { spawn } from "node:child_process";
import { constants } from "node:os";

enableCompileCache();

const ROLES = ["api", "worker", "all"];

/** An invalid command line. */
const EXIT_USAGE = 2;

const output = createOutput((text) => void process.stdout.write(text));
const host: Host = {
  env: { ...process.env },
  environment: process.env,
  processId: process.pid,
  nodeVersion: process.versions.node,
  platform: process.platform,
  isTerminal: { out: process.stdout.isTTY, err: process.stderr.isTTY },
  out: output.write,
  err: (text) => void process.stderr.write(text),
  product: readProduct(),
  program: programName(process.argv[1] ?? "", process.env, process.cwd()),
};

/** What commands of both lists use, imported with the command line. */
interface Shared {
  readonly json: (command: Program) => Program;
  readonly Option: typeof Option;
}

async function main(argv: readonly string[]): Promise<void> {
  const { Command, Option } = await import("commander");
  const [{ formatUsageError }, { json, port, positive }] = await Promise.all([
    import("./cli/program/suggest.ts"),
    import("./cli/program/options.ts"),
  ]);
  const program: Program = new Command("holdpoint")
    .configureOutput({ outputError: (text, write) => write(formatUsageError(program, host.program, text)) })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE))
    .description("Runs LangGraph.js graphs that pause for human input, and resumes each exactly once after the answer.")
    .version(host.product.version)
    .commandsGroup("Services:");
  const serveCommand = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option("-c, --config <file>", "path of langgraph.json (LANGGRAPH_CONFIG)")
      .option("-p, --port <number>", "port to listen on (PORT)", port)
      .option("-H, --host <address>", "address to listen on (HOST)")
      .option("-d, --data-dir <folder>", "folder of the database (HOLDPOINT_DATA_DIR)")
      .option("-n, --n-jobs-per-worker <number>", "maximum number of concurrent runs (N_JOBS_PER_WORKER)", positive)
      .option("--print-config", "print the effective configuration, with secrets masked, and exit");
  serveCommand("serve", "run the agent server")
    .addOption(new Option("--role <role>", "role of this process with DATABASE_URI (HOLDPOINT_ROLE)").choices(ROLES))
    .action((options: ServeOptions) => lasting(async () => (await import("./main/serve.ts")).serve(host, options)));
  serveCommand("dev", "run agent server, collector and trace store here; without a langgraph.json, the sample graphs")
    .option("--no-browser", "do not open the console (it never opens without a terminal or in CI)")
    .option("--studio", "allow the hosted Studio (https://smith.langchain.com) for this start, and print its link")
    .option("--origin <url...>", "allow the page at this address, such as a hosted chat or inbox, for this start")
    .action((options: DevOptions) => lasting(async () => (await import("./main/dev.ts")).dev(host, options)));
  program
    .command("migrate")
    .description("migrate the database of DATABASE_URI to this version, and exit; running servers continue meanwhile")
    .option("-c, --config <file>", "path of langgraph.json (LANGGRAPH_CONFIG)")
    .action((options: { readonly config?: string }) =>
      command(async () => (await import("./main/storage.ts")).migrate(host, options)),
    );
  addCollector(program, { json, Option });
  const [{ registerVerbs }, { createVerbPorts }] = await Promise.all([
    import("./cli/program/register.ts"),
    import("./main/verb-ports.ts"),
  ]);
  registerVerbs(program, await createCli(), createVerbPorts(host));
  await program.parseAsync([...argv]);
}

function addCollector(program: Program, { json, Option }: Shared): void {
  const collector = program
    .command("collector")
    .description("run the trace collector proxy: OTLP traces in, the tracing backend's runs out")
    .option("--print-config", "print the effective configuration, with secrets masked, and exit")
    .action((options: { readonly printConfig?: boolean }) =>
      lasting(async () => (await import("./main/collect.ts")).collect(host, options)),
    );
  json(
    collector
      .command("check")
      .description("test the endpoint, the key, the folders and one small upload; exit code 1 if one fails"),
  ).action((options: { readonly json?: boolean }) =>
    judged(async () => (await import("./main/collect.ts")).checkUploads(host, options)),
  );
  json(
    collector
      .command("replay")
      .description("upload the dead letters of TRACING_API_KEY again; exit code 1 if some remain"),
  ).action((options: { readonly json?: boolean }) =>
    judged(async () => (await import("./main/collect.ts")).replay(host, options)),
  );
  json(
    collector
      .command("explain <file>")
      .description("show how each span attribute in an OTLP file is mapped; uploads nothing"),
  ).action((file: string, options: { readonly json?: boolean }) =>
    command(async () => (await import("./main/collect.ts")).explain(host, file, options)),
  );
  collector
    .command("rules [file]")
    .description("check a file of rules for what the collector stores and sends; default: RULES_FILE")
    .option("--schema", "print the JSON Schema of the file instead")
    .action((file: string | undefined, options: { readonly schema?: boolean }) =>
      command(async () => (await import("./main/collect.ts")).rules(host, file, options)),
    );
  json(
    collector
      .command("redact <file>")
      .description("apply the redaction rules of RULES_FILE to an OTLP file and print the result; uploads nothing")
      .option("--dry-run", "print which rules match, and where, instead")
      .addOption(
        new Option("--signal <signal>", "what the file holds").choices(["traces", "logs", "metrics"]).default("traces"),
      ),
  ).action((file: string, options: { readonly dryRun?: boolean; readonly json?: boolean; readonly signal?: string }) =>
    command(async () => (await import("./main/collect.ts")).redact(host, file, options)),
  );
}

/** Runs a command, and prints the error that stopped it. */
async function command(work: () => Promise<void>, isService = false): Promise<void> {
  try {
    await work();
    await output.end();
  } catch (error) {
    const [{ toRefusal }, { formatStartFailure }] = await Promise.all([
      import("./cli/errors/refusal.ts"),
      import("@holdpoint/base/log/start-failure.ts"),
    ]);
    const refusal = toRefusal(error);
    const logJson = isService ? host.env["LOG_JSON"] : "false";
    const log = { logJson, isTerminal: host.isTerminal.err, now: Date.now() };
    host.err(formatStartFailure({ program: "holdpoint", ...refusal }, log));
    process.exit(refusal.exitCode);
  }
}

function judged(work: () => Promise<boolean>): Promise<void> {
  return command(async () => {
    if (!(await work())) process.exitCode = 1;
  });
}

/** Where the log is JSON, so is the reason why a service did not start. */
function lasting(work: () => Promise<LongRunningProcess | null>): Promise<void> {
  return command(async () => {
    const started = await work();
    if (started === null) return;
    stopOnSignals(started, process);
    // Code of a graph may leave a promise unhandled. Its run has its own end; the process continues.
    process.on("unhandledRejection", (reason) => started.log.error("unhandled_rejection", { reason: String(reason) }));
    await started.announce(); // after the signal handlers: a reader of this output may send a signal
  }, true);
}

/** The process's ports for the commands of packages/holdpoint/src/cli. */
async function createCli(): Promise<Cli> {
  const [{ createTerminal }, { systemClock: clock }, { readTableConfig }] = await Promise.all([
    import("./cli/output/terminal.ts"),
    import("@holdpoint/base/clock.ts"),
    import("./main/host.ts"),
  ]);
  return {
    program: host.program,
    terminal: createTerminal(process, host.env, (code) => process.exit(code), output),
    clock,
    config: async () => readTableConfig((await import("./cli/client/settings.ts")).CLIENT_SETTINGS, host.env),
    localServer: async () => (await import("./main/host.ts")).findLocalServer(host),
    readFile: (path) => readFileSync(path, "utf8"),
    showPage: async (url) => {
      const { browserCommand, openBrowser } = await import("./dev/browser.ts");
      const { env, platform, isTerminal } = host;
      const found = browserCommand({ wanted: true, terminal: isTerminal.out, env, platform });
      if (found !== null) openBrowser(url, found);
      return found !== null;
    },
    runProgram: runProgram,
    run: (verb) =>
      command(async () => {
        const exitCode = await verb();
        await output.end();
        process.stdout.write("", () => process.exit(exitCode)); // loaded graphs may have left timers
      }),
  };
}

/** What a shell adds to the number of the signal that ended a program. */
const SIGNALLED = 128;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs another program with the terminal of this one.
 * @returns its exit code, as a shell would report it @throws {Error} if it does not start
 */
function runProgram(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit" });
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    child.on("error", (error) => reject(new Error(`cannot run ${program}: ${error.message}`)));
    child.on("close", (code, signal) => {
      for (const one of FORWARDED) process.off(one, forward);
      resolve(code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

await main(process.argv); // last, so that everything above is there
