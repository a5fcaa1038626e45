// Slack's rules for messages and views, from its Block Kit reference.
// https://docs.slack.dev/reference/block-kit/blocks

type Plain = Readonly<Record<string, unknown>>;

/** @returns every rule that a message breaks */
export function brokenSlackRules(message: unknown): readonly string[] {
  return brokenRules((rules) => rules.message(message as Plain));
}

/** @returns every rule that a view breaks */
export function brokenViewRules(view: unknown): readonly string[] {
  return brokenRules((rules) => rules.view(view as Plain));
}

interface Rules {
  readonly message: (message: Plain) => void;
  readonly view: (view: Plain) => void;
}

function brokenRules(check: (rules: Rules) => void): readonly string[] {
  const broken: string[] = [];
  const must = (holds: boolean, rule: string): void => {
    if (!holds) broken.push(rule);
  };
  const only = (object: Plain, names: readonly string[], where: string): void => {
    for (const name of Object.keys(object)) must(names.includes(name), `${where}: no field ${name}`);
  };
  const text = (value: unknown, where: string, types: readonly string[], unitsMax: number): void => {
    const { type, text: content } = (value ?? {}) as Plain;
    only((value ?? {}) as Plain, ["type", "text", "emoji", "verbatim"], where);
    must(types.includes(String(type)), `${where}: type ${String(type)}`);
    must(typeof content === "string" && content.length > 0, `${where}: has text`);
    must(String(content).length <= unitsMax, `${where}: at most ${unitsMax} characters, has ${String(content).length}`);
    must(type === "plain_text" || (value as Plain)["emoji"] === undefined, `${where}: emoji is for plain_text`);
    if (type === "mrkdwn") must(!/&(?!(amp|lt|gt);)/.test(String(content)), `${where}: & is escaped`);
  };
  const both = ["mrkdwn", "plain_text"];
  const element = (one: Plain, where: string): void => {
    only(one, ["type", "text", "url", "style", "value", "action_id"], where);
    must(one["type"] === "button", `${where}: type ${String(one["type"])}`);
    text(one["text"], `${where}.text`, ["plain_text"], 75);
    must(["primary", "danger", undefined].includes(one["style"] as string | undefined), `${where}: style`);
    const { url, value, action_id: action } = one;
    if (action === undefined) must(typeof url === "string" && URL.canParse(url) && url.length <= 3000, `${where}: url`);
    else must(typeof action === "string" && action.length > 0 && action.length <= 255, `${where}: action_id`);
    must(value === undefined || (typeof value === "string" && value.length <= 2000), `${where}: value`);
  };
  const select = (one: Plain, where: string): void => {
    only(one, ["type", "action_id", "options", "initial_option", "placeholder"], where);
    const options = (one["options"] ?? []) as readonly Plain[];
    must(options.length > 0 && options.length <= 100, `${where}: 1 to 100 options`);
    for (const [at, option] of options.entries()) {
      only(option, ["text", "value", "description"], `${where}.options[${at}]`);
      text(option["text"], `${where}.options[${at}].text`, ["plain_text"], 75);
      must(String(option["value"]).length <= 150, `${where}.options[${at}]: value`);
    }
    must(new Set(options.map(({ value }) => value)).size === options.length, `${where}: values are unique`);
  };
  const input = (one: Plain, where: string): void => {
    if (one["type"] === "static_select") return select(one, where);
    only(one, ["type", "action_id", "initial_value", "multiline", "min_length", "max_length", "placeholder"], where);
    must(one["type"] === "plain_text_input", `${where}: type ${String(one["type"])}`);
    const { max_length: max = 3000, initial_value: initial = "" } = one;
    must(Number(max) >= 1 && Number(max) <= 3000, `${where}: max_length`);
    must(typeof initial === "string" && initial.length <= Number(max), `${where}: initial_value`);
  };
  const rules: Readonly<Record<string, (block: Plain, where: string) => void>> = {
    header(block, where) {
      only(block, ["type", "text", "block_id"], where);
      text(block["text"], `${where}.text`, ["plain_text"], 150);
    },
    section(block, where) {
      only(block, ["type", "text", "fields", "accessory", "block_id"], where);
      const fields = (block["fields"] ?? []) as readonly unknown[];
      must(block["text"] !== undefined || fields.length > 0, `${where}: text or fields`);
      must(fields.length <= 10, `${where}: at most 10 fields`);
      if (block["text"] !== undefined) text(block["text"], `${where}.text`, both, 3000);
      for (const [at, field] of fields.entries()) text(field, `${where}.fields[${at}]`, both, 2000);
    },
    actions(block, where) {
      only(block, ["type", "elements", "block_id"], where);
      const elements = (block["elements"] ?? []) as readonly Plain[];
      must(elements.length > 0 && elements.length <= 25, `${where}: 1 to 25 elements`);
      const actions = elements.flatMap(({ action_id: id }) => (id === undefined ? [] : [id]));
      must(new Set(actions).size === actions.length, `${where}: action_id is unique`);
      for (const [at, one] of elements.entries()) element(one, `${where}.elements[${at}]`);
    },
    context(block, where) {
      only(block, ["type", "elements", "block_id"], where);
      const elements = (block["elements"] ?? []) as readonly unknown[];
      must(elements.length > 0 && elements.length <= 10, `${where}: 1 to 10 elements`);
      for (const [at, one] of elements.entries()) text(one, `${where}.elements[${at}]`, both, 3000);
    },
  };
  const inputBlock = (block: Plain, where: string): void => {
    only(block, ["type", "block_id", "label", "element", "optional", "hint", "dispatch_action"], where);
    text(block["label"], `${where}.label`, ["plain_text"], 2000);
    input((block["element"] ?? {}) as Plain, `${where}.element`);
  };
  const listBlocks = (blocks: unknown, most: number, more: typeof rules): void => {
    must(Array.isArray(blocks) && blocks.length > 0 && blocks.length <= most, `1 to ${most} blocks`);
    for (const [at, block] of (blocks as readonly Plain[]).entries()) {
      const rule = rules[String(block["type"])] ?? more[String(block["type"])];
      const where = `blocks[${at}]`;
      if (rule === undefined) broken.push(`${where}: type ${String(block["type"])}`);
      else rule(block, where);
    }
  };
  check({
    message(message) {
      const { text: fallback, blocks } = message;
      only(message, ["text", "blocks"], "message");
      must(typeof fallback === "string" && fallback.length > 0 && fallback.length <= 40_000, "message: text");
      listBlocks(blocks, 50, {});
    },
    view(view) {
      only(view, ["type", "callback_id", "private_metadata", "title", "submit", "close", "blocks"], "view");
      must(view["type"] === "modal", "view: type");
      for (const name of ["title", "submit", "close"]) text(view[name], `view.${name}`, ["plain_text"], 24);
      const { private_metadata: state = "", callback_id: callback = "" } = view;
      must(typeof state === "string" && state.length <= 3000, "view: private_metadata");
      must(typeof callback === "string" && callback.length <= 255, "view: callback_id");
      listBlocks(view["blocks"], 100, { input: inputBlock });
    },
  });
  return broken;
}
