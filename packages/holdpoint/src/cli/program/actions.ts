// Actions: what a verb of the command line calls, with its arguments and options as commander gives them.
import type { Cli } from "../client/command-context.ts";

type Action = (cli: Cli, ...args: readonly unknown[]) => Promise<number>;

/** Names of the functions of a module that a verb can call. */
type ActionName<Module> = {
  [Name in keyof Module]: Module[Name] extends (cli: Cli, ...args: never[]) => Promise<number> ? Name : never;
}[keyof Module];

/** The functions of a module, which is imported on use. @param ports come before the arguments */
export function actions<Module>(
  cli: Cli,
  load: () => Promise<Module>,
  ...ports: readonly unknown[]
): (name: ActionName<Module>) => (...args: readonly unknown[]) => Promise<void> {
  return (name) =>
    (...args) =>
      cli.run(async () => ((await load())[name] as Action)(cli, ...ports, ...args));
}
