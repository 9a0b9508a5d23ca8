/** scripts/ratchet.mjs finds each kind of offender, and its list only shrinks. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { expressionOffenders } from "../../scripts/lib/ratchet/expressions.mjs";
import { functionOffenders, suppressionFaults } from "../../scripts/lib/ratchet/functions.mjs";
import {
  compareWithList,
  formatList,
  growthFaults,
  LIST_PATH,
  parseList,
  type Offender,
} from "../../scripts/lib/ratchet/list.mjs";
import { loadSources } from "../../scripts/lib/ratchet/program.mjs";
import { surfaceOffenders } from "../../scripts/lib/ratchet/surface.mjs";
import { typeOffenders } from "../../scripts/lib/ratchet/types.mjs";
import { checkRatchet, shrinkList } from "../../scripts/ratchet.mjs";

const folder = mkdtempSync(join(tmpdir(), "filewright-ratchet-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(checkout: string, path: string, text: string): void {
  mkdirSync(dirname(join(checkout, path)), { recursive: true });
  writeFileSync(join(checkout, path), text);
}

function checkoutOf(name: string, files: Record<string, string>): string {
  const made = join(folder, name);
  for (const [path, text] of Object.entries(files)) write(made, path, text);
  return made;
}

const times = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => of(i));
/** Members of a type: the required ones and the optional ones have names of their own. */
const members = (count: number, optional = 0, prefix = "m") =>
  [
    ...times(count - optional, (i) => `${prefix}${i}: string;`),
    ...times(optional, (i) => `${prefix}o${i}?: string;`),
  ].join(" ");
const longBody = times(61, (i) => `  run(${i});`).join("\n");
const nested = "if (a) { if (a) { if (a) { if (a) { if (a) { if (a) { run(); } } } } } }";

describe("functions", () => {
  const source = `
declare const a: boolean;
declare function run(value?: number): void;
export function long(): void {
${longBody}
}
export function blank(): void {
${times(70, () => "").join("\n")}
}
export class Journal {
  append(): void { ${nested} }
  #both = (a1: 1, a2: 1, a3: 1, a4: 1, a5: 1): void => { ${nested} };
}
export const table = { entry(p: 1, q: 1, r: 1, s: 1, t: 1, u: 1): void {} };
export const each = [1].map(() => { ${nested} });
export const again = [1].map(() => { ${nested} });
`;
  const checkout = checkoutOf("functions", {
    "js/a.ts": source,
    "js/generated/b.ts": source,
    "scripts/c.mjs": "export function wide(a, b, c, d, e) {}\n",
    "test/d.test.ts": "export function wide(a: 1, b: 1, c: 1, d: 1, e: 1) {}\n",
    "test/deep/e.mjs": "export const wide = (a, b, c, d, e) => {};\n",
    "bench/f.mjs":
      "// biome-ignore lint/complexity/useMaxParams: never\nexport function wide(a, b, c, d, e) {}\n",
  });

  it("are found by the rules of biome, with names that lines do not change", async () => {
    const { complexity, lines, parameters } = await functionOffenders(checkout);
    const named = (found: Offender[]) =>
      found.map(({ path, name, figure }) => `${path} ${name} ${figure}`).sort();
    expect(named(complexity)).toEqual([
      "js/a.ts Journal.#both 21",
      "js/a.ts Journal.append 21",
      "js/a.ts again.map() 21",
      "js/a.ts each.map() 21",
    ]);
    expect(named(lines)).toEqual(["js/a.ts long 61"]);
    expect(named(parameters)).toEqual([
      "js/a.ts Journal.#both 5",
      "js/a.ts table.entry 6",
      "scripts/c.mjs wide 5",
      "test/deep/e.mjs wide 5",
    ]);
  });

  it("do not get a rule turned off by a comment", () => {
    expect(suppressionFaults(checkout)).toEqual([
      "bench/f.mjs turns a rule of the ratchet off; remove the comment biome-ignore",
    ]);
  });
});

describe("types", () => {
  const cases: Record<string, readonly [source: string, offenders: readonly string[]]> = {
    "an interface": [`export interface A { ${members(16)} }`, ["members A 16"]],
    "an interface at the limit": [`export interface A { ${members(15, 6)} }`, []],
    "optional members": [`export interface A { ${members(7, 7)} }`, ["optional A 7"]],
    "members that may be undefined": [
      `export interface A { ${times(7, (i) => `m${i}: string | undefined;`).join(" ")} }`,
      ["optional A 7"],
    ],
    heritage: [
      `interface B { ${members(10)} }\nexport interface A extends B { ${members(6, 0, "a")} }`,
      ["members A 16"],
    ],
    "an intersection": [
      `interface B { ${members(10)} }\ntype C = { ${members(6, 0, "c")} };\nexport type A = B & C;`,
      ["members A 16"],
    ],
    "heritage through an intersection of aliases": [
      `type B = { ${members(8, 4)} };\ntype C = B & { ${members(5, 3, "c")} };\nexport interface A extends C { ${members(4, 0, "a")} }`,
      ["members A 17", "optional C 7", "optional A 7"],
    ],
    "a mapped type": [`interface B { ${members(8)} }\nexport type A = Partial<B>;`, ["optional A 8"]],
    "a mapped type that leaves members out": [
      `interface B { ${members(17)} }\nexport type A = Omit<B, "m0">;\nexport type C = Pick<B, "m1" | "m2">;`,
      ["members B 17", "members A 16"],
    ],
    "a union, by its largest part": [
      `export type A = { kind: 1; ${members(16)} } | { kind: 2 };`,
      ["members A 17"],
    ],
    "a part of a union that has a name, where it is declared": [
      `interface B { ${members(16)} }\nexport type A = B | { kind: 2 };`,
      ["members B 16"],
    ],
    "another name of a type, where it is declared": [
      `interface B { ${members(16)} }\nexport type A = B;`,
      ["members B 16"],
    ],
    "a type without a name": [
      `export function open(options: { ${members(7, 7)} }): void {}`,
      ["optional open.options 7"],
    ],
    "an intersection without a name": [
      `interface B { ${members(10)} }\ninterface C { ${members(6, 0, "c")} }\nexport function open(a: B & C): void {}`,
      ["members open.a 16"],
    ],
    "an intersection without a name whose part is an offender": [
      `interface B { ${members(16)} }\nexport function open(a: B & { x: 1 }): void {}`,
      ["members B 16"],
    ],
    "a class, by its own public members": [
      `interface B { ${members(10)} }\nexport class A implements B { ${members(10)} ${members(15, 0, "own")} #a = 1; private b = 1; }\nexport class C { ${members(16)} }`,
      ["members C 16"],
    ],
    "an interface of two declarations once": [
      `export interface A { ${members(8)} }\nexport interface A { ${members(8, 0, "a")} }`,
      ["members A 16"],
    ],
    "no keys of a table": [
      `const TABLE = { ${times(20, (i) => `k${i}: 1`).join(", ")} };\nexport type A = typeof TABLE;\nexport type B = Record<keyof A, string>;`,
      [],
    ],
    "no members of the standard library": ["export interface A extends Array<string> { own: 1 }", []],
  };
  const names = Object.keys(cases);
  let found: Map<string, string[]>;
  beforeAll(() => {
    const files = Object.fromEntries(names.map((name, i) => [`js/t${i}.ts`, `${cases[name]![0]}\n`]));
    const { members, optional } = typeOffenders(loadSources(checkoutOf("types", files)));
    found = new Map();
    for (const [kind, offenders] of Object.entries({ members, optional }))
      for (const { path, name, figure } of offenders)
        found.set(path, [...(found.get(path) ?? []), `${kind} ${name} ${figure}`]);
  });

  test.each(names)("count %s", (name) => {
    expect(found.get(`js/t${names.indexOf(name)}.ts`) ?? []).toEqual(cases[name]![1]);
  });
});

describe("expressions", () => {
  const given = "declare const a: string | undefined, b: { c?: string } | undefined, list: string[];\n";
  const spreads: Record<string, readonly [expression: string, count: number]> = {
    "an empty object if true": ["{ ...(a ? {} : { a }) }", 1],
    "an empty object if false": ["{ ...(a ? { a } : {}) }", 1],
    "nothing if false": ["{ ...(a ? { a } : undefined) }", 1],
    "null if false": ["{ ...(a ? { a } : null) }", 1],
    "one of two objects": ["{ ...(a ? { a } : { b }) }", 1],
    "a condition in a condition": ["{ ...(a ? (b ? {} : { b }) : { a }) }", 1],
    and: ["{ ...(a && { a }) }", 1],
    "a comparison and": ["{ ...(a !== undefined && { a }) }", 1],
    "or else an empty object": ["{ ...(b ?? {}) }", 1],
    "or an empty object": ["{ ...(b || {}) }", 1],
    "no parentheses": ["{ ...b ?? {} }", 1],
    "an assertion": ["{ ...((a ? { a } : {}) as { a?: string }) }", 1],
    "two in one object": ["{ ...(a ? { a } : {}), ...(b ? { b } : {}) }", 2],
    "one in another": ["{ ...(a ? { x: { ...(b ? { b } : {}) } } : {}) }", 2],
    "a variable": ["(() => { const x = a ? { a } : {}; return { ...x }; })()", 1],
    "a function for it": [
      "(() => { const of = (v?: string) => (v ? { v } : {}); return { ...of(a) }; })()",
      1,
    ],
    "a function with two returns": [
      "(() => { function of() { if (a) return { a }; return {}; } return { ...of() }; })()",
      1,
    ],
    "a function that drops undefined": [
      "(() => { const of = (v: object) => Object.fromEntries(Object.entries(v).filter(([, x]) => x !== undefined)); return { ...of({ a }) }; })()",
      1,
    ],
    "Object.assign": ["Object.assign({}, a ? { a } : {})", 1],
    "a default with members": ["{ ...(b ?? { c: '' }) }", 0],
    "a plain value": ["{ ...b, x: a ? 1 : 2 }", 0],
    "a variable that is nothing nowhere near": [
      "(() => { const x = a ? { a } : undefined; if (x === undefined) return a; return { ...x }; })()",
      0,
    ],
    "a list": ["[...(a ? [a] : []), ...list]", 0],
    "a text that looks like one": ["'{ ...(a ? {} : { a }) }'", 0],
  };
  const weak: Record<string, readonly [source: string, count: number]> = {
    "a value": ["export const w = new WeakMap<object, string>();", 1],
    "a set": ["export const w = new WeakSet();", 1],
    "a member": ["export class A { readonly #of = new WeakMap(); }", 1],
    heritage: ["export class A extends WeakMap<object, string> {}", 1],
    "a name for it": ["export const W = globalThis.WeakMap;", 1],
    "two on a line": ["export const w = [new WeakMap(), new WeakSet()];", 2],
    "a type": ["export function f(w: WeakMap<object, string>): WeakSet<object> | void {}", 0],
    "a comment": ["// new WeakMap()\nexport const w = 1;", 0],
  };
  const [spreadNames, weakNames] = [Object.keys(spreads), Object.keys(weak)];
  let counts: Map<string, number>;
  beforeAll(() => {
    const checkout = checkoutOf("expressions", {
      ...Object.fromEntries(
        spreadNames.map((name, i) => [
          `js/spread${i}.ts`,
          `${given}export const s = ${spreads[name]![0]};\n`,
        ]),
      ),
      ...Object.fromEntries(weakNames.map((name, i) => [`js/weak${i}.ts`, `${weak[name]![0]}\n`])),
      "js/page.tsx": `${given}export const p = <div {...(a ? { a } : {})} />;\n`,
    });
    const found = expressionOffenders(loadSources(checkout));
    counts = new Map([...found.spreads, ...found.weak].map(({ path, figure }) => [path, figure]));
  });

  test.each(spreadNames)("count a spread of %s", (name) => {
    expect(counts.get(`js/spread${spreadNames.indexOf(name)}.ts`) ?? 0).toBe(spreads[name]![1]);
  });
  test("count a spread of attributes", () => expect(counts.get("js/page.tsx")).toBe(1));
  test.each(weakNames)("count a weak collection as %s", (name) => {
    expect(counts.get(`js/weak${weakNames.indexOf(name)}.ts`) ?? 0).toBe(weak[name]![1]);
  });
});

test("entries and options are counted without the manifest and the heads of tables", () => {
  const checkout = checkoutOf("surface", {
    "package.json": JSON.stringify({
      exports: { ".": "./a.js", "./b": "./b.js", "./package.json": "./package.json" },
    }),
    "docs/reference/options.md": "| option | type |\n|---|---|\n| `a` | string |\n| `b` | string |\n",
  });
  const { entries, options } = surfaceOffenders(checkout);
  expect([entries[0]!.figure, options[0]!.figure]).toEqual([2, 2]);
});

const row = (path: string, name: string, figure: number): Offender => ({ path, name, figure });

describe("the list", () => {
  const listed = [row("js/a.ts", "f", 20), row("js/b.ts", "g", 30)];
  const cases: Record<
    string,
    readonly [found: Offender[], refused: readonly string[], stale: readonly string[]]
  > = {
    "is met by the same offenders": [listed, [], []],
    "refuses a new offender": [
      [...listed, row("js/c.ts", "h", 16)],
      ["js/c.ts: h is not on the list with cognitive complexity 16: make it at most 15"],
      [],
    ],
    "refuses a figure that has grown": [
      [row("js/a.ts", "f", 21), listed[1]!],
      ["js/a.ts: f has grown from 20 to 21 (cognitive complexity): make it smaller"],
      [],
    ],
    "finds a row stale whose offender is gone": [
      [listed[0]!],
      [],
      ["js/b.ts: g is no offender any more (cognitive complexity, listed with 30)"],
    ],
    "finds a row stale whose figure has shrunk": [
      [row("js/a.ts", "f", 17), listed[1]!],
      [],
      ["js/a.ts: f has shrunk from 20 to 17 (cognitive complexity)"],
    ],
    "moves a row with its function": [
      [row("js/new.ts", "A.f", 20), listed[1]!],
      [],
      ["js/a.ts: f has become js/new.ts: A.f (cognitive complexity)"],
    ],
    "renames a row with its function": [
      [row("js/a.ts", "renamed", 19), listed[1]!],
      [],
      ["js/a.ts: f has become js/a.ts: renamed (cognitive complexity)"],
    ],
    "refuses an offender with another name in another file": [
      [row("js/new.ts", "other", 20), listed[1]!],
      ["js/new.ts: other is not on the list with cognitive complexity 20: make it at most 15"],
      ["js/a.ts: f is no offender any more (cognitive complexity, listed with 20)"],
    ],
    "refuses two offenders in the place of one": [
      [row("js/a.ts", "one", 18), row("js/a.ts", "two", 18), listed[1]!],
      ["js/a.ts: two is not on the list with cognitive complexity 18: make it at most 15"],
      ["js/a.ts: f has become js/a.ts: one (cognitive complexity)"],
    ],
  };
  it("lets the second of two functions take the name of the first", () => {
    const two = new Map([["complexity", [row("js/a.ts", "map()", 17), row("js/a.ts", "map()#2", 30)]]]);
    expect(compareWithList("complexity", [row("js/a.ts", "map()", 30)], two)).toEqual({
      refused: [],
      stale: ["js/a.ts: map()#2 has become js/a.ts: map() (cognitive complexity)"],
    });
  });

  test.each(Object.entries(cases))("%s", (_, [found, refused, stale]) => {
    expect(compareWithList("complexity", found, new Map([["complexity", listed]]))).toEqual({
      refused,
      stale,
    });
  });

  const counted = [row("js/a.ts", "", 3), row("js/b.ts", "", 2)];
  const totals: Record<string, readonly [found: Offender[], refused: number, stale: number]> = {
    "is met by the same counts": [counted, 0, 0],
    "refuses one more in a file": [[row("js/a.ts", "", 4), counted[1]!], 1, 0],
    "refuses one in another file": [[...counted, row("js/c.ts", "", 1)], 1, 0],
    "moves a count to another file": [[row("js/a.ts", "", 1), row("js/c.ts", "", 2), counted[1]!], 0, 2],
    "finds a count stale that has shrunk": [[row("js/a.ts", "", 2), counted[1]!], 0, 1],
  };
  test.each(Object.entries(totals))("of counts %s", (_, [found, refused, stale]) => {
    const difference = compareWithList("spreads", found, new Map([["spreads", counted]]));
    expect([difference.refused.length, difference.stale.length]).toEqual([refused, stale]);
  });

  it("is read as it was written", () => {
    const list = new Map([
      ["complexity", listed],
      ["weak", []],
    ]);
    expect(parseList(formatList(list))).toEqual(list);
  });
});

describe("an earlier list", () => {
  const earlier = new Map([
    ["complexity", [row("js/a.ts", "f", 20), row("js/b.ts", "g", 30)]],
    ["spreads", [row("js/a.ts", "", 3)]],
    ["weak", []],
  ]);
  const with_ = (kind: string, rows: Offender[]) => new Map([...earlier, [kind, rows]]);
  const cases: Record<string, readonly [list: Map<string, Offender[]>, faults: readonly string[]]> = {
    "permits itself": [earlier, []],
    "permits other places and names": [
      with_("complexity", [row("js/x.ts", "x", 30), row("js/y.ts", "y", 20)]),
      [],
    ],
    "permits a count in two files": [with_("spreads", [row("js/x.ts", "", 1), row("js/y.ts", "", 2)]), []],
    "permits a kind that it does not have": [with_("lines", [row("js/x.ts", "x", 99)]), []],
    "refuses one row more": [
      with_("complexity", [...earlier.get("complexity")!, row("js/c.ts", "h", 16)]),
      ["'complexity' has 3 rows, before 2"],
    ],
    "refuses a larger figure": [
      with_("complexity", [row("js/a.ts", "f", 25), row("js/b.ts", "g", 30)]),
      ["'complexity' has a row with 25 where none above 20 was left"],
    ],
    "refuses a larger count": [with_("spreads", [row("js/a.ts", "", 4)]), ["'spreads' has 4, before 3"]],
    "refuses a row of a kind that had none": [
      with_("weak", [row("js/a.ts", "", 1)]),
      ["'weak' has 1, before 0"],
    ],
    "refuses the loss of a kind": [
      new Map([...earlier].filter(([kind]) => kind !== "weak")),
      ["the kind 'weak' is missing"],
    ],
  };
  test.each(Object.entries(cases))("%s", (_, [list, faults]) => {
    expect(growthFaults(earlier, list)).toEqual(faults);
  });
});

describe("scripts/ratchet.mjs", () => {
  const offender = (name: string) => `export function ${name}(a: 1, b: 1, c: 1, d: 1, e: 1): void {}\n`;
  let made = 0;
  /** Makes a repository with one offender, whose list is committed. */
  async function repository(): Promise<string> {
    const checkout = checkoutOf(`repository ${made++}`, { "package.json": "{}", "js/a.ts": offender("one") });
    git(checkout, "init", "--quiet");
    mkdirSync(join(checkout, "scripts"));
    await shrinkList(checkout);
    commit(checkout);
    return checkout;
  }
  const git = (checkout: string, ...args: string[]) =>
    execFileSync("git", args, { cwd: checkout, stdio: "pipe" });
  function commit(checkout: string): void {
    git(checkout, "add", "--all");
    const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    git(checkout, ...identity, "commit", "--quiet", "--no-verify", "-m", "a: b");
  }
  const listOf = (checkout: string) => readFileSync(join(checkout, LIST_PATH), "utf8");
  const permit = (checkout: string, path: string, name: string) =>
    writeFileSync(
      join(checkout, LIST_PATH),
      `${listOf(checkout)}${JSON.stringify({ kind: "parameters", path, name, figure: 5 })}\n`,
    );

  it("passes a checkout whose offenders are on its list", async () => {
    await checkRatchet(await repository());
  });

  it("refuses a row that was added by hand, before the commit and after it", async () => {
    const checkout = await repository();
    write(checkout, "js/b.ts", offender("two"));
    permit(checkout, "js/b.ts", "two");
    const words =
      /permits more than in commit [0-9a-f]+: 'parameters' has 2 rows, before 1; take the new rows out/;
    await expect(checkRatchet(checkout)).rejects.toThrow(words);
    commit(checkout);
    await expect(checkRatchet(checkout)).rejects.toThrow(words);
    await expect(shrinkList(checkout)).rejects.toThrow("the list stays as it is");
  });

  it("refuses a new offender after an old one has been taken off the list", async () => {
    const checkout = await repository();
    write(checkout, "js/a.ts", "export const one = 1;\n");
    await expect(checkRatchet(checkout)).rejects.toThrow("run: node scripts/ratchet.mjs --shrink");
    await shrinkList(checkout);
    await checkRatchet(checkout);
    commit(checkout);
    write(checkout, "js/a.ts", offender("one"));
    permit(checkout, "js/a.ts", "one");
    await expect(checkRatchet(checkout)).rejects.toThrow("'parameters' has 1 rows, before 0");
  });

  it("does not shrink a list while an offender is new", async () => {
    const checkout = await repository();
    const before = listOf(checkout);
    write(checkout, "js/a.ts", "");
    write(checkout, "js/b.ts", offender("two"));
    await expect(shrinkList(checkout)).rejects.toThrow("js/b.ts: two is not on the list with parameters 5");
    expect(listOf(checkout)).toBe(before);
  });

  it("moves the row of a function that gets another place", async () => {
    const checkout = await repository();
    rmSync(join(checkout, "js/a.ts"));
    write(checkout, "js/b.ts", offender("one"));
    await shrinkList(checkout);
    await checkRatchet(checkout);
    expect(listOf(checkout)).toContain('{"kind":"parameters","path":"js/b.ts","name":"one","figure":5}');
  });
});
