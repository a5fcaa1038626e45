// Access verbs: keys of programs, people.
import { type Command, Option } from "commander";
import type { Cli } from "../client/command-context.ts";
import { actions } from "./actions.ts";
import { collect, confirmed, listed, ofServer } from "./options.ts";

export function registerAccess(program: Command, cli: Cli): void {
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
