// Examples: the line below the help of each verb.
// Invariant examples.1: every verb has an example, a command line that the verb accepts.
import type { Command } from "commander";

/** Path of a verb → a command line without `holdpoint`. */
const EXAMPLES: Readonly<Record<string, string>> = {
  serve: "serve --config langgraph.json",
  dev: "dev",
  migrate: "migrate",
  collector: "collector",
  "collector check": "collector check",
  "collector replay": "collector replay --json",
  "collector explain": "collector explain spans.json",
  "collector rules": "collector rules",
  "collector redact": "collector redact --dry-run spans.json",
  run: `run agent --input '{"some_text": "draft"}'`,
  ask: `ask "Deploy 1.4 to production?" --choice yes --choice no --timeout 2h`,
  approve: "approve --timeout 2h -- ./deploy.sh production",
  "inbox ls": "inbox ls",
  "inbox show": "inbox show 0fb6c8e1",
  status: "status",
  open: "open 0fb6c8e1",
  logs: "logs 01a1feaf-1234",
  "inbox review": "inbox review --graph refund-approval",
  "inbox approve": "inbox approve 0fb6c8e1 --wait",
  "inbox edit": "inbox edit 0fb6c8e1 --set amount_eur=20",
  "inbox reject": `inbox reject 0fb6c8e1 --message "not this customer"`,
  "inbox claim": "inbox claim 0fb6c8e1",
  "inbox assign": "inbox assign 0fb6c8e1 bob",
  "inbox release": "inbox release 0fb6c8e1",
  "inbox ask-again": "inbox ask-again 01a21cd7-fb34-716d-9b74-82c1b93d54d4/0fb6c8e1f2a3b4c5d6e7f8091a2b3c4d",
  "inbox snooze": "inbox snooze 0fb6c8e1 2h",
  "inbox comment": `inbox comment 0fb6c8e1 "The customer confirmed by phone."`,
  "inbox answer": `inbox answer 0fb6c8e1 --text "looks good"`,
  "audit ls": `audit ls --search "refund 4711" --action answered`,
  "audit verify": "audit verify",
  "threads ls": "threads ls --status interrupted",
  "threads show": "threads show 01a1feaf",
  "threads state": "threads state 01a1feaf",
  "threads history": "threads history 01a1feaf --limit 5",
  "threads cancel": "threads cancel 01a1feaf",
  "threads end": "threads end 01a1feaf --yes",
  "threads delete": "threads delete 01a1feaf 01a1fec0 --yes",
  "threads erase": `threads erase --metadata '{"customer": 42}' --dry-run`,
  "trace ls": "trace ls --status error",
  "trace show": "trace show 01a1feaf",
  api: `api POST /runs/crons -f assistant_id=agent -f schedule="0 9 * * 1-5" -f input[some_text]=x`,
  "keys create": "keys create nightly-report --role operator --expires 90d",
  "keys ls": "keys ls",
  "keys revoke": "keys revoke 01a1feaf --yes",
  "people ls": "people ls --group finance",
  "people remove": "people remove ann@example.com --yes",
  "people erase": "people erase ann@example.com --dry-run",
  doctor: "doctor",
  "notify test": "notify test",
  validate: "validate",
  new: "new my-agent",
  backup: "backup holdpoint.db",
  export: "export everything.ndjson",
  import: "import everything.ndjson",
  completion: "completion bash > ~/.local/share/bash-completion/completions/holdpoint",
};

/** Adds the example to the help of every verb below `group`. @param program how a shell starts this program */
export function addExamples(group: Command, program: string, path: readonly string[] = []): void {
  for (const command of group.commands) {
    const own = [...path, command.name()];
    const line = exampleFor(own.join(" "));
    if (line !== null) command.addHelpText("after", `\nExample:\n  ${program} ${line}`);
    addExamples(command, program, own);
  }
}

export const exampleFor = (path: string): string | null => EXAMPLES[path] ?? null;
