export interface Row {
  readonly name: string;
  /** Null for a promise that was not asked. */
  readonly kept: boolean | null;
  readonly reason: string;
  /** The last request and its reply. */
  readonly request: string;
}

export function askPromises(options: {
  readonly url: string;
  readonly second?: string | undefined;
  readonly restart?: ((graphs: string, signal: "SIGKILL" | "SIGTERM") => Promise<void>) | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly only?: string | undefined;
  readonly onRow?: (row: Row) => void;
}): Promise<readonly Row[]>;
