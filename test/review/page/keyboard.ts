/** A person who has only a keyboard: goes to what has a name by Tab, and sees where the focus is. */
import type { Page } from "playwright-core";

/** Where the focus is. */
interface Focused {
  /** The name of the element, as far as it has one; `nowhere` for the page itself. */
  readonly name: string;
  /** Why the focus cannot be seen; undefined if it can. */
  readonly unseen?: string;
}

/** The number of presses of Tab after which a page is taken for a trap. */
const MAX_STOPS = 150;

/** A keyboard. */
interface Keyboard {
  /** Where the focus could not be seen after Tab, and why. */
  readonly unseen: ReadonlySet<string>;
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  focused(): Promise<Focused>;
  /** Presses Tab until an element with this name has the focus. @throws when there is none */
  tabTo(name: RegExp | string, back?: boolean): Promise<void>;
  /** Goes once around the page, or the open dialog. Returns the names of all stops. @throws when it does not come around */
  around(): Promise<readonly string[]>;
}

/** Returns the keyboard of a page. */
export function keyboardOf(page: Page): Keyboard {
  const unseen = new Set<string>();
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focused = (): Promise<Focused> => page.evaluate(lookAtFocus);
  const tab = async (back: boolean): Promise<string> => {
    await press(back ? "Shift+Tab" : "Tab");
    const { name, unseen: why } = await focused();
    if (why !== undefined) unseen.add(`${name}: ${why}`);
    return name;
  };
  const isNamed = (name: string, wanted: RegExp | string): boolean =>
    typeof wanted === "string" ? name === wanted : wanted.test(name);
  return {
    unseen,
    press,
    type: (text) => page.keyboard.type(text),
    focused,
    async tabTo(wanted, back = false) {
      const stops: string[] = [];
      while (stops.length < MAX_STOPS) {
        const name = await tab(back);
        if (isNamed(name, wanted)) return;
        stops.push(name);
      }
      throw new Error(`Tab does not reach ${wanted}, but ${[...new Set(stops)].join(" | ")}`);
    },
    async around() {
      const first = await tab(false);
      const stops = [first];
      while (stops.length < MAX_STOPS) {
        const name = await tab(false);
        if (name === first) return stops.filter((one) => one !== "nowhere");
        stops.push(name);
      }
      throw new Error(`a trap: ${stops.slice(-5).join(" | ")}`);
    },
  };
}

/** Runs in the page. */
function lookAtFocus(): Focused {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (at === null || at === document.body || at === document.documentElement) return { name: "nowhere" };
  const element = at as HTMLElement;
  const labels = "labels" in element ? [...((element as HTMLInputElement).labels ?? [])] : [];
  const name = (
    element.getAttribute("aria-label") ??
    (labels.map((label) => label.textContent).join(" ") || element.textContent || "")
  )
    .replace(/\s+/gu, " ")
    .trim();
  const isOutlined = (one: Element): boolean => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1;
  };
  // A box that is not drawn itself shows the focus on its label; an editor on its frame.
  const shown = [element, element.closest("label"), element.closest(".cm-editor")].find(
    (one) => one !== null && isOutlined(one),
  );
  if (shown === undefined || shown === null) return { name, unseen: "no outline" };
  const { outlineOffset, outlineWidth } = getComputedStyle(shown);
  const reach = Math.max(0, Number.parseFloat(outlineOffset) + Number.parseFloat(outlineWidth));
  const box = shown.getBoundingClientRect();
  if (box.width === 0 || box.height === 0) return { name, unseen: "no size" };
  const sides = {
    left: box.left - reach,
    right: box.right + reach,
    top: box.top - reach,
    bottom: box.bottom + reach,
  };
  const cut = new Set<string>();
  const cutBy = (left: number, top: number, right: number, bottom: number): void => {
    if (sides.left < left - 0.5) cut.add("left");
    if (sides.top < top - 0.5) cut.add("top");
    if (sides.right > right + 0.5) cut.add("right");
    if (sides.bottom > bottom + 0.5) cut.add("bottom");
  };
  cutBy(0, 0, innerWidth, innerHeight);
  for (let one = shown.parentElement; one !== null; one = one.parentElement) {
    if (getComputedStyle(one).overflow === "visible") continue;
    const { left, top } = one.getBoundingClientRect();
    const [x, y] = [left + one.clientLeft, top + one.clientTop];
    cutBy(x, y, x + one.clientWidth, y + one.clientHeight);
  }
  return cut.size === 0 ? { name } : { name, unseen: `cut off ${[...cut].join(", ")}` };
}
