/**
 * The interface of hooks: functions that run before or after every call.
 *
 * Ready-made hooks are in this folder; the workspace runs them. Keys are `snake_case`, as in tool
 * arguments, because hooks are often used with tools of other packages too.
 */

import {
  anything,
  callback,
  choice,
  flag,
  instance,
  mapOf,
  nullable,
  type Options,
  options,
  required,
  anyText,
  text,
} from "../schema/option.ts";
import type { Confirm, Risk } from "./confirm.ts";

/** What a call would change. Contents are text; null where a file does not exist. */
export interface HookPreview {
  /** The change in a few words. */
  readonly title: string;
  /** The absolute path of the changed file. */
  readonly path: string;
  /** The change as a unified diff. */
  readonly diff: string;
  /** The content before the change. */
  readonly originalContent: string | null;
  /** The content after the change. */
  readonly newContent: string | null;
  /** The damage the change can cause. */
  readonly risk: Risk;
  /** The id of the call, which a question about it and the history have, too. */
  readonly callId: string;
}

/** What a hook knows about a call. `result` and `duration_ms` exist only after the call. */
export interface HookContext {
  /** The canonical name of the tool. */
  readonly tool_name: string;
  /** The name of the tool in a preset, when the call used one. */
  readonly called_as?: string;
  /** The arguments, as earlier hooks changed them. A change of this object has no effect. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The host's own record of the call. */
  readonly tool_call?: unknown;
  /** The result of the call; absent before it. */
  readonly result?: HookResult;
  /** The duration of the call in milliseconds; absent before it. */
  readonly duration_ms?: number;
  /** Fires when the call is cancelled. */
  readonly signal?: AbortSignal;
  /**
   * Computes the preview of the call; only before calls of this package's changing tools. Rejects
   * with the error of the call itself.
   */
  preview?(): Promise<HookPreview>;
}

/** The result of a call, of this package or another, as hooks see it. */
export interface HookResult {
  /** True when the call succeeded. */
  readonly ok: boolean;
  /** The text for the model. */
  readonly text: string;
  /** The text for people; other packages' tools may have none. */
  readonly display?: string;
  /** The data of a success. */
  readonly data?: unknown;
  /** The error of a failure. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** The answer of a `before` hook. Undefined continues the call. */
export interface BeforeReply {
  /** False refuses the call. Default true. */
  readonly proceed?: boolean;
  /** Arguments that replace those of the call, by key; null removes a key. The result is checked again. */
  readonly modified_args?: Readonly<Record<string, unknown>> | null;
  /** The text for the model, only with `proceed: false`. A value that is no text is shown as JSON. */
  readonly alternative_response?: unknown;
  /** The promise of the call rejects with exactly this value. */
  readonly raise_exception?: unknown;
}

/** The valid answers of a `before` hook. An invalid answer blocks the call. */
export const BEFORE_REPLY: Options<BeforeReply> = options(
  "BeforeReply",
  {
    proceed: flag(),
    modified_args: nullable(mapOf(anything())),
    alternative_response: anything(),
    raise_exception: anything(),
  },
  {
    test: ({ proceed, alternative_response: response }) =>
      proceed !== false && response !== undefined && response !== null
        ? "has an alternative_response without proceed: false"
        : undefined,
  },
);

/**
 * The answer of an `after` hook: parts of the result to replace, or a whole result, of which these
 * parts are used.
 */
export interface AfterReply {
  /** The text for the model. */
  readonly text?: string;
  /**
   * The text for people. If the hook replaces only the text for the model, people see that text; if it
   * replaces only the data, people see no diff. So nothing that a hook removes stays visible to people.
   */
  readonly display?: string;
  /** The data of the result. */
  readonly data?: unknown;
  /** Part of a result that is returned unchanged; ignored, like the following keys. */
  readonly ok?: unknown;
  /** Part of a result that is returned unchanged; ignored. */
  readonly error?: unknown;
  /** Part of a result that is returned unchanged; ignored. */
  readonly content?: unknown;
  /** Part of a result that is returned unchanged; ignored. */
  readonly meta?: unknown;
}

/** The valid answers of an `after` hook. An invalid answer is reported to `onHookError`, and ignored. */
export const AFTER_REPLY: Options<AfterReply> = options("AfterReply", {
  text: anyText(),
  display: anyText(),
  data: anything(),
  ok: anything(),
  error: anything(),
  content: anything(),
  meta: anything(),
});

/**
 * One hook before or after calls. A `before` hook that throws, or does not answer in time, blocks
 * the call.
 */
export interface Hook {
  /** When the hook runs: before or after a call. */
  readonly stage: "before" | "after";
  /** The canonical name of a tool, the name that a preset gives it, or `*`. */
  readonly tool: string;
  /**
   * Runs the hook. It returns a {@link BeforeReply} or an {@link AfterReply}, or a promise of one; undefined
   * changes nothing.
   */
  run(context: HookContext): unknown;
}

/** A hook that decides about changes and about other packages' tools: see {@link Confirm}. */
export interface ConfirmHook {
  /** `confirm`: it decides about changes. */
  readonly stage: "confirm";
  /** The canonical name of a tool, the name that a preset gives it, or `*`. */
  readonly tool: string;
  /** Asks the reviewer and returns the answer. */
  readonly run: Confirm;
}

/** Any hook. */
export type AnyHook = Hook | ConfirmHook;

/** A hook: an object literal with these members alone, or an object of a class that has them. */
export const HOOK_OPTIONS: Options<AnyHook> = instance(
  "Hook",
  "a hook",
  {
    stage: required(choice("before", "after", "confirm")),
    tool: required(text()),
    run: required(callback()),
  },
  { closed: true },
);
