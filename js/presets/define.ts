/** Creates the callable tools of a preset from its data: schemas, aliases, names and texts. */
import { escapeControls } from "../engine/escape.ts";
import type { Code, FilewrightError } from "../engine/errors.ts";
import { compileCheck } from "../schema/check.ts";
import { optionChecker } from "../schema/option.ts";
import { withEmptyOldTextHint } from "../tools/edit/arguments.ts";
import { TOOLS, type ToolName } from "../tools/index.ts";
import { type Arguments, compileArgumentCheck, object, type Schema } from "../tools/lib/schema.ts";
import type { AnyTool, ReaderNames, Tool } from "../tools/lib/tool.ts";
import {
  namesForReader,
  parameterAliases,
  renamedArguments,
  resendBy,
  spelledBy,
  toCanonicalArguments,
  withHostPaths,
  withoutHomePath,
} from "./arguments.ts";
import type { Meant, RenderInput } from "./meaning.ts";
import {
  type CanonicalCall,
  type Param,
  type Preset,
  type PresetHost,
  type PresetSpec,
  type PresetTool,
  type ToolSpec,
  ambiguousEditMessage,
} from "./preset.ts";
import { PRESET_SPEC_OPTIONS } from "./spec-options.ts";

/**
 * Defines a parameter. `to` is the canonical argument that receives its value; null if the preset handles it
 * itself.
 */
export function param(to: string | null, schema: Schema, more: Omit<Param, "to" | "schema"> = {}): Param {
  return { to, schema, ...more };
}

/** Defines a tool of a preset. The title is by default that of the canonical tool. */
export function tool(spec: Omit<ToolSpec, "title"> & { readonly title?: string }): ToolSpec {
  return { title: usualToolOf(spec.means.tools).title, ...spec };
}

const checkSpec = optionChecker("definePreset", PRESET_SPEC_OPTIONS);

/**
 * Defines a preset. Its parts are checked now, so that an error is found before a tool is called.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the invalid part
 */
export function definePreset(given: PresetSpec): Preset {
  const { tools, ...facts } = checkSpec(given);
  const preset = presetOf(facts, () => tools);
  // A schema that cannot be compiled is reported here.
  for (const { inputSchema } of preset.tools) compileCheck(inputSchema, { coerce: true });
  return preset;
}

/** A preset of this package, each of whose tools is described on first use. */
type OwnPresetSpec = PresetFacts & { readonly tools: readonly (() => ToolSpec)[] };

/** What is said of a preset beside its tools. */
type PresetFacts = Omit<PresetSpec, "tools">;

/**
 * Creates a preset of this package. Its tools are described, checked and created when they are first used, because a
 * process uses one of many presets, and creating all of them would slow down every start.
 */
export function buildPreset({ tools, ...facts }: OwnPresetSpec): Preset {
  return presetOf(facts, () => checkSpec({ ...facts, tools: tools.map((describe) => describe()) }).tools);
}

/** Returns a preset whose tools are made on first use, from the specifications that `specsOf` returns. */
function presetOf(facts: PresetFacts, specsOf: () => readonly ToolSpec[]): Preset {
  const fixedText = facts.fixedText === true;
  let tools: readonly PresetTool[] | undefined;
  return Object.freeze({
    name: facts.name,
    about: facts.about,
    get tools(): readonly PresetTool[] {
      tools ??= makePresetTools(specsOf(), fixedText);
      return tools;
    },
    limits: Object.freeze(facts.limits ?? {}),
    access: Object.freeze(facts.access ?? {}),
    guard: facts.guard ?? (fixedText ? "off" : "warn"),
  });
}

function makePresetTools(specs: readonly ToolSpec[], fixedText: boolean): readonly PresetTool[] {
  const called = (of: string): string | undefined => specs.find(({ means }) => means.tools[0] === of)?.name;
  return Object.freeze(specs.map((spec) => makePresetTool(spec, called, fixedText)));
}

function canonicalToolOf(name: ToolName): Tool {
  return TOOLS.find((tool) => tool.name === name) as Tool;
}

/** Returns the canonical tool that gives a tool of a preset its aliases and hints. */
function usualToolOf([usual]: readonly ToolName[]): Tool {
  return canonicalToolOf(usual as ToolName);
}

/** What all calls of one tool of a preset have in common. */
type Common = Pick<CanonicalCall, "names" | "ours" | "fixedText">;

function makePresetTool(
  spec: ToolSpec,
  called: (of: string) => string | undefined,
  fixedText: boolean,
): PresetTool {
  const { name, title, description, means } = spec;
  const of = usualToolOf(means.tools);
  const params = Object.entries(spec.params);
  const names = namesForReader(params, called);
  const inputSchema = object(
    Object.fromEntries(params.map(([theirs, { schema }]) => [theirs, schema])),
    spec.required,
  );
  const plain = compileArgumentCheck<Arguments>(name, inputSchema);
  const parse =
    of.name === "edit_file" && !fixedText
      ? withEmptyOldTextHint(plain, names.argument("old_text"), names.tool("write_file"))
      : plain;
  const spelled = spelledBy(name, params, parameterAliases(params, of));
  const common: Common = { names, ours: renamedArguments(params), fixedText };
  const hidesHome = params.some(([, { path }]) => path === "home");

  const meantBy = (given: unknown, host: PresetHost): readonly [meant: Meant, checked: Arguments] => {
    const checked = withHostPaths(name, params, parse(spelled(given)), host);
    return [
      means.call({ given: checked, args: toCanonicalArguments(params, checked, means.fixed) }),
      checked,
    ];
  };
  const discreet = (made: CanonicalCall, given: unknown, host: PresetHost): CanonicalCall =>
    hidesHome
      ? { ...made, refuse: (error, told) => withoutHomePath(made.refuse(error, told), given, host) }
      : made;
  const routes = means.tools.length > 1;

  return Object.freeze({
    ...{ name, title, description, inputSchema, names, tool: of, routes },
    ...{ outputSchema: of.outputSchema, annotations: of.annotations, kind: kindOf(means.tools) },
    expand(given: unknown, host: PresetHost): CanonicalCall {
      const [meant, checked] = meantBy(given, host);
      const resend = meant.of === of.name ? resendBy(name, params, () => spelled(given)) : NO_CALL;
      return discreet(canonicalCall(common, meant, checked, resend), given, host);
    },
    instead(code: Code, given: unknown, host: PresetHost): CanonicalCall | undefined {
      if (!routes) return undefined;
      let sent: ReturnType<typeof meantBy>;
      try {
        sent = meantBy(given, host);
      } catch {
        // A call can fail before its arguments are read. Its failure stands, whatever they are.
        return undefined;
      }
      const [meant, checked] = sent;
      const other = meant.instead?.(code);
      return other && discreet(canonicalCall(common, other, checked, NO_CALL), given, host);
    },
  });
}

/** Returns the kind of a tool; one that also reads is offered in a read-only workspace. */
function kindOf(tools: readonly ToolName[]): Tool["kind"] {
  const reads = tools.some((name) => canonicalToolOf(name).kind === "read");
  return reads ? "read" : usualToolOf(tools).kind;
}

/** A canonical call that no call of the preset expresses. */
const NO_CALL = (): undefined => undefined;

function canonicalCall(
  common: Common,
  meant: Meant,
  given: Arguments,
  resend: CanonicalCall["resend"],
): CanonicalCall {
  const { of, args, brief, json, ignoreFiles, excludeLines, text } = meant;
  const tool = canonicalToolOf(of);
  return {
    ...common,
    ...{ tool, args, brief, json, ignoreFiles, excludeLines, resend },
    text: text === undefined ? undefined : renderTextBy(text, tool, given),
    refuse: refusalBy(meant.refuse, given, common.names),
  };
}

function renderTextBy(
  text: (told: RenderInput<never, never>) => string,
  tool: Tool,
  given: Arguments,
): NonNullable<CanonicalCall["text"]> {
  const ours = tool as unknown as AnyTool;
  return (data, args, call, shownDiff) => {
    const told = { data, args, given, call, plain: () => ours.texts.render(data, args, call, shownDiff) };
    return text(told as unknown as RenderInput<never, never>);
  };
}

function refusalBy(refuse: Meant["refuse"], given: Arguments, names: ReaderNames): CanonicalCall["refuse"] {
  return (error: FilewrightError, canonical: string) => {
    const path = escapeControls(error.path ?? "");
    const told = ambiguousEditMessage(error, canonical, path, names);
    return refuse?.({ code: error.code, error, path, told, given, names }) ?? told;
  };
}
