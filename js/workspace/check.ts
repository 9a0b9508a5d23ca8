/** Whether the options of a workspace make sense, before anything is opened. */
import { isFsBackend } from "../backends/backend.ts";
import { FilewrightError } from "../engine/errors.ts";
import { DEFAULT_LIMITS } from "../tools/limits.ts";
import { nearest } from "../tools/nearest.ts";
import type { WorkspaceOptions } from "./options.ts";

/** @throws FilewrightError INVALID_ARGUMENT naming the option, SANDBOX_SETUP_FAILED */
export function check(options: WorkspaceOptions): void {
  const fail = (message: string): never => {
    throw new FilewrightError("INVALID_ARGUMENT", message);
  };
  for (const name of Object.keys(options)) {
    if (OPTIONS.has(name)) continue;
    const close = nearest(name, OPTIONS);
    fail(`there is no option '${name}'${close === undefined ? "" : `; did you mean '${close}'?`}`);
  }
  if (options.kernel === "require" && options.backend !== undefined) {
    throw new FilewrightError("SANDBOX_SETUP_FAILED", "the kernel confines the local disk alone", {
      hint: 'use kernel: "prefer"',
    });
  }
  const { preserve = "possible" } = options;
  if (preserve !== "possible" && preserve !== "strict") fail("preserve must be possible or strict");
  if (preserve === "strict" && options.backend !== undefined)
    fail('preserve: "strict" concerns the local disk alone');
  if (options.backend !== undefined && !isFsBackend(options.backend))
    fail("backend lacks methods of FsBackend");
  const match = options.edit?.match;
  if (match !== undefined && !["exact", "whitespace", "fuzzy"].includes(match))
    fail("edit.match must be exact, whitespace or fuzzy");
  if (options.root !== undefined && options.roots !== undefined) fail("give root or roots, not both");
  if (options.roots?.length === 0) fail("roots must not be empty");
  const names = options.ignoreFiles ?? [];
  if (
    names.some((name) => typeof name !== "string" || !/^[^/\0]+$/u.test(name)) ||
    names.indexOf(".gitignore") > 0
  )
    fail("ignoreFiles must be names of files, .gitignore first");
  for (const [name, value] of Object.entries(options.limits ?? {})) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) fail(`there is no limit '${name}'`);
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      fail(`limits.${name} must be a positive integer`);
  }
}

// A record, so that an option missing from it does not compile.
const KNOWN: Record<keyof WorkspaceOptions, true> = {
  root: true,
  roots: true,
  backend: true,
  cwd: true,
  access: true,
  permissions: true,
  preset: true,
  hooks: true,
  onHookError: true,
  rules: true,
  confirm: true,
  requireApproval: true,
  notify: true,
  limits: true,
  readers: true,
  ignoreFiles: true,
  durability: true,
  preserve: true,
  edit: true,
  kernel: true,
  index: true,
  stateDir: true,
  agent: true,
  guard: true,
  observers: true,
  history: true,
  findFiles: true,
  commands: true,
};
const OPTIONS: ReadonlySet<string> = new Set(Object.keys(KNOWN));
