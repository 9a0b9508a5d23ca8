/**
 * Values that our own parsers locate, against parsers of others: smol-toml reads what stands at a pointer into
 * TOML, and jsonc-parser says where a value of JSON with comments begins and ends.
 */
import fc from "fast-check";
import { type Node, parseTree } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { expect, test } from "vitest";
import { locateJson } from "../../js/readers/structured/json.ts";
import { parsePointer, pointerOf } from "../../js/readers/structured/pointer.ts";
import { locateToml } from "../../js/readers/structured/toml.ts";

/** Keys that need quotes, escapes in a pointer, or look like something else. */
const KEYS = ["a", "b", "key", "1", "true", "a.b", "c d", "", "é", "~", "/", "#", "[x]", 'q"t', "it's", "="];
const keys = fc.constantFrom(...KEYS);

/** A text and its JSON string: the same form is a basic string of TOML. */
const quoted = fc
  .string({ unit: fc.constantFrom("a", "#", "]", "=", '"', "'", "\\", "\n", "é", "😀", " ", "[t]") })
  .map((text) => JSON.stringify(text));

const bareKey = (key: string): string => (/^[A-Za-z0-9_-]+$/u.test(key) ? key : JSON.stringify(key));
const literalKey = (key: string): string => (key.includes("'") ? JSON.stringify(key) : `'${key}'`);
const tomlKey = fc
  .tuple(keys, fc.boolean())
  .map(([key, literal]) => (literal ? literalKey(key) : bareKey(key)));
const dotted = (most: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(tomlKey, { minLength: 1, maxLength: most }), fc.constantFrom(".", " . "))
    .map(([names, dot]) => names.join(dot));

const tomlScalar = fc.oneof(
  quoted,
  fc.constantFrom("'a # b'", "''", '"""\nx = 1 # "no"\n[t]\n"""', "'''\nit''s\n'''", '"""a""""', "''''b'''"),
  fc.integer().map(String),
  fc.constantFrom("0x1f", "1_000", "-2.5e3", "inf", "true", "false"),
  fc.constantFrom("1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00.5"),
);
const { value: tomlValue } = fc.letrec<{ value: string }>((again) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    tomlScalar,
    fc
      .tuple(
        fc.array(again("value"), { maxLength: 3 }),
        fc.constantFrom(", ", ",\n  ", ", # ] note\n"),
        fc.boolean(),
      )
      .map(([items, comma, last]) => `[${items.join(comma)}${last && items.length > 0 ? comma : ""}]`),
    fc
      .uniqueArray(fc.tuple(tomlKey, again("value")), { maxLength: 3, selector: ([key]) => key })
      .map((pairs) => `{ ${pairs.map(([key, value]) => `${key} = ${value}`).join(", ")} }`),
  ),
}));
const pairs = fc
  .array(fc.tuple(dotted(2), tomlValue, fc.constantFrom("", " # = [a]", "\t")), { maxLength: 3 })
  .map((all) => all.map(([key, value, rest]) => `${key} = ${value}${rest}\n`).join(""));
const tomlText = fc
  .tuple(
    pairs,
    fc.array(fc.tuple(fc.constantFrom("[]", "[]", "[[]]"), dotted(2), pairs), { maxLength: 4 }),
    fc.constantFrom("\n", "\r\n"),
    fc.constantFrom("", "\ufeff"),
  )
  .map(([first, tables, eol, mark]) => {
    const rest = tables.map(([brackets, name, body]) => {
      const half = brackets.length / 2;
      return `\n${brackets.slice(0, half)} ${name} ${brackets.slice(half)} # [no]\n${body}`;
    });
    return mark + (first + rest.join("")).replaceAll("\n", eol);
  });

/** What smol-toml reads; undefined for a text that it refuses, such as one that has a key twice. */
function readToml(text: string): unknown {
  try {
    return parseToml(text.replace(/^\ufeff/u, ""));
  } catch {
    return undefined;
  }
}

type Leaf = readonly [path: readonly string[], value: unknown];

const isBranch = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof Date);

/** The values without children, with the keys that lead to them. */
function leavesOf(value: unknown, path: readonly string[] = []): readonly Leaf[] {
  if (!isBranch(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, [...path, key]));
}

/** The same value with another one at a path. */
function withValue(value: unknown, [key, ...rest]: readonly string[], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  const members = copy as Record<string, unknown>;
  Object.defineProperty(copy, key, {
    value: withValue(members[key], rest, replacement),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return copy;
}

test("each value of TOML is located as smol-toml reads it, and can be replaced alone", () => {
  let located = 0;
  fc.assert(
    fc.property(tomlText, (text) => {
      const whole = readToml(text);
      fc.pre(whole !== undefined);
      for (const [path, value] of leavesOf(whole)) {
        const { start, end } = locateToml(text, parsePointer(pointerOf(path)));
        expect(readToml(`v = ${text.slice(start, end)}`), `${pointerOf(path)} in ${text}`).toEqual({
          v: value,
        });
        const replaced = readToml(`${text.slice(0, start)}"other"${text.slice(end)}`);
        expect(replaced, `${pointerOf(path)} replaced in ${text}`).toEqual(withValue(whole, path, "other"));
        located += 1;
      }
    }),
    { numRuns: 500 },
  );
  expect(located).toBeGreaterThan(500);
});

/** White space and comments between the tokens of JSON. */
const gap = fc.constantFrom("", " ", "\n", "\r\n\t", "/* ] , */", "// }\n", "\n// a\n/* b */ ");
const { value: jsonText } = fc.letrec<{ value: string }>((again) => {
  const member = fc.tuple(gap, again("value"), gap).map((parts) => parts.join(""));
  const comma = fc.constantFrom("", ",");
  return {
    value: fc.oneof(
      { maxDepth: 4 },
      quoted,
      fc.constantFrom("0", "-1.5e+10", "123456789012345678901234567890", "true", "false", "null"),
      fc
        .tuple(fc.array(member, { maxLength: 4 }), comma, gap)
        .map(([items, last, space]) => `[${items.join(",")}${items.length > 0 ? last : ""}${space}]`),
      fc
        .tuple(
          fc.uniqueArray(fc.tuple(gap, keys, gap, member), { maxLength: 4, selector: (m) => m[1] }),
          comma,
          gap,
        )
        .map(([members, last, space]) => {
          const inside = members.map(
            ([before, key, after, value]) => `${before}${JSON.stringify(key)}${after}:${value}`,
          );
          return `{${inside.join(",")}${members.length > 0 ? last : ""}${space}}`;
        }),
    ),
  };
});

/** All nodes of a tree with the keys that lead to them. */
function nodesOf(node: Node, path: readonly string[] = []): readonly (readonly [readonly string[], Node])[] {
  const children = node.children ?? [];
  const below =
    node.type === "array"
      ? children.flatMap((child, index) => nodesOf(child, [...path, String(index)]))
      : node.type === "object"
        ? children.flatMap(({ children: [key, value] = [] }) =>
            nodesOf(value as Node, [...path, (key as Node).value as string]),
          )
        : [];
  return [[path, node], ...below];
}

test("each value of JSON with comments is located where jsonc-parser finds it", () => {
  let located = 0;
  fc.assert(
    fc.property(gap, jsonText, gap, (before, value, after) => {
      const text = before + value + after;
      for (const [path, node] of nodesOf(parseTree(text, [], { allowTrailingComma: true }) as Node)) {
        const { start, end, type } = locateJson(text, parsePointer(pointerOf(path)));
        expect([start, end, type], `${pointerOf(path)} in ${text}`).toEqual([
          node.offset,
          node.offset + node.length,
          node.type,
        ]);
        located += 1;
      }
    }),
    { numRuns: 1000 },
  );
  expect(located).toBeGreaterThan(2000);
});
