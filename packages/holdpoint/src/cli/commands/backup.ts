// Data copies: a backup of a running server, or a full dump for another storage.
import type { Cli } from "../client/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, withProgress, printJson } from "../output/print.ts";
import { counted } from "../output/sanitize.ts";

type RowCounts = Readonly<Record<string, number>>;

/** Operations on files and storages, implemented by their packages. Each @throws {Error} with a readable message */
export interface BackupPorts {
  backUp(dataDir: string | undefined, file: string): Promise<{ readonly bytes: number; readonly threads: number }>;
  exportTo(dataDir: string | undefined, file: string): Promise<RowCounts>;
  importFrom(dataDir: string | undefined, file: string): Promise<RowCounts>;
  importLangGraph(
    dataDir: string | undefined,
    from: { readonly uri: string; readonly schema: string; readonly graphId: string | null },
  ): Promise<Readonly<Record<"threads" | "questions" | "known_threads" | "store_items", number>>>;
}

export interface MoveOptions extends PrintOptions {
  readonly dataDir?: string;
}

export async function backUp(cli: Cli, mover: BackupPorts, file: string, options: MoveOptions): Promise<ExitCode> {
  const { bytes, threads } = await withProgress(cli, "copying", mover.backUp(options.dataDir, file));
  if (options.json === true) printJson(cli.terminal, { file, bytes, threads });
  else cli.terminal.out(`Copied ${counted(threads, "thread")} to ${file}, ${bytes} bytes\n`);
  return EXIT.done;
}

export async function exportTo(cli: Cli, mover: BackupPorts, file: string, options: MoveOptions): Promise<ExitCode> {
  const rows = await withProgress(cli, "exporting", mover.exportTo(options.dataDir, file));
  return printRows(cli, "Exported", { file, rows }, options);
}

export interface ImportOptions extends MoveOptions {
  readonly fromLanggraphPostgres?: string;
  readonly graph?: string;
  readonly schema?: string;
}

export async function importFrom(
  cli: Cli,
  mover: BackupPorts,
  file: string | undefined,
  options: ImportOptions,
): Promise<ExitCode> {
  const uri = options.fromLanggraphPostgres;
  if (file === undefined && uri !== undefined) return importLangGraph(cli, mover, uri, options);
  if (file === undefined || uri !== undefined)
    throw new CliError("name either a file, or a database with --from-langgraph-postgres", EXIT.usage);
  const rows = await withProgress(cli, "importing", mover.importFrom(options.dataDir, file));
  return printRows(cli, "Imported", { file, rows }, options);
}

async function importLangGraph(
  cli: Cli,
  mover: BackupPorts,
  uri: string,
  { dataDir, graph, schema, json }: ImportOptions,
): Promise<ExitCode> {
  const from = { uri, schema: schema ?? "public", graphId: graph ?? null };
  const counts = await withProgress(cli, "importing", mover.importLangGraph(dataDir, from));
  const { threads, questions, known_threads: known, store_items: items } = counts;
  if (json === true) printJson(cli.terminal, counts);
  else
    cli.terminal.out(
      `Imported ${counted(threads, "thread")} and ${counted(items, "store item")}; ${counted(known, "thread")} already here. At the next start, ${counted(questions, "question")} will be asked again.\n`,
    );
  return EXIT.done;
}

interface MovedRows {
  readonly file: string;
  readonly rows: RowCounts;
}

function printRows({ terminal }: Cli, done: string, { file, rows }: MovedRows, { json }: PrintOptions): ExitCode {
  const { threads = 0, interrupts = 0 } = rows;
  if (json === true) printJson(terminal, { file, rows });
  else
    terminal.out(
      `${done} ${counted(threads, "thread")} with ${counted(interrupts, "question or breakpoint", "questions and breakpoints")}: ${file}\n`,
    );
  return EXIT.done;
}
