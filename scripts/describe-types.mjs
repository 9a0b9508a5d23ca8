// Writes the descriptions of tools, arguments and results, which models read in the JSON schemas,
// as doc comments into the declarations in dist, where an editor shows them. So they are written
// only once, in the schemas. A member that has a doc comment in the source keeps that.
//
// `scripts/build.mjs` runs this after the compiler, whose output has none of these comments.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { root } from "./lib/run.mjs";

const TOOL_TYPES_FILE = join(root, "dist/tools/index.d.ts");
const METHOD_TYPES_FILE = join(root, "dist/workspace/types.d.ts");

/** Returns a name in camel case: `readFile` for `read_file`. */
const toCamelCase = (name) => name.replaceAll(/_([a-z])/gu, (_, letter) => letter.toUpperCase());

/** Writes the doc comments into the declarations in dist. */
export async function describeTypes() {
  const { TOOLS: tools } = await import(pathToFileURL(join(root, "dist/tools/index.js")).href);
  const program = ts.createProgram([TOOL_TYPES_FILE, METHOD_TYPES_FILE], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ["lib.es2022.d.ts"],
    types: [],
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  /**
   * For each declaration of a member, its doc comment, and `isOwn`: whether that is from the schema
   * of the interface that declares the member, and not of one that extends it.
   */
  const texts = new Map();

  const typeNamed = (file, name) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file));
    return checker.getDeclaredTypeOfSymbol(
      checker.getExportsOfModule(module).find((one) => one.name === name),
    );
  };
  const typeOf = (member) => checker.getTypeOfSymbol(member);

  function describe(type, member, text) {
    for (const declaration of member.declarations ?? []) {
      const isOwn = type.symbol?.declarations?.includes(declaration.parent) === true;
      const known = texts.get(declaration);
      if (known?.isOwn === true && isOwn && known.text !== text)
        throw new Error(
          `${member.name} of ${type.symbol.name} is described in two ways: give each tool its own type`,
        );
      if (known === undefined || (isOwn && !known.isOwn)) texts.set(declaration, { text, isOwn });
    }
  }

  function visit(type, schema) {
    if (schema === undefined) return;
    if (type.isUnion()) {
      for (const one of type.types) visit(one, schema);
      return;
    }
    if (checker.isArrayType(type)) return visit(checker.getTypeArguments(type)[0], schema.items);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const member = type.getProperty(name);
      if (member === undefined) continue;
      if (property.description !== undefined) describe(type, member, descriptionWithDefault(property));
      visit(typeOf(member), property);
    }
  }

  const [args, data] = [typeNamed(TOOL_TYPES_FILE, "ToolArgs"), typeNamed(TOOL_TYPES_FILE, "ToolData")];
  const methods = typeNamed(METHOD_TYPES_FILE, "ToolMethods");
  for (const { name, description, inputSchema, outputSchema } of tools) {
    describe(args, args.getProperty(name), description);
    describe(data, data.getProperty(name), description);
    describe(methods, methods.getProperty(toCamelCase(name)), description);
    visit(typeOf(args.getProperty(name)), inputSchema);
    visit(typeOf(data.getProperty(name)), outputSchema);
  }
  insertComments(texts);
}

/**
 * Inserts the doc comments into the files, from the end of each to its beginning, so that the
 * remaining positions stay valid.
 */
function insertComments(texts) {
  const files = new Map();
  for (const [declaration, { text }] of texts) {
    if (ts.getJSDocCommentsAndTags(declaration).length > 0) continue;
    const file = declaration.getSourceFile();
    files.set(file, [...(files.get(file) ?? []), { at: declaration.getStart(file), text }]);
  }
  for (const [{ fileName, text: source }, comments] of files) {
    let content = source;
    for (const { at, text } of comments.sort((a, b) => b.at - a.at)) {
      const indent = /[ \t]*$/u.exec(content.slice(0, at))[0];
      content = content.slice(0, at) + formatDocComment(text, indent) + content.slice(at);
    }
    if (content !== readFileSync(fileName, "utf8")) writeFileSync(fileName, content);
  }
}

/** Returns the description of a property with its default value, if it has one. */
function descriptionWithDefault({ description, default: value }) {
  return value === undefined ? description : `${description} Default \`${JSON.stringify(value)}\`.`;
}

/** Returns a doc comment with this text. */
function formatDocComment(text, indent) {
  const lines = text.replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) return `/** ${lines[0]} */\n${indent}`;
  return `/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n${indent}`;
}
