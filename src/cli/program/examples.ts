// Examples: the lines below the help of each verb.
// Invariant examples.1: every verb has an example, and each example is a command line that its verb accepts.
import type { Command } from "commander";

/** Path of a verb → its command lines without `holdpoint`. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  serve: ["serve --config langgraph.json", "serve --port 8080 --data-dir /var/lib/holdpoint", "serve --role worker"],
  dev: ["dev", "dev --config ./agents/langgraph.json --port 3001", "dev --studio"],
  migrate: ["migrate"],
  collector: ["collector", "collector --print-config"],
  "collector check": ["collector check"],
  "collector replay": ["collector replay --json"],
  "collector explain": ["collector explain spans.json"],
  "collector rules": ["collector rules", "collector rules rules.json", "collector rules --schema"],
  "collector redact": ["collector redact --dry-run spans.json", "collector redact --signal logs --dry-run logs.json"],
  run: [
    `run agent --input '{"some_text": "draft"}'`,
    `run refund-approval --message "I want my money back" --stream messages`,
    "run agent --input @input.json --thread 01a1feaf",
  ],
  "inbox ls": [
    "inbox ls",
    "inbox ls --kind tool_approval --older-than 2h",
    `inbox ls --search "order 4711"`,
    "inbox ls --json",
  ],
  "inbox show": ["inbox show 0fb6c8e1"],
  "inbox approve": ["inbox approve 0fb6c8e1 --wait", "inbox approve 0fb6c8e1 77ab20c4 --by ann"],
  "inbox edit": [
    "inbox edit 0fb6c8e1 --set amount_eur=20",
    `inbox edit 0fb6c8e1 --args '{"order_id": "1042", "amount_eur": 20}' --action 1`,
  ],
  "inbox reject": [`inbox reject 0fb6c8e1 --message "not this customer"`],
  "inbox claim": ["inbox claim 0fb6c8e1"],
  "inbox assign": ["inbox assign 0fb6c8e1 bob", "inbox assign 0fb6c8e1 bob --force"],
  "inbox release": ["inbox release 0fb6c8e1"],
  "inbox ask-again": ["inbox ask-again 01a21cd7-fb34-716d-9b74-82c1b93d54d4/0fb6c8e1f2a3b4c5d6e7f8091a2b3c4d"],
  "inbox snooze": ["inbox snooze 0fb6c8e1 2h", "inbox snooze 0fb6c8e1 off"],
  "inbox comment": [`inbox comment 0fb6c8e1 "The customer confirmed by phone."`],
  "inbox answer": [`inbox answer 0fb6c8e1 --text "looks good"`, `inbox answer 0fb6c8e1 '{"approved": true}'`],
  "audit ls": [`audit ls --search "refund 4711" --action answered`, "audit ls --by ann --since 2026-11-01T00:00:00Z"],
  "audit verify": ["audit verify", "audit verify --anchor @anchor.txt --json"],
  "threads ls": [
    "threads ls --status interrupted",
    `threads ls --search "order 4711"`,
    `threads ls --metadata '{"tenant": "acme"}'`,
  ],
  "threads show": ["threads show 01a1feaf"],
  "threads state": ["threads state 01a1feaf", "threads state 01a1feaf --at 1f0b2c --json"],
  "threads history": ["threads history 01a1feaf --limit 5"],
  "threads cancel": ["threads cancel 01a1feaf", "threads cancel 01a1feaf --rollback"],
  "threads end": ["threads end 01a1feaf --yes"],
  "threads delete": ["threads delete 01a1feaf 01a1fec0 --yes"],
  "trace ls": ["trace ls --status error", "trace ls --model gpt-5 --slower 5000"],
  "trace show": ["trace show 01a1feaf"],
  "assistants ls": ["assistants ls --graph agent"],
  "assistants show": ["assistants show agent"],
  "assistants create": [`assistants create agent --name careful --context '{"model": "large"}'`],
  "assistants update": ["assistants update 01a1feaf-26ec-72b5-ad65-85def8559567 --name strict"],
  "assistants versions": ["assistants versions agent"],
  "assistants delete": ["assistants delete 01a1feaf-26ec-72b5-ad65-85def8559567 --yes"],
  "crons ls": ["crons ls --assistant agent"],
  "crons create": [`crons create agent --schedule "0 9 * * 1-5" --timezone Europe/Berlin --input '{"some_text": "x"}'`],
  "crons enable": ["crons enable 01a1feaf"],
  "crons disable": ["crons disable 01a1feaf"],
  "crons delete": ["crons delete 01a1feaf --yes"],
  "store ls": ["store ls", `store ls users.7 --filter '{"kind": "note"}'`],
  "store namespaces": ["store namespaces users"],
  "store get": ["store get users.7 profile"],
  "store put": [`store put users.7 profile '{"name": "Ann"}' --ttl 1440`, "store put users.7 profile @profile.json"],
  "store delete": ["store delete users.7 profile --yes"],
  "keys create": [
    "keys create nightly-report --role operator --expires 90d",
    `keys create emea-bot --role reviewer --assistant refunds --metadata '{"region": "emea"}'`,
  ],
  "keys ls": ["keys ls"],
  "keys revoke": ["keys revoke 01a1feaf --yes"],
  "people ls": ["people ls --group finance"],
  "people remove": ["people remove ann@example.com --yes"],
  doctor: ["doctor", "doctor --url https://agents.example.com --json"],
  "notify test": ["notify test", "notify test --rule refunds"],
  validate: ["validate", "validate --config ./agents/langgraph.json"],
  new: ["new my-agent"],
  backup: ["backup holdpoint.db", "backup /backups/today.db --data-dir /var/lib/holdpoint"],
  export: ["export everything.ndjson"],
  import: ["import everything.ndjson"],
  completion: ["completion bash > ~/.local/share/bash-completion/completions/holdpoint", "completion fish | source"],
};

/** Adds the examples to the help of every verb below `group`. @param program how a shell starts this program */
export function addExamples(group: Command, program: string, path: readonly string[] = []): void {
  for (const command of group.commands) {
    const own = [...path, command.name()];
    const lines = examplesOf(own.join(" ")).map((line) => `  ${program} ${line}`);
    if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
    addExamples(command, program, own);
  }
}

export const examplesOf = (path: string): readonly string[] => EXAMPLES[path] ?? [];
