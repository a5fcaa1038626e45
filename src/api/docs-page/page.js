// Page: openapi.json → operations by tag, each with its parameters, its replies and a form to try it.
// Invariants:
//   page.1. Text from the document or from a reply enters the page as text, never as markup.
//   page.2. A typed API key stays in this page: never in a URL, in storage or in a curl line.
//   page.3. Every operation has its own link, `#<operation id>`.
import { firstBody, nameOf, schemaText } from "./schema-text.js";

/** Root of the server, below any prefix. */
const ROOT = new URL("..", import.meta.url);
const SHOWN_UNITS_MAX = 1_000_000;

const byId = (id) => document.getElementById(id);

/** page.1: children other than elements become text. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

async function readDocument() {
  const key = byId("key").value;
  const response = await fetch(new URL("openapi.json", ROOT), { headers: key === "" ? {} : { "x-api-key": key } });
  if (!response.ok) throw new Error(`openapi.json: ${response.status} ${response.statusText}`);
  return response.json();
}

function show(api) {
  byId("version").textContent = api.info.version;
  const tags = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? "Other";
      tags.set(tag, [...(tags.get(tag) ?? []), { path, method, operation }]);
    }
  }
  const components = api.components?.schemas ?? {};
  const sections = [...tags].map(([tag, operations]) =>
    element(
      "section",
      { id: `tag-${tag}`, "aria-label": tag },
      element("h2", {}, tag),
      ...operations.map((one) => operationOf(one, components)),
    ),
  );
  const schemas = element(
    "section",
    { id: "schemas", "aria-label": "Schemas" },
    element("h2", {}, "Schemas"),
    ...Object.entries(components)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) =>
        element(
          "details",
          { id: `schema-${name}` },
          element("summary", {}, element("code", {}, name)),
          element("div", { className: "body" }, schemaBlock(schema, components)),
        ),
      ),
  );
  byId("operations").replaceChildren(...sections, schemas);
  const links = [...tags].map(([tag, { length }]) => element("a", { href: `#tag-${tag}` }, `${tag} (${length})`));
  byId("contents").replaceChildren(...links, element("a", { href: "#schemas" }, "Schemas"));
  openTarget();
}

function operationOf({ path, method, operation }, components) {
  const body = element("div", { className: "body" });
  const details = element(
    "details",
    { id: operation.operationId },
    element(
      "summary",
      {},
      element("span", { className: `method ${method}` }, method),
      element("code", {}, path),
      element("span", { className: "says" }, operation.summary ?? ""),
    ),
    body,
  );
  details.dataset.find =
    `${method} ${path} ${operation.summary} ${operation.operationId} ${operation.tags}`.toLowerCase();
  details.addEventListener("toggle", () => {
    if (details.open && body.childElementCount === 0) fill(body, { path, method, operation }, components);
  });
  return details;
}

/** The content of an operation is built when it opens: the document is long, and few readers need all of it. */
function fill(body, { path, method, operation }, components) {
  const { parameters = [], requestBody, responses = {} } = operation;
  const schema = requestBody?.content?.["application/json"]?.schema;
  const access = operation["x-access"];
  body.append(
    element(
      "p",
      { className: "dim" },
      "Address ",
      element("a", { href: `#${operation.operationId}` }, operation.operationId),
      access === undefined ? "" : ` · access ${access}`,
    ),
  );
  if (parameters.length > 0) {
    const lines = parameters.map((one) => {
      const says = one.description ?? one.schema?.description;
      return `${one.name}${one.required ? "" : "?"} (${one.in}): ${schemaText(one.schema)}${says === undefined ? "" : `  // ${says}`}`;
    });
    body.append(element("h3", {}, "Parameters"), element("pre", {}, lines.join("\n")));
  }
  if (schema !== undefined) body.append(element("h3", {}, "Body"), schemaBlock(schema, components));
  for (const [status, response] of Object.entries(responses)) {
    const [type, media] = Object.entries(response.content ?? {})[0] ?? [];
    body.append(element("h3", {}, `${status} ${response.description ?? ""}`));
    if (type !== undefined && type !== "application/json") body.append(element("p", { className: "dim" }, type));
    if (media?.schema !== undefined) body.append(schemaBlock(media.schema, components));
  }
  body.append(element("h3", {}, "Try it"), tryForm({ path, method, parameters, schema }, components));
}

function schemaBlock(schema, components) {
  const name = nameOf(schema);
  const link = name === null ? null : element("p", {}, element("a", { href: `#schema-${name}` }, name));
  const text = schemaText(name === null ? schema : components[name]);
  return element("div", {}, link, element("pre", {}, text));
}

function tryForm({ path, method, parameters, schema }, components) {
  const inputs = new Map();
  const fields = parameters.map((one) => {
    const input = element("input", { type: "text", required: one.required === true, autocomplete: "off" });
    inputs.set(one, input);
    return element("label", {}, element("code", {}, one.name), input);
  });
  const text = schema === undefined ? "" : JSON.stringify(firstBody(schema, components), null, 2);
  const area = schema === undefined ? null : element("textarea", { value: text, spellcheck: false });
  const stop = element("button", { type: "button", hidden: true }, "Stop");
  const status = element("span", { role: "status" });
  const curl = element("pre", {});
  const answer = element("pre", { hidden: true, tabIndex: 0, "aria-label": "Reply" });
  const form = element(
    "form",
    {},
    ...fields,
    area === null ? null : element("label", {}, "JSON body", area),
    element("div", { className: "buttons" }, element("button", { type: "submit" }, "Send"), stop, status),
    element("details", {}, element("summary", {}, "As curl"), curl),
    answer,
  );
  const request = () => requestOf({ path, method, inputs, body: area?.value ?? null });
  const tell = () => (curl.textContent = curlOf(request()));
  form.addEventListener("input", tell);
  tell();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(request(), { answer, status, stop });
  });
  return form;
}

function requestOf({ path, method, inputs, body }) {
  let address = path;
  const query = new URLSearchParams();
  for (const [{ name, in: where }, { value }] of inputs) {
    if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== "") query.append(name, value);
  }
  const url = new URL(address.slice(1), ROOT);
  url.search = query.toString();
  return { url, method: method.toUpperCase(), body };
}

function curlOf({ url, method, body }) {
  const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const data = body === null ? "" : ` -H 'Content-Type: application/json' -d ${quoted(body)}`;
  const key = byId("key").value === "" ? "" : ' -H "X-Api-Key: $KEY"'; // page.2
  return `curl -s -X ${method} ${quoted(url.href)}${key}${data}`;
}

/** Renders the reply as it arrives: an event stream is readable in progress. */
async function send({ url, method, body }, { answer, status, stop }) {
  const aborted = new AbortController();
  stop.hidden = false;
  stop.addEventListener("click", () => aborted.abort(), { signal: aborted.signal });
  answer.hidden = true;
  status.textContent = "Sending …";
  const begun = performance.now();
  const took = () => `${Math.round(performance.now() - begun)} ms`;
  try {
    const key = byId("key").value;
    const headers = {
      ...(body === null ? {} : { "content-type": "application/json" }),
      ...(key === "" ? {} : { "x-api-key": key }),
    };
    const response = await fetch(url, {
      method,
      headers,
      signal: aborted.signal,
      ...(body === null ? {} : { body }),
    });
    status.textContent = `${response.status} ${response.statusText}, ${took()}`;
    answer.hidden = false;
    const text = await readText(response, (sofar) => (answer.textContent = sofar));
    answer.textContent = pretty(text);
    status.textContent = `${response.status} ${response.statusText}, ${took()}`;
  } catch (error) {
    status.textContent = aborted.signal.aborted ? `Stopped after ${took()}` : `Not sent: ${error.message}`;
  } finally {
    stop.hidden = true;
    aborted.abort(); // removes the listener of the button
  }
}

async function readText(response, onPart) {
  if (response.body === null) return "";
  let text = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    if (text.length > SHOWN_UNITS_MAX) {
      await reader.cancel();
      return `${text.slice(0, SHOWN_UNITS_MAX)}\n… truncated`;
    }
    onPart(text);
  }
  return text;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text === "" ? "(empty)" : text;
  }
}

function find() {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const details of document.querySelectorAll("main section details[data-find]"))
    details.hidden = !words.every((word) => details.dataset.find.includes(word));
  for (const section of document.querySelectorAll("main section"))
    section.hidden = words.length > 0 && section.querySelector("details[data-find]:not([hidden])") === null;
}

/** page.3 */
function openTarget() {
  const target = byId(decodeURIComponent(location.hash.slice(1)));
  if (target === null) return;
  if (target.tagName === "DETAILS") target.open = true;
  target.scrollIntoView();
}

async function start() {
  try {
    show(await readDocument());
  } catch (error) {
    byId("operations").replaceChildren(
      element("p", { role: "alert" }, `${error.message}. With a key above it may be readable.`),
    );
  }
}

byId("find").addEventListener("input", find);
byId("key").addEventListener("change", () => void start());
window.addEventListener("hashchange", openTarget);
void start();
