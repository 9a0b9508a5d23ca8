/** The policy of a workspace for the copy of its files, which lies below another directory. */
import type { SandboxPolicy } from "../../backends/policy.ts";
import { placeRows } from "../../backends/confined/places.ts";
import { compilePathRules } from "../../backends/confined/rules.ts";
import { literalGlob } from "../../backends/paths.ts";

/** Characters of a directory that patterns of places cannot express. */
const NOT_LITERAL = /[*{}\\ ]/u;

/**
 * Returns the policy that allows below a directory what the given one allows below `/`, to read alone; undefined
 * where the rules would say something else about a path because of the directory itself.
 */
export function policyBelow(policy: SandboxPolicy | undefined, base: string): SandboxPolicy | undefined {
  if (NOT_LITERAL.test(base)) return undefined;
  const { cwd = "/", read = null, deny = [], places = [], secrets } = policy ?? {};
  const below = (path: string): string => (path === "/" ? base : base + path);
  const prefix = literalGlob(base);
  const table =
    secrets === "grant"
      ? placeRows()
          .filter(({ decision, pattern }) => SECRET_DECISIONS.has(decision) && pattern.startsWith("/"))
          .map(({ decision, pattern }) => `${decision} ${base}${pattern}`)
      : [];
  const mapped: SandboxPolicy = Object.freeze({
    cwd: below(cwd),
    read: Object.freeze((read ?? ["/"]).map(below)),
    write: Object.freeze([]),
    deny: Object.freeze(deny.map((glob) => (glob.startsWith("/") ? prefix + glob : glob))),
    protect: false,
    ...(secrets === undefined ? {} : { secrets }),
    places: Object.freeze([...places.map((place) => placeBelow(place, base)), ...table]),
    ...(policy?.foldsCase === undefined ? {} : { foldsCase: policy.foldsCase }),
    readOnly: true,
    followSymlinks: "never",
  });
  // Patterns match at any depth: those that cover the directory of the copy would cover every file of it.
  const verdict = compilePathRules(mapped).check(`${base}/x`);
  return verdict.denied || verdict.secret ? undefined : mapped;
}

const SECRET_DECISIONS: ReadonlySet<string> = new Set(["secret", "readable"]);

/** Returns a place of a policy (a word, a space and a pattern) below a directory; one without a root stays. */
function placeBelow(place: string, base: string): string {
  const cut = place.indexOf(" ") + 1;
  const pattern = place.slice(cut);
  return pattern.startsWith("/") ? place.slice(0, cut) + base + pattern : place;
}
