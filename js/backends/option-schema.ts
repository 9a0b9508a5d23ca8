/** Option tables that several backends share. `js/schema/option.ts` describes how to add an option. */
import {
  choice,
  flag,
  instance,
  integer,
  list,
  nullable,
  type Options,
  options,
  required,
  text,
} from "../schema/option.ts";
import { type FsBackend, isFsBackend } from "./backend.ts";
import type { SandboxPolicy } from "./policy.ts";

/** A backend: anything with the methods. */
export const BACKEND: Options<FsBackend> = instance<FsBackend>(
  "FsBackend",
  "a backend",
  {},
  { test: (value) => (isFsBackend(value) ? undefined : "lacks methods of FsBackend") },
);

/** A policy as a backend enforces it: made by a factory of `SandboxPolicy`, or with the same members. */
export const POLICY: Options<SandboxPolicy> = options("SandboxPolicy", {
  cwd: required(text()),
  read: required(nullable(list(text()))),
  write: required(list(text())),
  deny: required(list(text())),
  protect: required(flag()),
  places: list(text()),
  secrets: choice("grant", "allow"),
  gitExcludes: text(),
  readOnly: required(flag()),
  followSymlinks: required(choice("inside", "never", "any")),
  maxOutputBytes: integer(1),
});
