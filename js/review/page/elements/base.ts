/** The base of all elements: a shadow root with the style of the page. */
import { rules } from "elements-style";

/** `HTMLElement`; where there is no DOM, a class that can be extended, so that a server can import the elements. */
export const BaseElement: typeof HTMLElement =
  globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

let sheet: CSSStyleSheet | undefined;

/**
 * Adds a shadow root with the style of the page to an element. Returns the node in it to draw in. A style sheet that is
 * made by a script is allowed by every content security policy that allows the script.
 */
export function shadowOf(element: HTMLElement, className: string): { root: ShadowRoot; node: HTMLElement } {
  const root = element.attachShadow({ mode: "open" });
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(rules);
  }
  root.adoptedStyleSheets = [sheet];
  const node = document.createElement("div");
  node.className = `embedded ${className}`;
  root.append(node);
  return { root, node };
}

/**
 * Gives an element the properties that a script has set before the element was registered. Without this they would hide
 * the accessors of its class.
 */
export function takeEarlyProperties(element: HTMLElement, names: readonly string[]): void {
  const given = element as unknown as Record<string, unknown>;
  for (const name of names) {
    if (!Object.hasOwn(given, name)) continue;
    const value = given[name];
    delete given[name];
    given[name] = value;
  }
}
