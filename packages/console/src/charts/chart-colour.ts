// Chart colour: a canvas has no CSS variables, so the chart resolves them at its element.

/** Resolves a light/dark colour to the current one: "--accent" → "rgb(43, 71, 209)". */
export function readColour(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
