/**
 * The schemas of tools, checked with the leniency that models need.
 *
 * One schema serves models (as `inputSchema`) and the pipeline (through {@link compile}), so the
 * documented arguments are the enforced ones. Schemas are compiled once, when a tool's module
 * loads; a check allocates one object for the call.
 */
import { type Arguments, compileCheck } from "../../schema/check.ts";
import { Problem } from "../../schema/problem.ts";
import type { ObjectSchema } from "../../schema/json-schema.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { suggestArgument } from "../../schema/argument-hints.ts";
import { escapeControls } from "../../engine/escape.ts";

export { fromJson, isPlain, kindOf, type Arguments } from "../../schema/check.ts";
export { type ObjectSchema, object, type Schema, type SchemaType } from "../../schema/json-schema.ts";

/** The accepted form of a content hash. */
export const HASH_FORM = "^\\s*(?:[sS][hH][aA]256:)?[0-9a-fA-F]{64}\\s*$";
/** The accepted form of permission bits. */
export const MODE_FORM = "^0?[0-7]{3,4}$";

/** Descriptions of the forms, because a model cannot be expected to read a regular expression. */
const FORM_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  [HASH_FORM, "sha256: and 64 hexadecimal digits, as read_file gives it"],
  [MODE_FORM, 'permission bits in octal as a string, such as "0755"'],
]);

/**
 * Compiles a function that checks arguments against a schema, fills in defaults and coerces
 * unambiguous mistakes of models. The function returns a new object.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the argument
 */
export function compile<T>(tool: string, schema: ObjectSchema): (args: Arguments) => T {
  const check = compileCheck(schema, {
    coerce: true,
    suggest: suggestArgument,
    escape: escapeControls,
    forms: FORM_DESCRIPTIONS,
    owner: tool,
  });
  return (args) => {
    const problem = check(args);
    if (!(problem instanceof Problem)) return problem as T;
    const argument = problem.place();
    const stop = /[.?!]$/u.test(problem.what) ? "" : ".";
    const named = argument === "" ? "" : `Invalid argument '${argument}': `;
    throw new FilewrightError("INVALID_ARGUMENT", `${named}${problem.what}${stop}`, {
      complete: true,
      details: argument === "" ? { tool } : { tool, argument },
    });
  };
}
