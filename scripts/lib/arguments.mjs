// Reads the arguments of a script by a table of its flags. An unknown flag is an error that names the
// nearest known one.
import { BuildError } from "./run.mjs";

/**
 * One flag of a script. `value` is the name of the value that it takes; without, it takes none.
 * @typedef {{ description: string, value?: string }} Flag
 */

/**
 * Returns the flags and the other arguments that were given.
 *
 * @param {readonly string[]} given without the program and the script
 * @param {Readonly<Record<string, Flag>>} flags by name, with the hyphens
 * @returns {{ flags: Readonly<Record<string, string | true>>, rest: readonly string[] }}
 * @throws BuildError for an unknown or repeated flag, and a flag without its value or with one too many
 */
export function readArguments(given, flags) {
  const found = {};
  const rest = [];
  for (let index = 0; index < given.length; index++) {
    const argument = given[index];
    if (!argument.startsWith("-")) {
      rest.push(argument);
      continue;
    }
    const [, name, attached] = /^([^=]+)(?:=(.*))?$/su.exec(argument) ?? [argument, argument];
    if (!Object.hasOwn(flags, name)) throw unknownFlagError(name, Object.keys(flags));
    if (Object.hasOwn(found, name)) throw new BuildError(`${name} is given twice`);
    const { value } = flags[name];
    if (value === undefined && attached !== undefined) throw new BuildError(`${name} takes no value`);
    found[name] = value === undefined ? true : (attached ?? given[++index]);
    if (found[name] === undefined || found[name] === "") throw new BuildError(`${name} needs a ${value}`);
  }
  return { flags: found, rest };
}

/**
 * Returns the lines of a usage text that describe the flags.
 *
 * @param {Readonly<Record<string, Flag>>} flags
 */
export function flagLines(flags) {
  const names = Object.entries(flags).map(([name, { value }]) => (value ? `${name} ${value}` : name));
  const width = Math.max(...names.map((name) => name.length));
  return Object.values(flags)
    .map(({ description }, index) => `  ${names[index].padEnd(width)}  ${description}`)
    .join("\n");
}

function unknownFlagError(name, known) {
  const close = nearestName(name, known);
  const hint = close === undefined ? `known: ${known.join(", ")}` : `did you mean ${close}?`;
  return new BuildError(`unknown flag ${name}; ${hint}`);
}

/** Returns the known name with the fewest changed letters, or undefined if more than a third differ. */
function nearestName(name, known) {
  const ranked = known.map((one) => ({ one, cost: editDistance(name, one) }));
  ranked.sort((left, right) => left.cost - right.cost);
  const [best] = ranked;
  return best !== undefined && best.cost <= Math.max(1, Math.floor(name.length / 3)) ? best.one : undefined;
}

// js/schema/nearest.ts does the same for users of the package. Scripts run before it is built.
function editDistance(left, right) {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const changed = previous[column - 1] + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(changed, previous[column] + 1, current[column - 1] + 1));
    }
    previous = current;
  }
  return previous[right.length];
}
