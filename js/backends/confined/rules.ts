/**
 * The path rules of a policy, for backends: the engine's, on real paths. A policy without rules
 * needs no engine.
 */
import { engine } from "../../engine/current.ts";
import type { PathVerdict } from "../../engine/native/access.ts";
import type { FsEntry } from "../backend.ts";
import type { SandboxPolicy } from "../policy.ts";

/** The rules of one policy. All paths are real and absolute. */
export interface BackendPathRules {
  /** True when any rule exists, so that a whole tree must be checked entry by entry. */
  readonly any: boolean;
  /** True when the places of the table are protected. */
  readonly protects: boolean;
  /** Returns the rules that apply to a path. */
  check(path: string): PathVerdict;
  /** Returns the entries of a directory that is itself not denied, without the denied ones. */
  visible(directory: string, entries: readonly FsEntry[]): readonly FsEntry[];
}

const UNRESTRICTED: PathVerdict = Object.freeze({
  denied: false,
  protected: false,
  guarded: false,
  secret: false,
  holds: false,
  asks: false,
  part: false,
  opened: false,
  row: undefined,
  secretRow: undefined,
});
const NO_RULES: BackendPathRules = {
  any: false,
  protects: false,
  check: () => UNRESTRICTED,
  visible: (_, entries) => entries,
};

/** Compiles the rules of a policy whose roots are resolved. @throws INVALID_GLOB */
export function compilePathRules(policy: SandboxPolicy): BackendPathRules {
  const { cwd, deny, protect, places = [] } = policy;
  const secrets = policy.secrets === "grant";
  if (deny.length === 0 && !protect && !secrets && places.length === 0) return NO_RULES;
  const roots = [...(policy.read ?? []), ...policy.write];
  const rules = engine().compileRules({ cwd, roots, deny, protect, secrets, places });
  const visible = (directory: string, entries: readonly FsEntry[]): readonly FsEntry[] => {
    if (entries.length === 0) return entries;
    const denied = rules.deniedNames(
      directory,
      entries.map((entry) => entry.name),
    );
    return denied.includes(1) ? entries.filter((_, i) => denied[i] === 0) : entries;
  };
  return {
    any: true,
    protects: protect,
    check: (path) => rules.check(path),
    visible: deny.length === 0 ? NO_RULES.visible : visible,
  };
}
