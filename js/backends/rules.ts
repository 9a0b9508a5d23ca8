/**
 * The rules of a policy as backends ask them: the engine's, on real paths. A
 * policy without rules needs no engine.
 */
import { engine } from "../engine/current.ts";
import type { SandboxPolicy } from "./policy.ts";

/** The rules of one policy. All paths are real and absolute. */
export interface Rules {
  /** Whether there is any rule that a whole tree must be looked through for. */
  readonly any: boolean;
  /** Whether a deny glob matches the path or a directory above it. */
  denied(path: string): boolean;
  /** Whether the path is a protected one or lies below one: not to be written. */
  protected(path: string): boolean;
  /** Whether the path must not be moved, replaced or deleted as a whole either. */
  guarded(path: string): boolean;
}

const NONE: Rules = { any: false, denied: () => false, protected: () => false, guarded: () => false };

/** Compiles the rules of a policy whose roots are resolved. @throws INVALID_GLOB */
export function compileRules(policy: SandboxPolicy): Rules {
  const { cwd, deny, protect } = policy;
  if (deny.length === 0 && !protect) return NONE;
  const roots = [...(policy.read ?? []), ...policy.write];
  const rules = engine().compileRules({ cwd, roots, deny, protect });
  return {
    any: true,
    denied: (path) => rules.judge(path).denied,
    protected: (path) => rules.judge(path).protected,
    guarded: (path) => rules.judge(path).guarded,
  };
}
