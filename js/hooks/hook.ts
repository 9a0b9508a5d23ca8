/**
 * What a hook is: a function that sees every call before or after it happens.
 *
 * Ready-made hooks live beside this file; the workspace runs them. Keys are
 * `snake_case`, as in tool arguments, because hooks are often written beside
 * tools that are not ours.
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

/** What a call would do. Contents are text; null where there is none. */
export interface HookPreview {
  /** The change in a few words. */
  readonly title: string;
  /** The absolute path of the file concerned. */
  readonly path: string;
  /** The change as a unified diff. */
  readonly diff: string;
  /** The content before. */
  readonly originalContent: string | null;
  /** The content after. */
  readonly newContent: string | null;
  /** How much the change can destroy. */
  readonly risk: Risk;
}

/** What a hook is told. `result` only after the call. */
export interface HookContext {
  /** The canonical name of the tool. */
  readonly tool_name: string;
  /** The name that a preset gives the tool, where the call used one. */
  readonly called_as?: string;
  /** The arguments, as they stand after earlier hooks. Changing them in place has no effect. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What the host gave the call as its own record of it. */
  readonly tool_call?: unknown;
  /** What came of the call; only after it. */
  readonly result?: HookResult;
  /** Milliseconds that the call took; only after it. */
  readonly duration_ms?: number;
  /** Fires when the call is cancelled. */
  readonly signal?: AbortSignal;
  /**
   * Works out what the call would do; only before calls of our own tools that change
   * something. Rejects with what the call itself would fail with.
   */
  preview?(): Promise<HookPreview>;
}

/** A result as hooks see it. */
export interface HookResult {
  /** Whether the call succeeded. */
  readonly ok: boolean;
  /** The text for the model. */
  readonly text: string;
  /** The text for people; tools that are not ours may have none. */
  readonly display?: string;
  /** The data of a success. */
  readonly data?: unknown;
  /** What failed. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** What a `before` hook may answer. Nothing at all means: go on. */
export interface BeforeReply {
  /** False stops the call. */
  readonly proceed?: boolean;
  /** Merged over the arguments by key; null removes a key. Checked again. */
  readonly modified_args?: Readonly<Record<string, unknown>> | null;
  /** The text for the model; only with `proceed: false`. What is no text is shown as JSON. */
  readonly alternative_response?: unknown;
  /** Rejects the call's promise with exactly this. */
  readonly raise_exception?: unknown;
}

/** What a `before` hook may answer. An answer that does not fit blocks the call. */
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

/** What an `after` hook may answer: parts of the result to replace, or a result, of which these are taken. */
export interface AfterReply {
  /** The text for the model. */
  readonly text?: string;
  /**
   * The text for people. Where only the text for the model is replaced, people are shown that one, and where only the
   * data is, no difference: what a hook takes out must not stay in what people are shown.
   */
  readonly display?: string;
  /** The data of the result. */
  readonly data?: unknown;
  /** Of a result that is passed on; not looked at, as is all that follows. */
  readonly ok?: unknown;
  /** Of a result that is passed on; not looked at. */
  readonly error?: unknown;
  /** Of a result that is passed on; not looked at. */
  readonly content?: unknown;
  /** Of a result that is passed on; not looked at. */
  readonly meta?: unknown;
}

/** What an `after` hook may answer. An answer that does not fit is told to `onHookError`, and not used. */
export const AFTER_REPLY: Options<AfterReply> = options("AfterReply", {
  text: anyText(),
  display: anyText(),
  data: anything(),
  ok: anything(),
  error: anything(),
  content: anything(),
  meta: anything(),
});

/** One hook before or after calls. A `before` hook that throws, or does not answer in time, blocks the call. */
export interface Hook {
  /** Whether it runs before or after calls. */
  readonly stage: "before" | "after";
  /** The canonical name of a tool, the name that a preset gives it, or `*`. */
  readonly tool: string;
  /** Called with what is known of the call; what it returns is acted on. */
  run(context: HookContext): unknown;
}

/** A hook that is asked about a change, or about a tool that is not ours: see {@link Confirm}. */
export interface ConfirmHook {
  /** `confirm`: it is asked about changes. */
  readonly stage: "confirm";
  /** The canonical name of a tool, the name that a preset gives it, or `*`. */
  readonly tool: string;
  /** Asks, and gives the decision. */
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
