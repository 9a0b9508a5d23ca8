// Makes option mistakes from the tables of every entry, and calls the entry with each: none may be accepted.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { entriesOf, presetTools } from "./options/entries.mjs";

/** Values of every type; those of a schema's own types are left out. */
const POOL = [
  5,
  -1,
  1.5,
  Number.NaN,
  true,
  null,
  "",
  "zz",
  "true",
  { zz: 1 },
  [],
  [5],
  [null],
  () => 0,
  new Map(),
  new Date(0),
];

const typesOf = ({ type }) => [type].flat();
const kindOf = (value) =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "array"
      : typeof value === "number"
        ? Number.isInteger(value)
          ? "integer"
          : "number"
        : typeof value;

/** Returns true when a schema accepts the type of a value: such a value is no mistake of type. */
function takes(schema, value) {
  if (schema.anyOf !== undefined) return schema.anyOf.some((one) => takes(one, value));
  const kind = kindOf(value);
  return typesOf(schema).some((type) => {
    if (type === "any") return true;
    if (type === "string" && kind === "string")
      return schema.enum === undefined
        ? value !== "" || schema.minLength === undefined
        : schema.enum.includes(value);
    if (type === "integer") return kind === "integer" && value >= (schema.minimum ?? value);
    if (type === "array")
      return (
        kind === "array" &&
        value.length >= (schema.minItems ?? 0) &&
        (schema.items === undefined || value.every((item) => takes(schema.items, item)))
      );
    if (type === "object") {
      const plain = kind === "object" && Object.getPrototypeOf(value) === Object.prototype;
      return plain && (schema.values !== undefined || schema.properties === undefined);
    }
    // What an object with methods has besides is its own business.
    if (type === "instance" && kind === "object")
      return schema.test === undefined ? !schema.required?.length : schema.test(value) === undefined;
    return type === kind;
  });
}

/** A word that is nearly another one. */
function misspelt(random, word) {
  const at = random.below(word.length);
  const ways = [
    () => word.slice(0, at) + word.slice(at + 1),
    () => word.slice(0, at) + word[at] + word.slice(at),
    () => `${word}s`,
    () => word.toUpperCase(),
    () => word.toLowerCase(),
    () => word[0].toUpperCase() + word.slice(1),
    () => (at > 0 ? word.slice(0, at - 1) + word[at] + word[at - 1] + word.slice(at + 1) : `_${word}`),
    () => `${word.slice(0, at)}_${word.slice(at)}`,
    () => ` ${word}`,
    () => `${word}${random.pick(["Path", "Paths", "List", "Only", "ed"])}`,
  ];
  return random.pick(ways)();
}

/** Every place of the options at which a mistake can be made: the schema there, the value, and how to put another. */
function placesIn(schema, value, path = []) {
  if (schema.anyOf !== undefined) {
    // The branch of the sample; a value is a mistake of type only if it fits no branch.
    const branch = schema.anyOf.find((one) => typesOf(one).some((type) => type === kindOf(value)));
    const inner =
      branch === undefined ? [] : placesIn(branch, value, path).filter((place) => place.path !== path);
    const members =
      branch?.properties === undefined ? [] : [{ schema: branch, value, path, membersOnly: true }];
    return [{ schema, value, path }, ...members, ...inner];
  }
  const here = [{ schema, value, path }];
  if (Array.isArray(value) && schema.items !== undefined)
    return [...here, ...value.flatMap((item, index) => placesIn(schema.items, item, [...path, index]))];
  if (typeof value !== "object" || value === null) return here;
  const properties = schema.properties ?? {};
  return [
    ...here,
    ...Object.keys(properties).flatMap((name) => placesIn(properties[name], value[name], [...path, name])),
  ];
}

/** The options with another value at a path. */
function put(options, [key, ...rest], change) {
  if (key === undefined) return change(options);
  const copy = Array.isArray(options) ? [...options] : { ...options };
  copy[key] = put(options[key], rest, change);
  if (copy[key] === REMOVED) delete copy[key];
  return copy;
}
const REMOVED = Symbol("removed");

const shown = (path) =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`))
    .join("")
    .replace(/^\./u, "");

/** One mistake in options that are right; undefined where none of this kind can be made here. */
function mistake(random, base, place, tools) {
  const { schema, path, value, membersOnly } = place;
  const names = Object.keys(schema.properties ?? {});
  const closed = typesOf(schema).includes("object") ? schema.values === undefined : schema.closed === true;
  const kinds = ["type"];
  if (membersOnly === true) kinds.length = 0;
  if (names.length > 0 && closed && typeof value === "object" && value !== null)
    kinds.push("key", "key", "key", "depth");
  if ((schema.required?.length ?? 0) > 0 && typeof value === "object" && value !== null)
    kinds.push("missing");
  if (schema.enum !== undefined || schema.anyOf?.some((one) => one.enum !== undefined))
    kinds.push("enum", "enum");
  if (path.at(-1) === "tool" && tools) kinds.push("tool", "tool");
  if (kinds.length === 0) return undefined;
  const kind = random.pick(kinds);
  const at = (key) => ({ kind, where: shown([...path, key]), options: undefined });
  if (kind === "type") {
    const wrong = [...POOL, ...(value === undefined || takes(schema, [value]) ? [] : [[value]])].filter(
      (one) => !takes(schema, one),
    );
    if (wrong.length === 0) return undefined;
    const given = random.pick(wrong);
    return { kind, where: shown(path), given, options: put(base, path, () => given) };
  }
  if (kind === "key") {
    const name = random.pick(names);
    const wrong = misspelt(random, name);
    if (names.includes(wrong)) return undefined;
    const given = value[name] ?? true;
    return { ...at(wrong), given: wrong, options: put(base, path, (old) => ({ ...old, [wrong]: given })) };
  }
  if (kind === "depth") {
    const foreign = random.pick([
      "tool",
      "path",
      "access",
      "deny",
      "readOnly",
      "outputBytes",
      "match",
      "decision",
      "proceed",
      "approved",
      "mode",
    ]);
    if (names.includes(foreign)) return undefined;
    return {
      ...at(foreign),
      given: foreign,
      options: put(base, path, (old) => ({ ...old, [foreign]: true })),
    };
  }
  if (kind === "missing") {
    const name = random.pick(schema.required);
    return { kind, where: name, given: name, options: put(base, [...path, name], () => REMOVED) };
  }
  if (kind === "enum") {
    const values = [schema, ...(schema.anyOf ?? [])].flatMap((one) => one.enum ?? []);
    const given = misspelt(random, random.pick(values));
    if (takes(schema, given)) return undefined;
    return { kind, where: shown(path), given, options: put(base, path, () => given) };
  }
  const given = misspelt(random, random.pick(tools));
  if (tools.includes(given) || given === "*") return undefined;
  // A hook may also name a tool of a preset.
  if (path[0] === "hooks" && presetTools.has(given)) return undefined;
  return { kind, where: shown(path), given, options: put(base, path, () => given) };
}

/** Describes the wrong outcome of a call with a mistake: undefined where it was refused as it must be. */
async function faultOf(entry, { options, where }) {
  try {
    const outcome = await entry.call(options);
    if (entry.answer === true) return outcome;
    await outcome?.close?.();
    return "accepted";
  } catch (error) {
    if (error?.code !== "INVALID_ARGUMENT") return `refused with ${error?.code ?? error}`;
    const named =
      where === "" || error.message.includes(where) || error.message.includes(where.split(/[.[]/u)[0]);
    return named ? undefined : `refused without naming ${where}: ${error.message}`;
  }
}

/** Returns true for a value that counts as no answer: the hook or reviewer is not asked again. */
const SAYS_NOTHING = (given) => given === null || given === undefined;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "option mistakes made from the tables of every entry: each is refused, and names where it stands",
  count: 20_000,
  share: 2_000,
  async run({ seed, count, isOver }) {
    const random = seededRandom(seed);
    const dir = mkdtempSync(join(tmpdir(), "filewright-options-"));
    const { entries, close } = await entriesOf(dir);
    const failures = [];
    let cases = 0;
    try {
      // Options that are right must be accepted, or no refusal says anything.
      for (const entry of entries) {
        const outcome = await Promise.resolve()
          .then(() => entry.call(entry.base))
          .catch((error) => error);
        if (entry.name === "command line") continue;
        const accepted =
          entry.answer === true ? outcome === "accepted: the file is written" : !(outcome instanceof Error);
        if (!accepted)
          failures.push(`${entry.name}: options that are right are refused: ${outcome?.message ?? outcome}`);
        else await outcome?.close?.();
      }
      const weighted = entries.flatMap((entry) => Array.from({ length: entry.weight ?? 1 }, () => entry));
      const places = new Map(entries.map((entry) => [entry, placesIn(entry.table.schema, entry.base)]));
      while (cases < count && !isOver() && failures.length < 20) {
        const entry = random.pick(weighted);
        const made = mistake(random, entry.base, random.pick(places.get(entry)), entry.tools);
        if (
          made === undefined ||
          made.where === "preset" ||
          // A text is a directory, the short form of all options.
          (entry.name === "openWorkspace" && made.where === "" && typeof made.given === "string") ||
          (entry.answer === true &&
            made.where === "" &&
            (entry.name === "command line" || SAYS_NOTHING(made.given)))
        )
          continue;
        cases += 1;
        const wrong = await faultOf(entry, made);
        if (wrong !== undefined)
          failures.push(
            `${entry.name}: ${made.kind} at '${made.where}' (${String(made.given)}): ${wrong}; seed ${seed}, case ${cases}`,
          );
      }
    } finally {
      await close();
      rmSync(dir, { recursive: true, force: true });
    }
    return { cases, failures };
  },
};
