/** Finds mistakes in the layout of a page at its present size. */

/**
 * Returns what cannot be seen or reached: the page scrolls sideways, something is beyond its edge or cut off, lies under
 * something else, or a diff has no room. Runs in the page. A part that scrolls may be wider than the page.
 */
export function layoutProblems(): readonly string[] {
  const problems = new Set<string>();
  const dialog = document.querySelector("dialog[open]");
  const root = dialog ?? document.body;
  const nameOf = (one: Element): string =>
    `${one.localName}.${[...one.classList].join(".")} ${JSON.stringify((one.getAttribute("aria-label") ?? one.textContent ?? "").slice(0, 40))}`;
  const isShown = (one: Element): boolean =>
    one.checkVisibility({ contentVisibilityAuto: false }) && one.closest(".unseen") === null;
  const scrolls = (overflow: string): boolean => overflow === "auto" || overflow === "scroll";

  if (document.documentElement.scrollWidth > innerWidth) problems.add("the page scrolls sideways");
  for (const one of root.querySelectorAll("*")) {
    if (!isShown(one)) continue;
    const style = getComputedStyle(one);
    const isCut = (overflow: string): boolean => overflow === "hidden" || overflow === "clip";
    // A name that is too long ends with an ellipsis; it is whole where it is chosen. A field scrolls.
    if (
      !one.matches("input") &&
      isCut(style.overflowX) &&
      style.textOverflow !== "ellipsis" &&
      one.scrollWidth > one.clientWidth + 1
    )
      problems.add(`cut off: ${nameOf(one)}`);
    if (isCut(style.overflowY) && one.clientHeight > 0 && one.scrollHeight > one.clientHeight + 2)
      problems.add(`cut off below: ${nameOf(one)}`);
    if (one.matches(".diff, .tl-list, .places, .calls, .waiting ul, .editor") && one.clientHeight < 60)
      problems.add(`no room: ${nameOf(one)} has ${one.clientHeight} px`);
  }

  /** The part of a box that its ancestors and the page do not cut off; undefined for nothing. */
  const seenPart = (one: Element, box: DOMRect): DOMRect | undefined => {
    let { left, top, right, bottom } = box;
    for (let at: Element | null = one; at !== null; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const frame = at.getBoundingClientRect();
      left = Math.max(left, frame.left);
      top = Math.max(top, frame.top);
      right = Math.min(right, frame.right);
      bottom = Math.min(bottom, frame.bottom);
    }
    return right - left > 1 && bottom - top > 1
      ? new DOMRect(left, top, right - left, bottom - top)
      : undefined;
  };
  /** The ancestor that scrolls sideways. */
  const scrollerOf = (one: Element): Element | null => {
    let at = one.parentElement;
    while (at !== null && !scrolls(getComputedStyle(at).overflowX)) at = at.parentElement;
    return at;
  };

  const texts: { readonly of: Element; readonly box: DOMRect }[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const of = node.parentElement;
    if (of === null || (node.nodeValue ?? "").trim() === "" || !isShown(of) || of.closest("option") !== null)
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (
        box.right > innerWidth + 1 &&
        scrollerOf(of) === null &&
        getComputedStyle(of).textOverflow !== "ellipsis"
      )
        problems.add(`beyond the edge: ${nameOf(of)}`);
      const seen = seenPart(of, box);
      if (seen !== undefined) texts.push({ of, box: seen });
    }
  }
  for (const [at, one] of texts.entries())
    for (const other of texts.slice(at + 1)) {
      if (one.of === other.of || one.of.contains(other.of) || other.of.contains(one.of)) continue;
      const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (width > 2 && height > 4) problems.add(`overlap: ${nameOf(one.of)} and ${nameOf(other.of)}`);
    }

  for (const one of root.querySelectorAll("button, input, select, textarea, summary, a[href]")) {
    if (!isShown(one)) continue;
    // A row that is not drawn in the visible part of a diff is scrolled to with its keys.
    one.scrollIntoView({ block: "nearest", inline: "nearest" });
    const box = one.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const hit = document.elementFromPoint(x, y);
    const isReached =
      hit !== null &&
      (one.contains(hit) || hit.contains(one) || hit.closest("label")?.contains(one) === true);
    if (!isReached)
      problems.add(`not reached: ${nameOf(one)}, under ${hit === null ? "the edge" : nameOf(hit)}`);
  }
  scrollTo(0, 0);
  return [...problems];
}
