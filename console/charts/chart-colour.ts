// Chart colour: a canvas knows no variables of a style sheet, so they are looked up where the chart stands.

/** A colour that is told for light and dark becomes the one that is shown: "--accent" → "rgb(43, 71, 209)". */
export function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
