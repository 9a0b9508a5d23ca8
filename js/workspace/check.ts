/** Validates the options of `openWorkspace` and brings them into one form, before anything is opened. */
import { assertRules } from "../policy/rules.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import { assertToolNames, optionChecker, wrongOptionError } from "../schema/option.ts";
import { bindHooks, type BoundHook } from "../hooks/run.ts";
import { presetToolMeanings } from "../presets/index.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";
import { WORKSPACE_OPTIONS } from "./option-schema.ts";
import type { WorkspaceOptions } from "./options.ts";

const FUNCTION_NAME = "openWorkspace";
const checkTypes = optionChecker(FUNCTION_NAME, WORKSPACE_OPTIONS);

/** One root in its long form, with its path as text. */
interface CheckedRoot {
  readonly path: string;
  readonly access: "read" | "write";
}

/** Validated options. Roots are in their long form. */
export interface CheckedOptions extends Omit<WorkspaceOptions, "root" | "roots"> {
  /** The roots; undefined when only `access` names the directories. */
  readonly roots: readonly CheckedRoot[] | undefined;
  /** True when the option `root` or the short form was given; then the `read` access of a preset applies. */
  readonly rootAlone: boolean;
}

const wrong = (option: string, what: string) => () => wrongOptionError(FUNCTION_NAME, option, what);
const isElsewhere = ({ backend, storage }: WorkspaceOptions): boolean =>
  backend !== undefined || storage !== undefined;

/** Options that contradict each other, each with the error, in the order in which they are told. */
const CONTRADICTIONS: readonly (readonly [
  when: (options: WorkspaceOptions) => boolean,
  error: () => FilewrightError,
])[] = [
  [
    ({ root, roots }) => root !== undefined && roots !== undefined,
    wrong("roots", "give root or roots, not both"),
  ],
  [
    ({ storage, backend }) => storage !== undefined && backend !== undefined,
    wrong("storage", "give storage or backend, not both"),
  ],
  [(options) => options.kernel === "require" && isElsewhere(options), noKernelError],
  [
    (options) => options.engine === "native" && isElsewhere(options),
    wrong("engine", '"native" concerns the local disk alone'),
  ],
  [
    (options) => options.preserve === "strict" && isElsewhere(options),
    wrong("preserve", '"strict" concerns the local disk alone'),
  ],
  [
    ({ backendId, backend }) => backendId !== undefined && backend === undefined,
    wrong("backendId", "names a backend, and none is given"),
  ],
  [
    ({ journal, storage }) => journal !== undefined && storage !== undefined,
    wrong("journal", "concerns the local disk or a backend, not a storage"),
  ],
  [
    ({ journal, backend, backendId }) =>
      journal !== undefined && backend !== undefined && backendId === undefined,
    wrong("journal", "records paths of the backend: give the backendId that names it"),
  ],
  [
    ({ mirror, storage }) => mirror !== undefined && storage === undefined,
    wrong("mirror", "concerns a storage, and none is given"),
  ],
  [
    ({ mirror, stateDir }) => mirror !== undefined && mirror !== false && stateDir === undefined,
    wrong("mirror", "needs the stateDir in which the copy is kept"),
  ],
  [
    ({ review, requireApproval }) => review === "after" && requireApproval === true,
    wrong("review", 'give review: "after" or requireApproval, not both'),
  ],
  [
    ({ review, rules = [], history }) =>
      history === false && (review === "after" || rules.some(({ decision }) => decision === "review")),
    wrong("history", "is needed to review changes after they are made"),
  ],
];

function noKernelError(): FilewrightError {
  return new FilewrightError("SANDBOX_SETUP_FAILED", "the kernel confines the local disk alone", {
    hint: 'use kernel: "prefer"',
  });
}

/** Validates the options. @throws FilewrightError INVALID_ARGUMENT naming the option, SANDBOX_SETUP_FAILED */
export function checkOptions(given: string | URL | WorkspaceOptions): CheckedOptions {
  assertFirstArgument(given);
  const short = typeof given === "string" || isUrl(given);
  const { root, roots, ...rest } = checkTypes(short ? { root: given } : given);
  const [, error] = CONTRADICTIONS.find(([when]) => when({ root, roots, ...rest })) ?? [];
  if (error !== undefined) throw error();
  const { foreignTools: foreign = [] } = rest;
  assertRules(FUNCTION_NAME, "rules", rest.rules ?? [], new Set([...TOOL_NAMES, ...foreign]));
  const { hooks = [] } = rest;
  const names = [...TOOL_NAMES, ...meaningsForHooks(rest).keys(), ...foreign];
  assertToolNames(FUNCTION_NAME, "hooks", hooks, new Set(names));
  const all = roots ?? (root === undefined ? undefined : [root]);
  return {
    ...rest,
    rootAlone: root !== undefined,
    roots: all?.map((one, index) => {
      const where = roots === undefined ? "root" : `roots[${index}]`;
      return typeof one === "string" || isUrl(one)
        ? { path: rootPathOf(one, where), access: "write" }
        : { path: rootPathOf(one.path, `${where}.path`), access: one.access ?? "write" };
    }),
  };
}

const VALID_CALL_FORMS = 'openWorkspace("/repo") or openWorkspace({ root: "/repo" })';

/**
 * Refuses a second argument, which looks like options and would have no effect. A number is the index of
 * `directories.map(openWorkspace)`.
 * @throws FilewrightError INVALID_ARGUMENT that shows the valid form
 */
export function assertNoSecondArgument(second: unknown): void {
  if (second === undefined || typeof second === "number") return;
  const options = typeof second === "object" && second !== null ? Object.keys(second) : [];
  const shown = options.length === 0 ? "…" : options.map((name) => `${escapeControls(name)}: …`).join(", ");
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    `openWorkspace: options are not a second argument; give one object: openWorkspace({ root: "/repo", ${shown} }).`,
    { complete: true },
  );
}

/**
 * Refuses a first argument that is neither a directory nor options, and names the valid forms.
 * @throws FilewrightError INVALID_ARGUMENT
 */
function assertFirstArgument(given: unknown): void {
  const wrong = firstArgumentMistake(given);
  if (wrong === undefined) return;
  throw new FilewrightError("INVALID_ARGUMENT", `openWorkspace: ${wrong}`, {
    complete: true,
    details: { argument: "root" },
  });
}

function firstArgumentMistake(given: unknown): string | undefined {
  if (given === undefined || given === null)
    return `got ${given === null ? "null" : "nothing"}, as of a variable that is not set; give a directory: ${VALID_CALL_FORMS}.`;
  if (typeof given === "string") return textMistake(given);
  if (Array.isArray(given)) return "got a list; several directories are { roots: [...] }.";
  if (typeof given !== "object")
    return `got ${typeof given === "undefined" ? "nothing" : `a ${typeof given}`}; give a directory: ${VALID_CALL_FORMS}.`;
  if (typeof (given as { then?: unknown }).then === "function")
    return "got a promise; await it before it is given.";
  const name = (Object.getPrototypeOf(given) as object | null)?.constructor?.name;
  if (!isUrl(given) && name !== undefined && name !== "Object" && isClassInstance(given))
    return `got an object of class ${escapeControls(name)}; give a directory: ${VALID_CALL_FORMS}.`;
  return undefined;
}

/** Returns what is wrong with a directory that is given as text; undefined when nothing is. */
function textMistake(given: string): string | undefined {
  if (given === "") return "the directory must not be empty; a variable may not be set.";
  if (/^~(?:[/\\]|$)/u.test(given))
    return `'${escapeControls(given)}' is no path: only a shell replaces ~; give join(homedir(), …) of node:os and node:path.`;
  return /^file:\/\//iu.test(given)
    ? `'${escapeControls(given)}' is a URL as text; give it as new URL(…), or its path.`
    : undefined;
}

/** Returns true for an instance of a class. Options are plain objects, also from another realm. */
function isClassInstance(given: object): boolean {
  const prototype = Object.getPrototypeOf(given) as object | null;
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

/** Returns what the names of presets' tools stand for, which makes the tools of every preset; none without hooks. */
function meaningsForHooks({
  hooks = [],
  preset,
}: Pick<WorkspaceOptions, "hooks" | "preset">): ReturnType<typeof presetToolMeanings> {
  return hooks.length === 0 ? new Map() : presetToolMeanings(preset);
}

/** Returns the hooks with the calls that each concerns. */
export function boundHooksOf(options: CheckedOptions): readonly BoundHook[] {
  const { hooks = [], foreignTools: foreign = [] } = options;
  const meanings = meaningsForHooks(options);
  const isOther = (name: string): boolean => !TOOL_NAMES.has(name) && !foreign.includes(name);
  return Object.freeze(bindHooks(hooks, (name) => (isOther(name) ? meanings.get(name) : undefined)));
}

function isUrl(value: unknown): value is URL {
  return (
    typeof value === "object" && value !== null && Object.prototype.toString.call(value) === "[object URL]"
  );
}

/** Returns the path of a root. @throws FilewrightError INVALID_ARGUMENT for a URL that names no local path */
function rootPathOf(root: string | URL, where: string): string {
  if (typeof root === "string") return root;
  const { protocol, host, pathname, search, hash } = root;
  if (protocol !== "file:" || (host !== "" && host !== "localhost"))
    throw wrongOptionError(
      FUNCTION_NAME,
      where,
      `must be a file: URL of this machine, got ${JSON.stringify(root.href)}`,
    );
  if (search !== "" || hash !== "" || /%2f|%00/iu.test(pathname))
    throw wrongOptionError(FUNCTION_NAME, where, `must name a path alone, got ${JSON.stringify(root.href)}`);
  try {
    return decodeURIComponent(pathname);
  } catch {
    throw wrongOptionError(
      FUNCTION_NAME,
      where,
      `has an escape that is no UTF-8, got ${JSON.stringify(root.href)}`,
    );
  }
}
