/**
 * The rules of a policy, for backends: the engine's, on real paths and on contents. A policy without
 * rules needs no engine, and a cheap check of a content saves most files the call.
 */
import { engine } from "../../engine/current.ts";
import type { PathVerdict } from "../../engine/native/access.ts";
import type { FsEntry } from "../backend.ts";
import { ignoresCase, type SandboxPolicy } from "../policy.ts";

/** The rules of one policy. All paths are real and absolute. */
export interface BackendPathRules {
  /** True when the policy has any rule, so that the entries of a tree must be checked one by one. */
  readonly any: boolean;
  /** True when the policy protects the places of the table from changes. */
  readonly protects: boolean;
  /** Returns the rules that apply to a path. */
  check(path: string): PathVerdict;
  /** Does the same for one of many paths, none of which is checked again soon. */
  checkOnce(path: string): PathVerdict;
  /** Returns the entries of a directory that are not denied. The directory itself is not. */
  visible(directory: string, entries: readonly FsEntry[]): readonly FsEntry[];
}

const UNRESTRICTED_VERDICT: PathVerdict = Object.freeze({
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
  check: () => UNRESTRICTED_VERDICT,
  checkOnce: () => UNRESTRICTED_VERDICT,
  visible: (_, entries) => entries,
};

/** Compiles the rules of a policy whose roots are resolved. @throws INVALID_GLOB */
export function compilePathRules(policy: SandboxPolicy): BackendPathRules {
  const { cwd, deny, protect, places = [] } = policy;
  const secrets = policy.secrets === "grant";
  if (deny.length === 0 && !protect && !secrets && places.length === 0) return NO_RULES;
  const roots = [...(policy.read ?? []), ...policy.write];
  const rules = engine().compileRules({
    cwd,
    roots,
    deny,
    protect,
    secrets,
    places,
    foldCase: ignoresCase(policy),
  });
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
    checkOnce: (path) => rules.checkOnce(path),
    visible: deny.length === 0 ? NO_RULES.visible : visible,
  };
}

/** The number of bytes at the beginning of a file that decide whether it is a secret by content. */
export const SECRET_HEAD_BYTES: number = 64 << 10;

/**
 * The bytes with which a secret can begin, after whitespace: `{`, `-`, `#`, `B`, `P`, `A`, and the byte order
 * marks of UTF-16.
 */
const SECRET_FIRST_BYTES: ReadonlySet<number> = new Set([0x7b, 0x2d, 0x23, 0x42, 0x50, 0x41, 0xff, 0xfe]);

/** Returns true when a file that begins with these bytes could be a secret by content. */
export function mayHoldSecret(head: Uint8Array): boolean {
  const end = head.length;
  let at = 0;
  if (head[at] === 0xef && head[at + 1] === 0xbb && head[at + 2] === 0xbf) at += 3;
  while (at < end && isWhitespaceByte(head[at] as number)) at++;
  return at < end ? SECRET_FIRST_BYTES.has(head[at] as number) : end > 0;
}

/**
 * Returns true when a file that begins with these bytes contains a private key or the key of a
 * service account.
 */
export function holdsSecret(head: Uint8Array): boolean {
  return mayHoldSecret(head) && engine().holdsSecretContent(head);
}

function isWhitespaceByte(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
