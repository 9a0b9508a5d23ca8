/**
 * A call on its way through the stages, and what a stage is. Not to be taken for the stage of a storage
 * (`session.staging.stage`), on which one call reads and changes files.
 */
import type { Files } from "../backends/files.ts";
import type { BegunCallOptions, CallOptions } from "../pipeline/enter.ts";
import type { Facts } from "../pipeline/facts.ts";
import type { ReplacedPath } from "../pipeline/paths/look-alikes.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { CallSignal } from "../pipeline/scheduling/running.ts";
import type { Session } from "../pipeline/session.ts";
import type { CanonicalCall, PresetTool } from "../presets/preset.ts";
import type { AnyTool, Tool } from "../tools/lib/tool.ts";

/** A call under the names of a preset. */
export interface PresetCall {
  readonly tool: PresetTool;
  /** Returns the canonical call. An error uses the names of the preset. @throws FilewrightError INVALID_ARGUMENT */
  meaning(): CanonicalCall;
}

/** The called tool, as far as the stages around it know it. A `review` only notes in the history that calls are kept. */
export type Called = Pick<Tool, "name" | "title" | "traits"> & { readonly kind: Tool["kind"] | "review" };

/** A call before its arguments are understood. A stage hands on a copy where it changes something. */
export interface CallRequest {
  /** The workspace as the call sees it. */
  readonly session: Session;
  /** The canonical tool. A call of a preset may mean another one (`mean` in `steps.ts`); its own tool is in `presetCall`. */
  readonly known: Called;
  /** The arguments as the caller has sent them. */
  readonly given: unknown;
  readonly options: CallOptions;
  /** Undefined for a canonical call. */
  readonly presetCall: PresetCall | undefined;
  /** The id in the history, where an observer was told one; empty otherwise. */
  readonly callId: string;
  /** The number of the call among the answers about grants: a refusal with a later number applies to it. */
  readonly began: number;
  readonly facts: Facts;
  /** Ends the call early. */
  readonly limited: CallSignal;
  /** The functions that release slots and places among the walks. The end of each try calls them and empties the list. */
  readonly taken: (() => void)[];
  /** The existing paths that replace those of the call, because both look the same; undefined for none. */
  readonly replaced: readonly ReplacedPath[] | undefined;
  /** Files in place of those of the workspace, such as the overlay of a batch; undefined for those. */
  readonly storage: Files | undefined;
}

/** A call whose tool is known. */
export interface SentCall {
  readonly request: CallRequest;
  readonly tool: AnyTool;
  /** The canonical call that a call of a preset stands for. */
  readonly canonical: CanonicalCall | undefined;
  readonly begun: BegunCallOptions;
}

/** A call whose tool and arguments are known. */
export interface MeantCall extends SentCall {
  /** The checked arguments. */
  readonly args: object;
  /** The names of the arguments that hooks changed. */
  readonly modified: readonly string[];
}

/** The rest of the way of a call: the stages below, and the tool. */
export type Next = (request: CallRequest) => Promise<ToolResult>;

/** What is done around a call, of one concern. */
export interface Stage {
  /** Returns true for a workspace whose options ask for the stage; absent for a stage of every workspace. */
  isNeeded?(session: Session): boolean;
  run(request: CallRequest, next: Next): Promise<ToolResult>;
}

/** Runs one call of a canonical tool, or of the tool that a preset's call stands for. */
export type RunCall<Known extends Called = Tool> = (
  known: Known,
  given: unknown,
  options: CallOptions,
  presetCall?: PresetCall,
) => Promise<ToolResult>;
