// Requests to a server, which are kept: a promise that is broken is shown by the last of them.

/** A promise that the server does not keep. */
export class Broken extends Error {}

const MAX_SHOWN = 200;
const show = (value) => (value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);

/** One server behind a URL without a slash at its end. */
export class Server {
  constructor(url, headers = {}) {
    this.url = url;
    this.headers = headers;
    /** The request that shows a broken promise: the last one that changed something, or that was refused. */
    this.shown = "";
  }

  /** @returns status, and body as JSON where it is JSON. Never throws on a status. */
  async send(method, path, body) {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const asked = `${method} ${path} ${show(sent ?? "")}`.trim();
    try {
      const reply = await fetch(`${this.url}${path}`, {
        method,
        headers: { "content-type": "application/json", ...this.headers },
        ...(sent === undefined ? {} : { body: sent }),
        signal: AbortSignal.timeout(60_000),
      });
      const text = await reply.text();
      const isRead = method === "GET" && reply.status < 300;
      if (!isRead) this.shown = `${asked} → ${reply.status} ${show(text)}`;
      return { status: reply.status, body: parse(text) };
    } catch (error) {
      this.shown = `${asked} → ${String(error.cause ?? error)}`;
      throw new Broken("no reply");
    }
  }

  /** @returns the body of a reply that must be a success */
  async ask(method, path, body) {
    const reply = await this.send(method, path, body);
    if (reply.status >= 300)
      throw new Broken(`${reply.status} for ${method} ${path.replaceAll(/[0-9a-f-]{36}/g, "…")}`);
    return reply.body;
  }

  async untilUp() {
    for (let tries = 0; tries < 600; tries++) {
      const up = await fetch(`${this.url}/ok`, { headers: this.headers }).then(
        (reply) => reply.ok,
        () => false,
      );
      if (up) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Broken("the server did not come up within a minute");
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A thread on a server, as its callers see it. */
export class Thread {
  constructor(server, graph, id) {
    this.server = server;
    this.graph = graph;
    this.id = id;
    this.path = `/threads/${id}`;
  }

  static async create(server, graph) {
    const { thread_id: id } = await server.ask("POST", "/threads", {});
    return new Thread(server, graph, id);
  }

  /** The same thread behind another server. */
  on(server) {
    return new Thread(server, this.graph, this.id);
  }

  run(body = {}) {
    const given = "input" in body || "command" in body ? body : { ...body, input: {} };
    return this.server.send("POST", `${this.path}/runs/wait`, { assistant_id: this.graph, ...given });
  }

  resume(value, more = {}) {
    return this.run({ ...more, command: { resume: value } });
  }

  state() {
    return this.server.ask("GET", `${this.path}/state`);
  }

  async values() {
    return (await this.state()).values ?? {};
  }

  /** The open questions, `{id, value}`, where the server shows them: in the state, or else in the thread. */
  async questions() {
    const { tasks } = await this.state();
    const shown = (tasks ?? []).flatMap(({ interrupts }) => interrupts ?? []);
    if (shown.length > 0) return shown;
    const { interrupts } = await this.server.ask("GET", this.path);
    return Object.values(interrupts ?? {}).flat();
  }

  /** Its states, newest first. */
  history() {
    return this.server.ask("GET", `${this.path}/history?limit=100`);
  }

  /** Runs to the pause. @returns the open questions */
  async pause(body) {
    await this.run(body);
    const questions = await this.questions();
    if (questions.length === 0) throw new Broken("neither the state nor the thread shows a question");
    return questions;
  }

  /** Waits for an end that may come later than the reply. */
  async until(what, isTrue, tries = 100) {
    for (let at = 0; at < tries; at++) {
      if (await isTrue()) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Broken(what);
  }
}

export function check(isTrue, reason) {
  if (!isTrue) throw new Broken(reason);
}

/** JSON values are the same. */
export function equal(one, other, what) {
  const [left, right] = [one, other].map((value) => JSON.stringify(value) ?? "nothing");
  if (left !== right) throw new Broken(`${what}: ${show(left)} instead of ${show(right)}`);
}
