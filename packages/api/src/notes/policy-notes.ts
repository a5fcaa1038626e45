// Notes of policies.
import type { Note } from "./note.ts";
import { AT } from "./values.ts";

const rule = { action: "refund", when: { "args.amount": { lte: 50 } }, answer: "approve" };

const policy = {
  policy_id: "01a1fd90-1c5b-7d2e-9b0a-0d6f1c2b3a4e",
  source: "stored",
  when: { "args.amount": { lte: 50 }, action: { eq: "refund" } },
  answer: "approve",
  until: null,
  created_by: "ann",
  created_at: AT,
  administrator: false,
};

export const policyNotes: Readonly<Record<string, Note>> = {
  listPolicies: {
    description: "A policy that has ended or was revoked is not among them.",
    reply: { policies: [policy] },
  },
  createPolicy: {
    description: "A later question that fits is answered in the commit that creates it.",
    body: rule,
    reply: policy,
  },
  revokePolicy: { description: "Answers that it gave stay." },
  dryRunPolicy: {
    description: "Nothing is stored.",
    body: rule,
    reply: {
      decisions: 1000,
      answered: 212,
      approved: 211,
      same: 211,
      text: "Of the last 1000 decisions, this rule would have answered 212, people had approved 211.",
      others: [],
    },
  },
};
