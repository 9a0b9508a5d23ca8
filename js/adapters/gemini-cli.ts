/**
 * Tools for Gemini CLI's registry: one object with `execute(params, signal)`, and, for later
 * versions, `build(params)`, which returns a call that can be described, confirmed and executed.
 * Nothing of it is imported.
 *
 * A question shows the effect of a change. Right before the call is made, the shown effect is
 * compared with the current one; for an approval bound to the exact bytes give the workspace
 * `confirm`.
 *
 * @module filewright/gemini-cli
 */
import type { HookPreview } from "../hooks/hook.ts";
import type { ObjectSchema } from "../tools/lib/schema.ts";
import type { ErrorData, ToolIcon, Workspace } from "../workspace/index.ts";
import { type GeminiContent, toGeminiContent } from "./content.ts";
import {
  adapterChecker,
  APPROVING_OPTIONS,
  type ApprovingOptions,
  approvalPredicate,
  type AdapterTool,
  selectTools,
} from "./offer.ts";

export type { ApprovalQuestion, Approve, ApprovingOptions } from "./offer.ts";

/** A file that a call names. */
export interface GeminiCliLocation {
  path: string;
}

/** The diff of a change that a call makes, for the screen. */
export interface GeminiCliDiff {
  fileDiff: string;
  fileName: string;
  originalContent: string | null;
  newContent: string;
}

/** The result of a call of a Gemini CLI tool. */
export interface GeminiCliResult {
  /** The content of a result for the model. */
  llmContent: string | GeminiContent[];
  /** The part of a result for people: a summary, or the diff of the confirmed change. */
  returnDisplay: string | GeminiCliDiff;
  /** The error of a failed call, with its code. */
  error?: { message: string; type: string };
}

/** The question for the user. `edit` shows a diff. */
export type GeminiCliConfirmation = {
  title: string;
  /** Called with the user's answer, such as `proceed_once` or `cancel`. */
  onConfirm(outcome: string, payload?: unknown): Promise<void>;
} & (({ type: "edit"; filePath: string } & GeminiCliDiff) | { type: "info"; prompt: string });

/** One call of a Gemini CLI tool with checked arguments. */
export interface GeminiCliInvocation {
  readonly params: object;
  getDescription(): string;
  toolLocations(): GeminiCliLocation[];
  shouldConfirmExecute(signal?: AbortSignal): Promise<GeminiCliConfirmation | false>;
  /** Makes the call. Takes the signal, or the options object that later versions of Gemini CLI pass. */
  execute(given?: AbortSignal | { readonly abortSignal?: AbortSignal }): Promise<GeminiCliResult>;
}

/** One tool in the shape of Gemini CLI. */
export interface GeminiCliTool {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly icon: ToolIcon;
  /** The kind of work that the tool does, in the words of later versions of Gemini CLI. */
  readonly kind: "read" | "search" | "edit" | "execute";
  readonly schema: { name: string; description: string; parametersJsonSchema: ObjectSchema };
  /** False: the text for people is no Markdown. */
  readonly isOutputMarkdown: false;
  /** False: no tool shows a part of its output while it runs. */
  readonly canUpdateOutput: false;
  readonly isReadOnly: boolean;
  getSchema(): GeminiCliTool["schema"];
  /** Returns what is wrong with arguments; null for valid ones. */
  validateToolParams(params: object): string | null;
  getDescription(params: object): string;
  toolLocations(params: object): GeminiCliLocation[];
  shouldConfirmExecute(params: object, signal?: AbortSignal): Promise<GeminiCliConfirmation | false>;
  execute(params: object, signal?: AbortSignal, updateOutput?: unknown): Promise<GeminiCliResult>;
  /** @throws Error whose message says what is wrong with the arguments */
  build(params: object): GeminiCliInvocation;
}

const checkOptions = adapterChecker("toGeminiCliTools", APPROVING_OPTIONS);

/**
 * The tools of a workspace for `registry.registerTool`. The presets `gemini-cli` and `gemini` have
 * the names of its own file tools. `approve` selects the calls that the user is asked about.
 *
 * @example
 * const ws = await openWorkspace({ root: "/repo", preset: "gemini-cli" });
 * for (const tool of toGeminiCliTools(ws, { approve: "changes" })) registry.registerTool(tool);
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toGeminiCliTools(ws: Workspace, given: ApprovingOptions = {}): GeminiCliTool[] {
  const options = checkOptions(ws, given);
  return selectTools(ws, options).map((tool) => toGeminiCliTool(tool, options));
}

/** A call about which the user was asked. */
interface CallWithApproval {
  readonly preview: HookPreview | undefined;
  /** Undefined until the user has answered. */
  outcome?: string;
}

function toGeminiCliTool(tool: AdapterTool, { approve, agent }: ApprovingOptions): GeminiCliTool {
  const { name, title, description, icon, annotations, inputSchema } = tool;
  const asks = approvalPredicate(tool, approve);
  // The loop passes the same arguments to each step of a call.
  const asked = new WeakMap<object, CallWithApproval>();

  const shouldConfirmExecute: GeminiCliTool["shouldConfirmExecute"] = async (params, signal) => {
    if (asks === undefined || (typeof asks === "function" && !(await asks(params)))) return false;
    // A call that would be refused as it is now is asked about too: a hook may change its arguments.
    const outline = tool.outline(params);
    const preview = await previewOrUndefined(tool, params, signal, agent);
    const question: CallWithApproval = { preview };
    asked.set(params, question);
    const onConfirm = async (outcome: string): Promise<void> => {
      question.outcome = outcome;
    };
    return preview === undefined || preview.diff === "" || preview.newContent === null
      ? {
          type: "info",
          title: preview?.title ?? (outline.ok ? outline.title : title),
          prompt: JSON.stringify(params),
          onConfirm,
        }
      : {
          type: "edit",
          title: preview.title,
          filePath: preview.path,
          ...toGeminiCliDiff(preview),
          onConfirm,
        };
  };

  const execute: GeminiCliTool["execute"] = async (params, signal) => {
    const question = asked.get(params);
    asked.delete(params);
    if (question !== undefined) {
      const refusal = await refusalOfCall(question, () => previewOrUndefined(tool, params, signal, agent));
      if (refusal !== undefined) return failureResult(refusal, refusal, "APPROVAL_DENIED");
    }
    const result = await tool.call(params, { signal });
    if (!result.ok) return failureResult(result.text, result.display, result.error.code);
    return {
      llmContent: result.content === undefined ? result.text : toGeminiContent(result),
      returnDisplay: result.display,
    };
  };

  const outlined = (params: object): { readonly title: string; readonly locations: GeminiCliLocation[] } => {
    const outline = tool.outline(params);
    if (!outline.ok) return { title, locations: [] };
    return { title: outline.title, locations: outline.locations.map(({ path }) => ({ path })) };
  };
  const validateToolParams = (params: object): string | null => {
    const { error } = tool.outline(params);
    return error === undefined ? null : errorSentence(error);
  };
  const schema = { name, description, parametersJsonSchema: structuredClone(inputSchema) };
  return {
    name,
    displayName: title,
    description,
    icon,
    kind: toolKindOf(tool),
    schema,
    isOutputMarkdown: false,
    canUpdateOutput: false,
    isReadOnly: annotations.readOnlyHint,
    getSchema: () => schema,
    validateToolParams,
    getDescription: (params) => outlined(params).title,
    toolLocations: (params) => outlined(params).locations,
    shouldConfirmExecute,
    execute,
    build(params) {
      const wrong = validateToolParams(params);
      if (wrong !== null) throw new Error(wrong);
      return {
        params,
        getDescription: () => outlined(params).title,
        toolLocations: () => outlined(params).locations,
        shouldConfirmExecute: (signal) => shouldConfirmExecute(params, signal),
        execute: (more) =>
          execute(params, more !== undefined && "aborted" in more ? more : more?.abortSignal),
      };
    },
  };
}

/** Returns the preview of a change; undefined for reading calls, and when the call itself will fail. */
function previewOrUndefined(
  tool: AdapterTool,
  params: object,
  signal: AbortSignal | undefined,
  agent: string | undefined,
): Promise<HookPreview | undefined> {
  const options = { ...(signal === undefined ? {} : { signal }), ...(agent === undefined ? {} : { agent }) };
  return tool.preview(params, options).catch(() => undefined);
}

/** Returns the reason why a confirmed call is not made; undefined when it is. */
async function refusalOfCall(
  { preview, outcome }: CallWithApproval,
  now: () => Promise<HookPreview | undefined>,
): Promise<string | undefined> {
  if (outcome === undefined) return "Error: The user was asked about this call and has not answered.";
  if (!outcome.startsWith("proceed_")) return "Error: The user refused the call. Nothing was written.";
  if (describedChange(await now()) === describedChange(preview)) return undefined;
  return "Error: What this call would do has changed since the user was asked. Nothing was written; call again.";
}

/** Returns everything that a preview says about its change. Each preview has a call id of its own. */
function describedChange(preview: HookPreview | undefined): string {
  const { callId: _callId, ...change } = { ...preview };
  return JSON.stringify(change);
}

function failureResult(llmContent: string, returnDisplay: string, type: string): GeminiCliResult {
  return { llmContent, returnDisplay, error: { message: returnDisplay, type } };
}

function toGeminiCliDiff({ path, diff, originalContent, newContent }: HookPreview): GeminiCliDiff {
  return {
    fileName: path.slice(path.lastIndexOf("/") + 1),
    fileDiff: diff,
    originalContent,
    newContent: newContent ?? "",
  };
}

/** Returns an error about arguments as one sentence with the path. */
function errorSentence({ message, path }: ErrorData): string {
  return path === undefined || message.includes(path) ? message : `${path}: ${message}`;
}

/** A changing tool never has the kind `read`, because a loop may skip questions about reads. */
function toolKindOf({ icon, annotations }: AdapterTool): GeminiCliTool["kind"] {
  if (annotations.readOnlyHint) return icon === "regex" ? "search" : "read";
  return icon === "terminal" ? "execute" : "edit";
}
