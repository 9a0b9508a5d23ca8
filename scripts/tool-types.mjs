// Writes what is generated from the schemas of the tools: the TypeScript types of their arguments and data, with the
// descriptions that models read as doc comments, their names and facts, and the methods of a workspace.
//
//   node scripts/tool-types.mjs           writes the files
//   node scripts/tool-types.mjs --check   fails if a file is stale
//
// js/tools/lib/exact.ts describes where a type says more than its schema.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { BuildError, root, runScript } from "./lib/run.mjs";

/** The tools: those that each workspace has, and those that only some have, whose types are not public. */
const ENTRY = `
export { TOOLS } from "./js/tools/index.ts";
export * as hostCalls from "./js/tools/host-calls.ts";
import { runCommand } from "./js/tools/run_command.ts";
import { undoTool } from "./js/tools/undo.ts";
import { historyTool } from "./js/tools/history.ts";
export const SOME_TOOLS = [runCommand, undoTool(false), historyTool()];
export { EXACT } from "./js/tools/lib/exact.ts";
`;

/** Loads the tools from their sources, whose types need not be fresh for that. */
async function loadTools() {
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: root, loader: "ts" },
    ...{ absWorkingDir: root, bundle: true, write: false, format: "esm", platform: "node" },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

const toCamelCase = (name) => name.replaceAll(/_([a-z])/gu, (_, letter) => letter.toUpperCase());
const toPascalCase = (name) => toCamelCase(`_${name}`);
const literals = (values) => values.map((value) => JSON.stringify(value)).join(" | ");
const inBrackets = (type) => (type.includes(" | ") ? `(${type})` : type);

/** Returns a doc comment; `args` have their default in it. */
function docComment(text, indent, byDefault) {
  const words = byDefault === undefined ? text : `${text} Default \`${JSON.stringify(byDefault)}\`.`;
  const lines = words.replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

/** The declarations of one file, of which each part stands before the type that has it. */
class Declarations {
  /** The text of each declaration, by its name. */
  #texts = new Map();
  #exact;

  constructor(exact) {
    this.#exact = exact;
  }

  get text() {
    return [...this.#texts.values()].join("\n");
  }

  /** Adds the types of a tool. */
  addTool({ name, inputSchema, outputSchema }) {
    const by = this.#exactOf(outputSchema).oneOf?.by;
    this.#declare(`${toPascalCase(name)}Args`, inputSchema, `The arguments of \`${name}\`.`, by);
    this.#declare(`${toPascalCase(name)}Data`, outputSchema, `The data of \`${name}\`.`);
  }

  #exactOf(schema) {
    return schema[this.#exact] ?? {};
  }

  #add(name, text) {
    if ((this.#texts.get(name) ?? text) !== text) throw new BuildError(`${name} names two types`);
    this.#texts.set(name, text);
  }

  /** Declares an object under a name. `by` is the argument that becomes a parameter of the type. */
  #declare(name, schema, doc, by) {
    const head = docComment(schema.description ?? doc, "");
    const { oneOf } = this.#exactOf(schema);
    if (oneOf?.by !== undefined) return this.#add(name, head + this.#casesByValue(name, schema, oneOf));
    if (oneOf !== undefined) return this.#add(name, head + this.#cases(name, schema, oneOf));
    const parameter = by === undefined ? "" : `<Output extends ${by.type} = ${by.type}>`;
    const members = this.#members(schema, Object.keys(schema.properties), { by, indent: "  " });
    const isEmpty = members === "" && schema.additionalProperties === false;
    const empty = `export type ${name} = Readonly<Record<string, never>>;\n`;
    this.#add(name, head + (isEmpty ? empty : `export interface ${name}${parameter} {\n${members}}\n`));
  }

  /** Returns the type of an object whose fields do not all go together. */
  #cases(name, schema, { cases }) {
    const [all, common] = splitNames(schema, cases);
    const forms = cases.map(({ required, optional = [] }) => {
      const only = [...required, ...optional];
      return `  | {\n${this.#members(schema, all, { required, only, indent: "      " })}    }`;
    });
    const base = common.length === 0 ? "" : `{\n${this.#members(schema, common, { indent: "  " })}} & `;
    return `export type ${name} = ${base}(\n${forms.join("\n")}\n);\n`;
  }

  /** Returns the type of data of which an argument names the form, after a type for each form. */
  #casesByValue(name, schema, { cases, common, by }) {
    const [all, others] = splitNames(schema, cases);
    const shared = this.#members(schema, others, { indent: "  " });
    this.#add(
      common,
      `/** What is common to all data of this tool. */\nexport interface ${common} {\n${shared}}\n`,
    );
    for (const one of cases) {
      const { required } = one;
      const members = this.#members(schema, all, { required, only: required, indent: "  " });
      const doc = `/** The data with \`${by.argument}: "${one.value}"\`. */\n`;
      this.#add(one.name, `${doc}export interface ${one.name} extends ${common} {\n${members}}\n`);
    }
    const map = cases.map((one) => `  readonly ${one.value}: ${one.name};\n`).join("");
    return `export type ${name}<Output extends ${by.type} = ${by.type}> = {\n${map}}[Output];\n`;
  }

  /** Returns the members of an object. Those that are not in `only` are never there. */
  #members(schema, names, { required, only = names, by, indent }) {
    const needed = required ?? [...(schema.required ?? []), ...(this.#exactOf(schema).always ?? [])];
    return names
      .map((name) => {
        const property = schema.properties[name];
        const words = (this.#exactOf(property).object ?? property).description ?? property.description;
        if (words === undefined) throw new BuildError(`${name} has no description`);
        const isThere = only.includes(name);
        const own = this.#typeOf(property, words, indent);
        const type = name === by?.argument ? "Output" : own;
        const doc = docComment(words, indent, property.default);
        return `${doc}${indent}readonly ${name}${needed.includes(name) ? "" : "?"}: ${isThere ? type : "never"};\n`;
      })
      .join("");
  }

  /** Returns the type of a value. `doc` describes it where it has a name, but no description. */
  #typeOf(schema, doc, indent) {
    const { name, type, values, object } = this.#exactOf(schema);
    if (type !== undefined) return type;
    const allowed = values ?? schema.enum;
    if (name === undefined) return this.#plainTypeOf(object ?? schema, allowed, { doc, indent });
    if (allowed === undefined) this.#declare(name, object ?? schema, doc);
    else this.#add(name, `${docComment(doc, "")}export type ${name} = ${literals(allowed)};\n`);
    return name;
  }

  #plainTypeOf(schema, allowed, { doc, indent }) {
    const isList = schema.type === "array";
    if (allowed !== undefined && !isList) return literals(allowed);
    const item = () => (allowed === undefined ? this.#typeOf(schema.items, doc, indent) : literals(allowed));
    const typeByName = {
      array: () => `readonly ${inBrackets(item())}[]`,
      integer: () => "number",
      object: () => this.#objectType(schema, indent),
    };
    return [schema.type]
      .flat()
      .map((one) => typeByName[one]?.() ?? one)
      .join(" | ");
  }

  #objectType(schema, indent) {
    if (schema.properties === undefined) return "Readonly<Record<string, unknown>>";
    const members = this.#members(schema, Object.keys(schema.properties), { indent: `${indent}  ` });
    return `{\n${members}${indent}}`;
  }
}

/** Returns the names of the properties that only some cases have, and of those that all have. */
function splitNames({ properties }, cases) {
  const some = new Set(cases.flatMap(({ required, optional = [] }) => [...required, ...optional]));
  return [[...some], Object.keys(properties).filter((name) => !some.has(name))];
}

/** Returns an interface with a member for each tool. */
function interfaceOf(name, doc, tools, memberOf) {
  const members = tools.map((tool) => `${docComment(tool.description, "  ")}  ${memberOf(tool)}\n`);
  return `/** ${doc} */\nexport interface ${name} {\n${members.join("")}}\n`;
}

const HEADER = "written by `npm run tool-types`, not to be edited.";

/** The types of the tools that each workspace has: they are public. */
export function publicTypesText(tools, exact) {
  const declarations = new Declarations(exact);
  for (const tool of tools) declarations.addTool(tool);
  const member =
    (kind) =>
    ({ name }) =>
      `${name}: ${toPascalCase(name)}${kind};`;
  return `// The arguments and data of the tools, ${HEADER}

${declarations.text}
${interfaceOf("ToolArgs", "The arguments of each tool.", tools, member("Args"))}
${interfaceOf("ToolData", "The data of each tool's result.", tools, member("Data"))}
/** The name of a tool. */
export type ToolName = keyof ToolArgs;
`;
}

/** Returns the type of a tool's arguments once their defaults are filled in. */
function checkedType({ name, inputSchema: { properties, required } }) {
  const open = Object.keys(properties).filter(
    (key) => !required.includes(key) && properties[key].default === undefined,
  );
  const args = `${toPascalCase(name)}Args`;
  return open.length === 0 ? `Required<${args}>` : `Checked<${args}, ${literals(open)}>`;
}

/** The types that the package does not export: those of the other tools, and checked arguments. */
function internalTypesText(tools, someTools, exact) {
  const declarations = new Declarations(exact);
  for (const tool of someTools) declarations.addTool(tool);
  const names = tools.map(({ name }) => `${toPascalCase(name)}Args`).sort();
  const rows = [...tools, ...someTools].map((tool) => `  readonly ${tool.name}: ${checkedType(tool)};\n`);
  return `// Types of the tools that are not public, ${HEADER}
import type {
${names.map((name) => `  ${name},\n`).join("")}} from "./types.ts";

${declarations.text}
/** Arguments with their defaults. Those that \`Open\` names have none. */
type Checked<Args, Open extends keyof Args> = Required<Omit<Args, Open>> & Pick<Args, Open>;

/** The arguments of each tool, with their defaults. */
export interface CheckedArgs {
${rows.join("")}}
`;
}

/** The names of tools and arguments, for code that must not load the tools. */
function namesText(tools) {
  const rows = tools.map(({ name, inputSchema: { properties } }) => {
    return `  ${name}: ${JSON.stringify(Object.keys(properties))},\n`;
  });
  return `// The arguments of each tool, ${HEADER}

/** The names of the arguments, by the name of the tool. */
export const ARGUMENTS_BY_TOOL: Readonly<Record<string, readonly string[]>> = {
${rows.join("")}};
`;
}

/** The kinds and traits of tools, for code that has only a name. */
function factsText(tools) {
  const rows = tools.map(({ name, kind, traits }) => `  ${name}: ${JSON.stringify({ kind, traits })},\n`);
  return `// The facts about each tool, ${HEADER}

/** The kind and the traits, by the name of the tool. */
export const FACTS_BY_TOOL = {
${rows.join("")}} as const;
`;
}

/** The methods of a workspace. */
export function methodsText(tools, exact) {
  const names = tools.flatMap(({ name }) => [`${toPascalCase(name)}Args`, `${toPascalCase(name)}Data`]);
  const by = tools.flatMap(({ outputSchema }) => outputSchema[exact]?.oneOf?.by ?? []);
  const imports = [...names, ...by.map(({ type }) => type)].sort();
  const member = ({ name, inputSchema, outputSchema }) => {
    const one = outputSchema[exact]?.oneOf?.by;
    const first = one && JSON.stringify(inputSchema.properties[one.argument].default);
    const [parameter, given] = one ? [`<Output extends ${one.type} = ${first}>`, "<Output>"] : ["", ""];
    const type = toPascalCase(name);
    return `${toCamelCase(name)}${parameter}(args: ${type}Args${given}, options?: CallOptions): Promise<${type}Data${given}>;`;
  };
  return `// The tools as methods, ${HEADER}
import type { CallOptions } from "../../pipeline/enter.ts";
import type {
${imports.map((name) => `  ${name},\n`).join("")}} from "../../tools/index.ts";

${interfaceOf("ToolMethods", "Every tool as a method: it returns the data, or throws the failure.", tools, member)}`;
}

/** Returns the text of each generated file, by its path. */
async function generatedFiles() {
  const { TOOLS, SOME_TOOLS, hostCalls, EXACT } = await loadTools();
  const all = [...TOOLS, ...SOME_TOOLS, ...Object.values(hostCalls)];
  return new Map([
    ["js/tools/generated/types.ts", publicTypesText(TOOLS, EXACT)],
    ["js/tools/generated/internal.ts", internalTypesText(TOOLS, SOME_TOOLS, EXACT)],
    ["js/schema/generated/arguments.ts", namesText([...TOOLS, ...SOME_TOOLS])],
    ["js/schema/generated/facts.ts", factsText(all)],
    ["js/workspace/generated/tool-methods.ts", methodsText(TOOLS, EXACT)],
  ]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    for (const [file, text] of await generatedFiles()) {
      const path = join(root, file);
      if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
      if (process.argv.includes("--check")) throw new BuildError(`${file} is stale; run: npm run tool-types`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  });
}
