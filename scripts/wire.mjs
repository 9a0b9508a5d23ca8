// Writes js/engine/generated/records.ts: TypeScript types with doc comments, and decoders, for the
// declarations `wire! { … }` in the Rust crates. crates/core/src/wire.rs describes these. Also writes the code of the
// bindings (scripts/bindings.mjs), js/engine/generated/version.ts, and the texts of the SQL files of
// @filewright/storage.
//
//   node scripts/wire.mjs           writes the files
//   node scripts/wire.mjs --check   fails if a file is stale, or the declarations of the addon are not those of the
//                                   addon that was built
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bindings } from "./bindings.mjs";
import { declarationsAreFresh } from "./build.mjs";
import { BuildError, runScript, root } from "./lib/run.mjs";
import { sqlModule } from "./lib/sql-module.mjs";

const RECORDS_FILE = "js/engine/generated/records.ts";
const VERSION_FILE = "js/engine/generated/version.ts";
const LINE_WIDTH = 110;

const toCamelCase = (name) =>
  name.toLowerCase().replaceAll(/_([a-z])/gu, (_, letter) => letter.toUpperCase());
const toScreamingSnakeCase = (name) => name.replaceAll(/(?<=[a-z])[A-Z]/gu, "_$&").toUpperCase();

/**
 * The expressions that read the next value of an `Unpacker`. Those of numbers are no calls: a page of a file has 26
 * fields, most of which are one number.
 */
const NUM = "nums[from.at++] as number";
const LAST = "nums[from.at - 1] as number";
const OPT = `(${NUM}) < 0 ? null : (${LAST})`;
const OPT_SIGNED = `Number.isNaN(nums[from.at++]) ? null : (${LAST})`;
const FLAG = "nums[from.at++] === 1";
const STR = "from.str()";
const OPT_STR = "from.optStr()";

/**
 * The Rust types that are sent as one number or one string. For each: the type in TypeScript, the
 * expression that reads it, and the one that reads it if it may be missing.
 */
const SCALAR_TYPES = new Map(
  Object.entries({
    u32: ["number", NUM, OPT],
    u64: ["number", NUM, OPT],
    i64: ["number", NUM, OPT_SIGNED],
    f64: ["number", NUM, OPT_SIGNED],
    bool: ["boolean", FLAG],
    str: ["string", STR, OPT_STR],
    String: ["string", STR, OPT_STR],
    Encoding: ["string", STR, OPT_STR],
  }),
);

const DOC_LINE = /^\/\/\/ ?(?<text>.*)$/u;
const DECLARATION_OPENING =
  /^(?:pub(?:\(crate\))? )?(?<kind>struct|enum|bits|constants) (?<name>\w+)(?:<'\w+>)? \{$/u;
/** For each kind of declaration, the form of a line that declares a member. */
const MEMBER_LINE_BY_KIND = {
  struct: /^(?<base>\.\.)?(?:pub(?:\(crate\))? )?(?<name>\w+): (?<type>.+),$/u,
  enum: /^\w+ = "(?<word>[\w.]+)",$/u,
  bits: /^(?<name>[A-Z0-9_]+) = (?<value>\d+),$/u,
  constants: /^(?<name>[A-Z0-9_]+) = (?<value>\d+),$/u,
};

/**
 * Returns the `wire!` declarations in one Rust file.
 * @throws BuildError if a line has an unknown form
 */
function wireDeclarationsIn(file) {
  const found = [];
  let current;
  let doc = [];
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  for (const [index, line] of lines.entries()) {
    if (current === undefined) {
      // Indented declarations belong to tests and examples.
      if (/^(?:crate::|filewright_core::)?wire! \{$/u.test(line)) current = { file, members: [] };
      continue;
    }
    const text = line.trim();
    if (line === "}") {
      found.push(current);
      current = undefined;
      continue;
    }
    if (text === "" || text === "}" || text.startsWith("#[")) continue;
    const words = DOC_LINE.exec(text)?.groups;
    if (words !== undefined) {
      doc.push(words.text);
      continue;
    }
    const opening = current.kind === undefined ? DECLARATION_OPENING.exec(text)?.groups : undefined;
    const member = MEMBER_LINE_BY_KIND[current.kind]?.exec(text)?.groups;
    if (opening !== undefined) Object.assign(current, opening, { doc });
    else if (member !== undefined) current.members.push({ ...member, doc });
    else throw new BuildError(`${file}:${index + 1}: wire! does not know this line: ${text}`);
    doc = [];
  }
  return found;
}

/**
 * Returns the type of a field without references and lifetimes: its name, and the type that
 * `Option` or `Vec` wraps.
 */
function parseFieldType(text) {
  const plain = text.replace(/^&(?:'\w+ )?/u, "").replaceAll(/'\w+, |<'\w+>/gu, "");
  const [, wrapper, inner] = /^(\w+)<(.+)>$/u.exec(plain) ?? [];
  if (wrapper === "Cow") return parseFieldType(inner);
  return wrapper === undefined ? { name: plain } : { name: wrapper, inner: parseFieldType(inner) };
}

/** Returns the text of records.ts. */
export function recordsText() {
  const files = readdirSync(join(root, "crates"), { recursive: true })
    .filter((path) => path.endsWith(".rs"))
    .map((path) => `crates/${path.replaceAll("\\", "/")}`)
    .sort();
  const all = files.flatMap(wireDeclarationsIn);
  const byName = new Map(all.map((one) => [one.name, one]));
  if (byName.size !== all.length) throw new BuildError("wire! declares a name twice");

  const known = (name, file) => {
    const scalar = SCALAR_TYPES.get(name);
    const declared = byName.get(name);
    if (scalar === undefined && declared === undefined)
      throw new BuildError(`${file}: wire! does not know the type ${name}`);
    return { scalar, declared };
  };
  const typeOf = ({ name, inner }, file) => {
    if (name === "Option") return `${typeOf(inner, file)} | null`;
    if (name === "Vec") return `readonly ${typeOf(inner, file)}[]`;
    return known(name, file).scalar?.[0] ?? name;
  };
  const wordOf = (name) => `${toScreamingSnakeCase(name)}_WORDS[${NUM}]`;
  const readerOf = ({ name, inner }, file) => {
    if (name === "Vec") return `from.list(() => ${readerOf(inner, file).replace(/^\{/u, "({")})`;
    if (name === "Option") {
      const { scalar, declared } = known(inner.name, file);
      if (scalar?.[2] !== undefined) return scalar[2];
      if (declared?.kind === "enum") return `${wordOf(inner.name)} ?? null`;
      throw new BuildError(`${file}: wire! cannot read Option<${inner.name}>`);
    }
    const { scalar, declared } = known(name, file);
    if (scalar !== undefined) return scalar[1];
    return declared.kind === "enum" ? `${wordOf(name)} as ${name}` : `decode${name}(from)`;
  };
  /**
   * Returns the fields of a record in the order in which they are sent, beginning with those of the
   * record that it extends.
   */
  const fieldsOf = ({ members, file }) =>
    members.flatMap((member) =>
      member.base === undefined ? [{ ...member, file }] : fieldsOf(byName.get(member.type)),
    );

  const printed = {
    struct(record) {
      const base = record.members.find(({ base }) => base !== undefined);
      const fields = record.members
        .filter((member) => member !== base)
        .map(
          ({ name, type, doc }) =>
            `${formatDocComment(doc, "  ")}  readonly ${toCamelCase(name)}: ${typeOf(parseFieldType(type), record.file)};\n`,
        );
      const read = fieldsOf(record).map(
        ({ name, type, file }) => `    ${toCamelCase(name)}: ${readerOf(parseFieldType(type), file)},\n`,
      );
      const opening = read.some((line) => line.includes("nums[")) ? "  const { nums } = from;\n" : "";
      const continued = base === undefined ? "" : ` extends ${base.type}`;
      return `${formatDocComment(record.doc)}export interface ${record.name}${continued} {\n${fields.join("")}}

/** Decodes {@link ${record.name}}. */
export function decode${record.name}(from: Unpacker): ${record.name} {
${opening}  return {\n${read.join("")}  };\n}\n`;
    },
    enum({ name, doc, members }) {
      const words = members.map(({ word }) => `"${word}"`);
      const table = `export const ${toScreamingSnakeCase(name)}_WORDS: readonly ${name}[] = `;
      const means = members.map(({ word, doc }) => `- \`${word}\`: ${doc.join(" ")}`);
      return `${formatDocComment([...doc, "", ...means])}${formatUnion(`export type ${name} =`, words)}
/** The words by their numbers. */
${formatArray(table, words)}`;
    },
    bits({ name, doc, members }) {
      const bits = members.map(
        (bit) => `${formatDocComment(bit.doc, "  ")}  ${toCamelCase(bit.name)}: ${bit.value},\n`,
      );
      return `${formatDocComment(doc)}export const ${toScreamingSnakeCase(name)} = {\n${bits.join("")}} as const;\n`;
    },
  };
  printed.constants = printed.bits;
  return `/**
 * The records that the engine sends, with their decoders.
 *
 * Written by \`npm run wire\` from the declarations in the Rust crates; not to be edited.
 */
import type { Unpacker } from "../wire/unpack.ts";

${all.map((one) => printed[one.kind](one)).join("\n")}`;
}

/** Returns the text of version.ts. The version is code, because a bundle has no package.json next to it. */
function versionText() {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return `/** The version of the package; written by \`npm run wire\` from package.json, not to be edited. */
export const VERSION = "${version}";\n`;
}

function formatUnion(head, words) {
  const line = `${head} ${words.join(" | ")};\n`;
  return line.length <= LINE_WIDTH ? line : `${head}\n${words.map((word) => `  | ${word}`).join("\n")};\n`;
}

function formatArray(head, items) {
  const line = `${head}[${items.join(", ")}];\n`;
  return line.length <= LINE_WIDTH ? line : `${head}[\n${items.map((item) => `  ${item},\n`).join("")}];\n`;
}

/**
 * Returns a doc comment of Rust as one of TypeScript: with names in camel case, and `null` for
 * `None`.
 */
function formatDocComment(doc, indent = "") {
  if (doc.length === 0) return "";
  const lines = doc.map((line) =>
    line
      .replaceAll(/\[(`[^`]+`)\](?:\([^)]*\))?/gu, "$1")
      .replaceAll("`None`", "null")
      .replaceAll(/`[^`]+`/gu, (code) => code.replaceAll(/[a-z]+(?:_[a-z]+)+/gu, toCamelCase)),
  );
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd().concat("\n")).join("")}${indent} */\n`;
}

/** Returns the text of a file; undefined if it does not exist. */
function textOf(file) {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    const files = [
      [RECORDS_FILE, recordsText()],
      [VERSION_FILE, versionText()],
      sqlModule(),
      ...bindings(formatDocComment),
    ];
    const stale = files.filter(([file, text]) => textOf(file) !== text);
    if (!process.argv.includes("--check"))
      for (const [file, text] of stale) writeFileSync(join(root, file), text);
    else if (stale.length > 0) throw new BuildError(`${stale[0][0]} is stale; run: npm run wire`);
    else if (!declarationsAreFresh())
      throw new BuildError("js/engine/generated/binding.ts is stale; run: npm run build -- --force");
  });
}
