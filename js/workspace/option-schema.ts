/**
 * The options of a workspace as tables. `js/schema/option.ts` describes how to add an option. The
 * options of agents, calls, mentions, locks and undo are next to their types.
 */
import { RULE_OPTIONS } from "../policy/rules.ts";
import { BACKEND_OPTIONS, COMMAND_OPTIONS } from "../backends/option-schema.ts";
import { PLACES_OPTIONS } from "../backends/confined/places.ts";
import { SANDBOX_PROVIDER } from "../backends/sandbox/sandbox.ts";
import { MIRROR_OPTIONS } from "../storage/mirror/options.ts";
import { STORAGE_OPTIONS } from "../storage/option-schema.ts";
import { HOOK_OPTIONS } from "../hooks/hook.ts";
import { OBSERVER } from "../hooks/observer.ts";
import { PRESET_OPTION } from "../presets/index.ts";
import { READER } from "../readers/registry.ts";
import {
  callback,
  choice,
  either,
  exactly,
  flag,
  integer,
  list,
  nullable,
  type Options,
  options,
  required,
  text,
  urlOption,
} from "../schema/option.ts";
import { LIMIT_OPTIONS } from "../tools/lib/limits.ts";
import type { EditDefaults } from "../tools/lib/tool.ts";
import type { AccessOptions, RootOptions, WorkspaceOptions } from "./options.ts";
import type { PermissionOptions } from "./permissions.ts";
import { JOURNAL_STORE } from "../log/store.ts";
import { RECORDS } from "../records/records.ts";

const FILE_NAME_OPTION = text({
  pattern: "^[^/\\0]+$",
  test: (name) => (name === "." || name === ".." ? "must be the name of a file" : undefined),
});

/** The options of a root. */
const ROOT_OPTIONS: Options<RootOptions> = options(
  "RootOptions",
  { path: required(either(text(), urlOption)), access: choice("read", "write") },
  { instead: { readOnly: 'access: "read"', readonly: 'access: "read"', mode: "access", root: "path" } },
);

/** The option `access`. */
const ACCESS_OPTIONS: Options<AccessOptions> = options("AccessOptions", {
  read: nullable(list(text())),
  write: list(text()),
  deny: list(text()),
  protect: flag(),
  places: PLACES_OPTIONS,
  secrets: choice("grant", "allow"),
  readOnly: flag(),
  followSymlinks: choice("inside", "never", "any"),
});

/** The option `permissions`. */
const PERMISSION_OPTIONS: Options<PermissionOptions> = options("PermissionOptions", {
  mode: choice("off", "prompt"),
  grantsFile: text(),
  ask: callback(),
  now: callback(),
});

const EDIT_OPTIONS: Options<Partial<EditDefaults>> = options("EditDefaults", {
  match: choice("exact", "whitespace", "fuzzy"),
});

/** The options of a workspace. */
export const WORKSPACE_OPTIONS: Options<WorkspaceOptions> = options(
  "WorkspaceOptions",
  {
    root: either(text(), urlOption),
    roots: list(either(either(text(), urlOption), ROOT_OPTIONS), { minItems: 1 }),
    backend: BACKEND_OPTIONS,
    storage: STORAGE_OPTIONS,
    mirror: either(exactly(false), MIRROR_OPTIONS),
    cwd: text(),
    readOnly: flag(),
    access: ACCESS_OPTIONS,
    permissions: PERMISSION_OPTIONS,
    preset: PRESET_OPTION,
    hooks: list(HOOK_OPTIONS),
    foreignTools: list(text()),
    onHookError: callback(),
    rules: list(RULE_OPTIONS),
    confirm: callback(),
    requireApproval: flag(),
    review: choice("before", "after"),
    notify: callback(),
    limits: LIMIT_OPTIONS,
    readers: list(READER),
    ignoreFiles: list(FILE_NAME_OPTION, {
      test: (names) => (names.indexOf(".gitignore") > 0 ? "must name .gitignore first" : undefined),
    }),
    edit: EDIT_OPTIONS,
    durability: choice("none", "atomic", "durable"),
    preserve: choice("possible", "strict"),
    kernel: choice("prefer", "require", "off"),
    engine: choice("auto", "native"),
    index: choice("auto", "off", "anywhere", "strict"),
    concurrency: integer(1),
    tenant: text(),
    knows: either(flag(), choice("names")),
    commands: either(either(exactly(true), SANDBOX_PROVIDER), COMMAND_OPTIONS),
    history: flag(),
    agent: text(),
    guard: either(flag(), choice("off", "warn", "refuse")),
    observers: list(OBSERVER),
    journal: JOURNAL_STORE,
    records: RECORDS,
    stateDir: text(),
    backendId: text({
      pattern: "^[\\w.:/-]{1,200}$",
      noun: "a name of at most 200 letters, digits and . : / - _",
    }),
  },
  {
    instead: { path: "root", dir: "root", deny: "access.deny", mode: "permissions.mode" },
    noun: "a path, a URL or an object of options",
  },
);
