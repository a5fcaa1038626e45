// Data copies: a backup of a running server, or a full dump for another storage.
import type { Cli } from "../client/command-context.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, withProgress, printJson } from "../output/print.ts";
import { counted } from "../output/sanitize.ts";

type RowCounts = Readonly<Record<string, number>>;

/** Operations on files and storages, implemented by their packages. Each @throws {Error} with a readable message */
export interface BackupPorts {
  backUp(dataDir: string | undefined, file: string): Promise<{ readonly bytes: number; readonly threads: number }>;
  exportTo(dataDir: string | undefined, file: string): Promise<RowCounts>;
  importFrom(dataDir: string | undefined, file: string): Promise<RowCounts>;
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

export async function importFrom(cli: Cli, mover: BackupPorts, file: string, options: MoveOptions): Promise<ExitCode> {
  const rows = await withProgress(cli, "importing", mover.importFrom(options.dataDir, file));
  return printRows(cli, "Imported", { file, rows }, options);
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
