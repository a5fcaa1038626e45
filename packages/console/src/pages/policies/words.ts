// Words of policies.

const SIGNS: Readonly<Record<string, string>> = { eq: "=", lt: "<", lte: "≤", gt: ">", gte: "≥", in: "in" };

/** `args.amount ≤ 50`. */
export function formatCondition(path: string, tests: unknown): string {
  return Object.entries(tests as object)
    .map(([operator, value]: [string, unknown]) =>
      operator === "exists"
        ? `${path} ${value === true ? "exists" : "is missing"}`
        : `${path} ${SIGNS[operator] ?? operator} ${JSON.stringify(value)}`,
    )
    .join(", ");
}

export function formatAnswer(answer: unknown): string {
  if (answer === "approve") return "Approve";
  if (answer === "reject") return "Reject";
  const value = JSON.stringify((answer as { readonly value?: unknown }).value ?? null);
  return `Answer ${value.length > 200 ? `${value.slice(0, 200)}…` : value}`;
}
