// Problem: a refusal of the API (RFC 9457), or a missing reply, as a displayable error.

interface ProblemParts {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly members?: Readonly<Record<string, unknown>>;
}

export class ApiProblem extends Error {
  /** 0 without a reply. */
  readonly status: number;
  /** A code of docs/reference/errors.md, or `unreachable`. */
  readonly code: string;
  readonly title: string;
  readonly members: Readonly<Record<string, unknown>>;

  constructor({ status, code, title, detail, members = {} }: ProblemParts) {
    super(detail);
    this.name = "ApiProblem";
    this.status = status;
    this.code = code;
    this.title = title;
    this.members = members;
  }
}

/** From the members of a problem, also of one inside another reply. */
export function problemFrom(value: unknown, status: number): ApiProblem {
  const members = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const text = (name: string, fallback: string): string => {
    const member = members[name];
    return typeof member === "string" ? member : fallback;
  };
  const given = typeof members["status"] === "number" ? members["status"] : status;
  return new ApiProblem({
    status: given,
    code: text("code", "unknown"),
    title: text("title", "The call failed"),
    detail: text("detail", `Status ${given}.`),
    members,
  });
}

export function unreachable(cause: unknown): ApiProblem {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new ApiProblem({ status: 0, code: "unreachable", title: "Cannot reach the server", detail });
}

/** A file of the page did not load: browsers, and the bundler's loader for style sheets, each have their words. */
const NOT_LOADED =
  /unable to preload CSS|dynamically imported module|importing a module script failed|failed to load module script/i;

export function isNotLoaded(thrown: unknown): boolean {
  return thrown instanceof Error && NOT_LOADED.test(thrown.message);
}

/** Any thrown value, as text for a person. */
export function problemMessage(thrown: unknown): string {
  if (isNotLoaded(thrown)) return "This page could not be loaded: the server does not respond, or has a new version.";
  if (thrown instanceof ApiProblem) return thrown.status === 0 ? thrown.title : thrown.message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
