/**
 * The schemas of tools, and the check of a call's arguments. Arguments first get their canonical names, then
 * hooks see them, then they are checked, with tolerance for typical mistakes of models.
 *
 * The same schema is shown to models (as `inputSchema`) and enforced by the pipeline (through
 * {@link compileArgumentCheck}). A schema is compiled with its first check. A check creates one new object.
 */
import {
  type Arguments,
  type ValueCheck,
  compileCheck,
  isObjectWithKeys,
  kindOfValue,
} from "../../schema/check.ts";
import { ValueProblem } from "../../schema/problem.ts";
import type { ObjectSchema } from "../../schema/json-schema.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { argumentOfMeaning, suggestArgument } from "../../schema/argument-hints.ts";
import { BrokenJsonText, parseJsonText } from "../../schema/json-text.ts";
import { escapeControls } from "../../engine/escape.ts";

export { type Arguments, isObjectWithKeys as isPlain };
export {
  type ObjectSchema,
  closedObjectSchema as object,
  type Schema,
  type SchemaType,
} from "../../schema/json-schema.ts";

/** Other spellings of arguments that are accepted: alias → canonical name. */
export type Aliases = Readonly<Record<string, string>>;

/**
 * Returns the arguments under their canonical names. A missing value means no arguments, and the JSON text of
 * an object means that object.
 *
 * @throws FilewrightError INVALID_ARGUMENT for any other value, and for two spellings that differ
 */
export function withCanonicalKeys(tool: string, given: unknown, aliases: Aliases = {}): Arguments {
  const value = isObjectWithKeys(given) ? given : argumentsObjectOf(tool, given);
  let expanded: Record<string, unknown> | undefined;
  for (const alias of Object.keys(aliases)) {
    if (!Object.hasOwn(value, alias)) continue;
    const name = aliases[alias] as string;
    expanded ??= { ...value };
    const other = expanded[alias];
    delete expanded[alias];
    if (other === undefined || other === null) continue;
    const own = expanded[name];
    if (own !== undefined && own !== null && own !== other) {
      throw new FilewrightError(
        "INVALID_ARGUMENT",
        `Invalid argument '${name}': '${alias}' is another spelling of it and holds a different value; give one of them.`,
        { complete: true, details: { tool, argument: name } },
      );
    }
    expanded[name] = other;
  }
  return expanded ?? value;
}

/** Returns the arguments as an object. @throws FilewrightError INVALID_ARGUMENT */
function argumentsObjectOf(tool: string, given: unknown): Arguments {
  const value =
    given === undefined || given === null
      ? {}
      : typeof given === "string"
        ? parseJsonText(given, "{")
        : given;
  if (!isObjectWithKeys(value) || value instanceof BrokenJsonText) {
    const why = value instanceof BrokenJsonText ? `; ${value.why}` : `, got ${kindOfValue(value)}`;
    throw new FilewrightError("INVALID_ARGUMENT", `The arguments of ${tool} must be an object${why}.`, {
      complete: true,
      details: { tool },
    });
  }
  return value;
}

/** The form of a content hash in arguments, as a regular expression. */
export const HASH_PATTERN = "^\\s*(?:[sS][hH][aA]256:)?[0-9a-fA-F]{64}\\s*$";
/** The form of permission bits in arguments, as a regular expression. */
export const MODE_PATTERN = "^0?[0-7]{3,4}$";

/** The form of the name of a definition in arguments, as a regular expression: at most 1,000 bytes in UTF-8. */
export const NAME_PATTERN = "^[^\\r\\n]{1,250}$";
/** The form of the hash of a block in arguments, as a regular expression. */
export const BLOCK_HASH_PATTERN = "^#?[0-9a-f]{6}$";

/**
 * Descriptions of these forms in words, for error messages, because a model cannot be expected to read a
 * regular expression.
 */
const DESCRIPTION_BY_PATTERN: ReadonlyMap<string, string> = new Map([
  [HASH_PATTERN, "sha256: and 64 hexadecimal digits, as read_file gives it"],
  [MODE_PATTERN, 'permission bits in octal as a string, such as "0755"'],
  [NAME_PATTERN, "a name of 1 to 250 characters in one line"],
  [BLOCK_HASH_PATTERN, "the six hexadecimal digits after the # of a block"],
]);

/**
 * Returns a function that checks arguments against a schema, fills in defaults, and corrects unambiguous
 * mistakes of models, such as a number sent as text. The function returns a new object.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the argument
 */
export function compileArgumentCheck<T>(tool: string, schema: ObjectSchema): (args: Arguments) => T {
  let check: ValueCheck | undefined;
  return (args) => {
    // A process uses few of the tools.
    check ??= compileCheck(schema, {
      coerce: true,
      suggest: suggestArgument,
      meaning: argumentOfMeaning,
      escape: escapeControls,
      forms: DESCRIPTION_BY_PATTERN,
      owner: tool,
    });
    const problem = check(args);
    if (!(problem instanceof ValueProblem)) return problem as T;
    const argument = problem.place();
    const stop = /[.?!]$/u.test(problem.what) ? "" : ".";
    const named = argument === "" ? "" : `Invalid argument '${argument}': `;
    throw new FilewrightError("INVALID_ARGUMENT", `${named}${problem.what}${stop}`, {
      complete: true,
      details: argument === "" ? { tool } : { tool, argument },
    });
  };
}
