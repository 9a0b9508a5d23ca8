// Makes the style of the elements of the style of the review page: in a shadow root there is no `:root`, the page
// around sets colours by custom properties and its own colour scheme, and the width that counts is the element's.
const ROOT = /:root\s*\{([^}]*)\}/u;
const DARK_ROOT = /@media \(prefers-color-scheme:\s*dark\)\s*\{\s*:root\s*\{([^}]*)\}\s*\}/u;

/** Returns the custom properties of a block, by their names without the dashes. */
const propertiesOf = (block) =>
  new Map([...block.matchAll(/--([a-z-]+):\s*([^;]+);?/gu)].map(([, name, value]) => [name, value.trim()]));

/**
 * Returns the rules for a shadow root, and the names of the custom properties that the page around can set.
 *
 * @param {string} css the style of the page
 * @returns {{ rules: string, properties: readonly string[] }}
 */
export function elementStyle(css) {
  const dark = propertiesOf(DARK_ROOT.exec(css)?.[1] ?? "");
  const withoutDark = css.replace(DARK_ROOT, "");
  const light = propertiesOf(ROOT.exec(withoutDark)?.[1] ?? "");
  const declarations = [...light].map(([name, value]) => {
    const both = dark.has(name) ? `light-dark(${value}, ${dark.get(name)})` : value;
    return `--${name}: var(--filewright-${name}, ${both});`;
  });
  const rules = withoutDark
    .replace(ROOT, `:host { ${declarations.join(" ")} }`)
    .replaceAll(/@media \(width\s*</gu, "@container (width <");
  if (dark.size === 0 || light.size === 0 || rules.includes(":root"))
    throw new Error("the style of the review page has another form than elementStyle expects");
  return { rules, properties: [...light.keys()] };
}
