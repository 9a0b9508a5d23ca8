/**
 * The filesystem module of Amplifier: `mount` adds its tools to a coordinator, over a workspace
 * that it opens from the module's config, or over one of the host. Nothing of Amplifier is
 * imported.
 *
 * A loop that itself sends `tool:pre` and `tool:post`, as Amplifier's orchestrators do, needs
 * nothing more. For other loops {@link toAmplifierHooks} converts the handlers to hooks: they may
 * deny a call, change its input, require an approval, and add text for the model.
 *
 * @module filewright/amplifier
 */
import { FilewrightError } from "../engine/errors.ts";
import type { BeforeReply, Hook, HookContext } from "../hooks/hook.ts";
import type { MaybePromise } from "../backends/backend.ts";
import { type Preset, presetOf, PRESETS } from "../presets/index.ts";
import {
  anything,
  callback,
  flag,
  optionChecker,
  instance,
  list,
  nullable,
  type Options,
  options as described,
  required,
  text,
} from "../schema/option.ts";
import type { ObjectSchema } from "../tools/lib/schema.ts";
import type { ContentBlock } from "../tools/lib/tool.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../workspace/index.ts";
import { argsUnderPresetNames, loopHooks } from "./loop-hooks.ts";
import { type AdapterOptions, type AdapterTool, selectTools, PRESET_CHOICE_OPTIONS } from "./offer.ts";
import { textWithoutErrorPrefix } from "./outcome.ts";

/** The answer of a handler to an event of Amplifier. */
export interface AmplifierHookResult {
  /** The action that a handler requests: `continue`, `deny`, `modify`, `inject_context` or `ask_user`. */
  readonly action: string;
  /** The reason for the action of a handler, in words for the model. */
  readonly reason?: string | null;
  /** The new data of the event, for the action `modify`. */
  readonly data?: Readonly<Record<string, unknown>> | null;
  /** The additional text for the model, for the action `inject_context`. */
  readonly context_injection?: string | null;
}

/** Dispatches events to handlers. */
export interface AmplifierHooks {
  /** Sends an event to its handlers, and returns their combined answer. */
  emit(event: string, data: Readonly<Record<string, unknown>>): MaybePromise<AmplifierHookResult>;
}

/** The part of an Amplifier coordinator that is used here. */
export interface AmplifierCoordinator {
  /** Mounts a module at a mount point. */
  mount(point: "tools", tool: AmplifierTool, name: string): MaybePromise<unknown>;
  /** Unmounts a module. */
  unmount?(point: "tools", name: string): MaybePromise<unknown>;
  /** Returns a capability of the session, such as `session.working_dir`. */
  get_capability?(name: string): unknown;
  /** The handlers of events. */
  readonly hooks?: AmplifierHooks | undefined;
  /** Processes a handler's answer: asks the user, adds to the context. Returns `continue` or `deny`. */
  process_hook_result?(
    result: AmplifierHookResult,
    event: string,
    name: string,
  ): MaybePromise<AmplifierHookResult>;
}

/** The result of a call of a mounted tool. */
export interface AmplifierResult {
  success: boolean;
  /** The output of a call that succeeded: the text for the model; for an image its path, size and content. */
  output?: string | ContentBlock;
  /** The error of a call that failed: the text for the model, and the code. */
  error?: { message: string; type: string };
}

/** A tool as it is mounted in Amplifier. */
export interface AmplifierTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
  /** Returns the schema of the arguments, for loops that require it under this name. */
  get_schema(): ObjectSchema;
  execute(input: unknown): Promise<AmplifierResult>;
}

/** The config of the module, with the keys of Amplifier's own. */
export interface AmplifierConfig {
  /** The directory that relative paths begin at. Default: the session's `session.working_dir`, else the process's. */
  readonly working_dir?: string | undefined;
  /** Directories that may be read, with everything below; null, the default, for everything. */
  readonly allowed_read_paths?: readonly string[] | null | undefined;
  /** Directories that may be written, with everything below. Default `["."]`. */
  readonly allowed_write_paths?: readonly string[] | undefined;
  /** Directories inside `allowed_write_paths` that may not be written, with everything below. */
  readonly denied_write_paths?: readonly string[] | undefined;
  /** With true, the user is asked before each change; `options` must contain `confirm` then. Default false. */
  readonly require_approval?: boolean | undefined;
  /** With true, each call emits `tool:pre` and `tool:post`, for a loop that does not emit them. Default false. */
  readonly tool_events?: boolean | undefined;
  /** The names of the tools that are mounted. Default: all. */
  readonly include?: readonly string[] | undefined;
  /** The names of the tools that are not mounted. Default: none. */
  readonly exclude?: readonly string[] | undefined;
  /** Further options of `openWorkspace`, such as `confirm` or `backend`. */
  readonly options?: Omit<WorkspaceOptions, "root" | "roots" | "access" | "preset"> | undefined;
  /**
   * A workspace of the host that is mounted instead of a new one; it stays open. Its own options apply, so
   * only `include` and `exclude` may be given with it.
   */
  readonly workspace?: Workspace | undefined;
}

/** The config of {@link mount}. */
export const AMPLIFIER_CONFIG: Options<AmplifierConfig> = described(
  "AmplifierConfig",
  {
    working_dir: text(),
    allowed_read_paths: nullable(list(text())),
    allowed_write_paths: list(text()),
    denied_write_paths: list(text()),
    require_approval: flag(),
    tool_events: flag(),
    include: list(text()),
    exclude: list(text()),
    options: anything() as Options<NonNullable<AmplifierConfig["options"]>>,
    workspace: instance<Workspace>(
      "Workspace",
      "a workspace",
      {},
      { test: ({ call }) => (typeof call === "function" ? undefined : "must be an open workspace") },
    ),
  },
  {
    test: ({ workspace, include: _include, exclude: _exclude, ...others }) => {
      const stray = Object.entries(others).find(([, value]) => value !== undefined)?.[0];
      return workspace === undefined || stray === undefined
        ? undefined
        : `has ${stray} beside a workspace, whose own options hold`;
    },
  },
);

const checkOptions = optionChecker("mount", AMPLIFIER_CONFIG);
const checkCoordinator = optionChecker(
  "mount",
  instance<AmplifierCoordinator>("AmplifierCoordinator", "a coordinator", { mount: required(callback()) }),
);
const checkHooks = optionChecker(
  "toAmplifierHooks",
  instance<{ readonly hooks: AmplifierHooks }>("AmplifierCoordinator", "a coordinator", {
    hooks: required(
      instance<AmplifierHooks>("AmplifierHooks", "a registry of hooks", { emit: required(callback()) }),
    ),
  }),
);

const checkPreset = optionChecker("toAmplifierHooks", PRESET_CHOICE_OPTIONS);

/**
 * Mounts the file tools at the mount point `tools`. Returns a function that unmounts them and
 * closes the workspace.
 *
 * @example
 * const unmount = await mount(coordinator,
 * { allowed_write_paths: ["src"], denied_write_paths: ["src/gen"] });
 *
 * @throws FilewrightError INVALID_ARGUMENT for an invalid config
 */
export async function mount(
  coordinator: AmplifierCoordinator,
  config: AmplifierConfig | null = {},
): Promise<() => Promise<void>> {
  checkCoordinator(coordinator);
  const { include, exclude, ...given } = checkOptions(config ?? {});
  const ws = given.workspace ?? (await openConfigured(coordinator, given));
  const mounted: string[] = [];
  const unmount = async (): Promise<void> => {
    for (const name of mounted.splice(0)) await coordinator.unmount?.("tools", name);
    if (given.workspace === undefined) await ws.close();
  };
  try {
    for (const tool of selectTools(ws, { include, exclude }).map(toAmplifierTool)) {
      await coordinator.mount("tools", tool, tool.name);
      mounted.push(tool.name);
    }
  } catch (error) {
    await unmount();
    throw error;
  }
  return unmount;
}

function openConfigured(coordinator: AmplifierCoordinator, config: AmplifierConfig): Promise<Workspace> {
  const { working_dir, allowed_read_paths = null, allowed_write_paths = ["."], options = {} } = config;
  const session = coordinator.get_capability?.("session.working_dir");
  const cwd = working_dir ?? (typeof session === "string" && session !== "" ? session : ".");
  const changing = PRESETS.amplifier.tools.filter(({ kind }) => kind === "change");
  const denied = (config.denied_write_paths ?? []).flatMap((path) =>
    changing.map(
      ({ tool: { name: tool } }) =>
        ({ tool, path: path.replaceAll(/[\\*?[\]{}!()]/gu, "\\$&"), decision: "deny" }) as const,
    ),
  );
  return openWorkspace({
    ...options,
    root: cwd,
    preset: "amplifier",
    access: { read: allowed_read_paths, write: allowed_write_paths },
    rules: [...denied, ...(options.rules ?? [])],
    hooks: [...(config.tool_events === true ? toAmplifierHooks(coordinator) : []), ...(options.hooks ?? [])],
    ...(config.require_approval === undefined ? {} : { requireApproval: config.require_approval }),
  });
}

function toAmplifierTool({ name, description, inputSchema, call }: AdapterTool): AmplifierTool {
  const schema = structuredClone(inputSchema);
  return {
    name,
    description,
    input_schema: schema,
    get_schema: () => schema,
    async execute(input) {
      const result = await call(input);
      if (!result.ok)
        return {
          success: false,
          error: { message: textWithoutErrorPrefix(result.text), type: result.error.code },
        };
      const [image, ...more] = result.content ?? [];
      return { success: true, output: image === undefined || more.length > 0 ? result.text : image };
    },
  };
}

/**
 * The handlers of a coordinator's events as hooks, for `openWorkspace`: `tool:pre` before each call, `tool:post`
 * after it, `tool:error` after one that failed. What a handler makes of `tool_input` is merged over the arguments.
 *
 * @example
 * const ws = await openWorkspace({ root: "/repo", preset: "amplifier", hooks: toAmplifierHooks(coordinator) });
 * await mount(coordinator, { workspace: ws });
 */
export function toAmplifierHooks(
  coordinator: Pick<AmplifierCoordinator, "hooks" | "process_hook_result">,
  given: Pick<AdapterOptions, "preset"> = {},
): Hook[] {
  const { hooks } = checkHooks(coordinator);
  const preset = presetOf(checkPreset(given).preset ?? "amplifier") as Preset;
  const told = async (
    event: string,
    data: Readonly<Record<string, unknown>>,
  ): Promise<AmplifierHookResult | undefined> => {
    const result = await hooks.emit(event, data);
    if (result.action === "continue") return undefined;
    if (result.action === "modify" || coordinator.process_hook_result === undefined) return result;
    return coordinator.process_hook_result(result, event, "filewright");
  };
  return loopHooks(
    () => [
      {
        async before(context) {
          const data = eventDataOf(preset, context);
          return beforeReply(await told("tool:pre", data), data.tool_input);
        },
        async after(context) {
          const { ok, text: said, error } = context.result as NonNullable<HookContext["result"]>;
          const outcome = ok ? { tool_result: { success: true, output: said } } : { error };
          const result = await told(ok ? "tool:post" : "tool:error", {
            ...eventDataOf(preset, context),
            ...outcome,
          });
          const more = result?.action === "inject_context" ? result.context_injection : undefined;
          return typeof more === "string" ? { text: `${said}\n${more}` } : undefined;
        },
      },
    ],
    undefined,
  );
}

/** The event data of a call. */
interface CallEvent extends Record<string, unknown> {
  readonly tool_name: string;
  readonly tool_input: Readonly<Record<string, unknown>>;
}

function eventDataOf(preset: Preset, context: HookContext): CallEvent {
  const { tool_name, called_as = tool_name, tool_call } = context;
  return {
    tool_name: called_as,
    tool_input: argsUnderPresetNames(preset, context),
    ...(tool_call === undefined ? {} : { tool_call }),
  };
}

/** Converts a handler's answer to a hook's reply. An invalid answer blocks the call. */
function beforeReply(
  result: AmplifierHookResult | undefined,
  given: CallEvent["tool_input"],
): BeforeReply | undefined {
  switch (result?.action) {
    case undefined:
    case "continue":
    case "inject_context":
      return undefined;
    case "modify": {
      const input = result.data?.["tool_input"];
      if (typeof input !== "object" || input === null) break;
      const changed = Object.entries(input).filter(
        ([key, value]) => JSON.stringify(value) !== JSON.stringify(given[key]),
      );
      return { modified_args: Object.fromEntries(changed) };
    }
    case "deny": {
      const { reason } = result;
      return { proceed: false, ...(typeof reason === "string" ? { alternative_response: reason } : {}) };
    }
    default:
  }
  throw new FilewrightError(
    "HOOK_BLOCKED",
    `blocked by hook: nobody here sees to '${String(result?.action)}'`,
    {
      complete: true,
      details: { reason: "invalid" },
    },
  );
}
