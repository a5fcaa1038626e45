// Note: the description and the example of one operation in the OpenAPI document.
export interface Note {
  readonly description: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly reply?: unknown;
  /** Media type of the reply; default: `application/json`. */
  readonly media?: string;
}
