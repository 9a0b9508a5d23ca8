// Writes the code of both bindings, `generated/` of crates/node and crates/wasm, for the functions and classes that
// the files `exports/` of the crates declare. crates/core/src/exports/mod.rs and crates/node/src/exports/mod.rs
// describe these declarations. `npm run wire` writes the files, and `npm run check` refuses stale ones.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { crossing, LANES, RECEIVERS, returning } from "./lib/crossings.mjs";
import { BuildError, root, runAndWait } from "./lib/run.mjs";

/** For each file of declarations, the files that are written for it. */
const TARGETS = [
  {
    from: "crates/core/src/exports/texts.rs",
    use: "filewright_core::exports::texts",
    wasm: true,
    interface: "TextExports",
  },
  {
    from: "crates/core/src/exports/files.rs",
    use: "filewright_core::exports::files",
    wasm: true,
    interface: "FileExports",
  },
  { from: "crates/node/src/exports/system.rs", use: "crate::exports::system" },
  { from: "crates/node/src/exports/roots.rs", use: "crate::exports::roots", methodsOf: "NativeRoots" },
];

const toCamelCase = (name) => name.replaceAll(/_([a-z])/gu, (_, letter) => letter.toUpperCase());

/** Splits a list at the commas that are not inside brackets. */
function splitList(text) {
  const parts = [];
  let depth = 0;
  let start = 0;
  const plain = text.replaceAll("->", "--");
  for (let at = 0; at < plain.length; at++) {
    if ("(<[".includes(plain[at])) depth++;
    else if (")>]".includes(plain[at])) depth--;
    else if (plain[at] === "," && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== "");
}

const ITEM =
  /(?<doc>(?:^ *\/\/\/.*\n)*)(?:^ *#\[.*\n)*^(?: *pub fn (?<fn>\w+)\((?<params>[\s\S]*?)\)(?: -> (?<result>(?:[^{()]|\(\))+?))? \{|pub struct (?<struct>\w+)\(|impl (?<impl>\w+) \{)/gmu;

/** Returns the functions and classes that a file declares. */
function declarationsIn(file) {
  const found = [];
  let owner;
  for (const { groups } of readFileSync(join(root, file), "utf8").matchAll(ITEM)) {
    const doc = groups.doc
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    if (groups.struct !== undefined) found.push({ doc, name: groups.struct, methods: [] });
    else if (groups.impl !== undefined) owner = found.find(({ name }) => name === groups.impl);
    else found.push(...functionOf(groups, doc, owner, file));
  }
  return found;
}

/** Adds a method to its class, or returns a function. */
function functionOf({ fn, params, result = "()" }, doc, owner, file) {
  const [, where, inner] = /^(Result|AlsoAsync|OnlyAsync|Quick|Scan|OwnThread)<(.+)>$/u.exec(result) ?? [];
  const args = splitList(params).map((param) => {
    const [, name, type] = /^(\w+): ([\s\S]+)$/u.exec(param) ?? [];
    return { name: name ?? param, type };
  });
  const receiver = args[0]?.name.endsWith("self") ? args.shift().name : undefined;
  if (doc.length === 0) throw new BuildError(`${file}: ${fn} has no doc comment`);
  const made = { doc, name: fn, args, receiver, where, result: inner ?? result };
  if (owner === undefined) return [made];
  owner.methods.push(made);
  return [];
}

/** Returns the expression of a call with its result converted, as a `Result` of Rust. */
function converted(call, where, convert, unit = false) {
  if (convert === undefined && where === undefined && unit) return `{ ${call}; Ok(()) }`;
  if (convert !== undefined) return `Ok(${convert(where === undefined ? call : `${call}?`)})`;
  return where === undefined ? `Ok(${call})` : call;
}

/** Returns the doc comment of a function with a suffix after its name, which says where it runs. */
function docOf({ doc, name }, suffix) {
  if (suffix === "") return doc;
  return [`/// Like \`${name}\`, on another thread.`];
}

/** Returns a function or method of the Node binding: for the calling thread, another thread, or both. */
function nodeFunction({ doc, name, args, receiver, where, result }, className, classes, file) {
  const crossings = args.map((arg) => ({ ...crossing(arg.type, classes, file), name: arg.name }));
  const { node, convert, convertNode } = returning(result, className, file);
  const self = receiver === undefined ? [] : [receiver];
  const path = className === undefined ? `exports::${name}` : `exports::${className}::${name}`;
  const print = (suffix, types, passed, body, type) => {
    const params = [
      ...self,
      ...crossings.filter(types).map((arg) => `${arg.attribute ?? ""}${arg.name}: ${types(arg)}`),
    ];
    const attribute = name === "new" ? "#[napi(constructor)]" : "#[napi]";
    const called = receiver === undefined ? path : `${suffix === "" ? "self.0" : "this"}.${name}`;
    const call = converted(
      `${called}(${crossings.map(passed).join(", ")})`,
      where,
      convert ?? convertNode,
      result === "()",
    );
    return `${docOf({ doc, name }, suffix).join("\n")}\n${attribute}\npub fn ${name}${suffix}(${params.join(", ")}) -> ${type} {${body(call)}}\n`;
  };
  const here = () =>
    print(
      "",
      (arg) => arg.node,
      (arg) => arg.pass(arg.name),
      (call) => `result_of(|| ${call})`,
      `napi::Result<${node}>`,
    );
  const elsewhere = (suffix) =>
    print(
      suffix,
      (arg) => arg.held ?? arg.node,
      (arg) => (arg.passHeld ?? arg.pass)(arg.name),
      (call) => {
        const before = crossings.map((arg) => arg.before?.(arg.name) ?? "").join("");
        const copy = receiver === undefined ? "" : "let this = self.0.clone();";
        return `${before}${copy}Promise::${where === "OwnThread" ? "on_own_thread" : "on_node_thread"}(move || ${call})`;
      },
      `Promise<${node}>`,
    );
  if (where === "OnlyAsync" || where === "OwnThread") return elsewhere("");
  return where === "AlsoAsync" ? `${here()}\n${elsewhere("_async")}` : here();
}

/**
 * Returns a method of NativeRoots: for a lane or the calling thread. The paths and the access that the call needs
 * are passed on, so that an error says what refused it.
 */
function rootsMethod({ doc, name, args: [receiver, ...args], where, result }, _, classes, file) {
  const crossings = args.map((arg) => ({ ...crossing(arg.type, classes, file), name: arg.name }));
  const { node, convertNode } = returning(result, undefined, file);
  const paths = crossings.filter(({ intent }) => intent !== undefined);
  const asked = paths.map((path) => `asked(&${path.name}, Intent::${path.intent})`).join(", ");
  const print = (type, isHeld, runs) => {
    const typeOf = (arg) => (isHeld ? arg.held : undefined) ?? arg.node;
    const params = crossings.filter(typeOf).map((arg) => `${arg.name}: ${typeOf(arg)}`);
    const passed = crossings.map((arg) =>
      arg.intent === undefined
        ? ((isHeld ? arg.passHeld : undefined) ?? arg.pass)(arg.name)
        : `paths[${paths.indexOf(arg)}].0`,
    );
    const call = `exports::${name}(${[RECEIVERS.get(receiver.type), ...passed].join(", ")})`;
    const work = `|open, ${paths.length === 0 ? "_" : "paths"}| ${converted(call, where, convertNode, result === "()")}`;
    const before = crossings.map((arg) => arg.before?.(arg.name) ?? "").join("");
    return `${doc.join("\n")}\n#[napi]\npub fn ${name}(${["&self", ...params].join(", ")}) -> ${type} {
${before}let asked = vec![${asked}];
${runs(work)}
}\n`;
  };
  return LANES.has(where)
    ? print(`Promise<${node}>`, true, (work) => `self.in_lane(Lane::${where}, asked, move ${work})`)
    : print(`napi::Result<${node}>`, false, (work) => `self.on_this_thread(asked, ${work})`);
}

/** Returns a function or method of the WebAssembly binding; none for one that only Node has. */
function wasmFunction({ doc, name, args, receiver, where, result }, className, classes, file) {
  if (where === "OnlyAsync") return "";
  const crossings = args.map((arg) => ({ ...crossing(arg.type, classes, file), name: arg.name }));
  const { wasm, node, convert } = returning(result, className, file);
  const type = wasm ?? node;
  const params = [
    receiver ?? "",
    ...crossings.map((arg) => {
      const type = arg.wasm ?? arg.node;
      return type === undefined ? "" : `${arg.name}: ${type}`;
    }),
  ].filter((param) => param !== "");
  const path =
    receiver !== undefined
      ? `self.0.${name}`
      : `exports::${className === undefined ? "" : `${className}::`}${name}`;
  const call = `${path}(${crossings.map((arg) => (arg.passWasm ?? arg.pass)(arg.name)).join(", ")})`;
  const given = name === "new" ? "constructor" : `js_name = ${toCamelCase(name)}`;
  const body =
    where !== undefined
      ? `js(${convert === undefined ? call : `${call}.map(Self)`})`
      : convert === undefined
        ? type === result
          ? call
          : `${call}.into()`
        : convert(call);
  const returned = where === undefined ? type : `Result<${type}, JsValue>`;
  return `${doc.join("\n")}\n#[wasm_bindgen(${given})]\npub fn ${name}(${params.join(", ")}) -> ${returned} {${body}}\n`;
}

/** Returns the code of a binding: of the functions, and of the classes with their methods. */
function code({ from, use, methodsOf }, attribute, imports, print) {
  const declared = declarationsIn(from);
  const classes = new Set(declared.filter(({ methods }) => methods !== undefined).map(({ name }) => name));
  const items = declared.map((item) => {
    if (item.methods === undefined) return print(item, undefined, classes, from);
    const methods = item.methods.map((method) => print(method, item.name, classes, from)).join("\n");
    return `${item.doc.join("\n")}\n#[${attribute}]\npub struct ${item.name}(exports::${item.name});\n
#[${attribute}]\nimpl ${item.name} {\n${methods}}\n`;
  });
  const all =
    methodsOf === undefined ? items.join("\n") : `#[napi]\nimpl ${methodsOf} {\n${items.join("\n")}}\n`;
  return formatted(`// Written by \`npm run wire\` from ${from}; not to be edited.

#![allow(clippy::too_many_arguments, clippy::new_without_default)] // as declared

use ${use} as exports;
${imports}

${all}`);
}

/** Returns the declarations in TypeScript of what both bindings export, to which both are held. */
function interfaces(formatDocComment) {
  const comment = (doc, indent) =>
    formatDocComment(
      doc.map((line) => line.slice("/// ".length)),
      indent,
    );
  const member =
    (file, classes, className) =>
    ({ doc, name, args, where, result }) => {
      const type = returning(result, className, file).ts;
      const params = (held) =>
        args.flatMap((arg) => {
          const { ts, tsHeld } = crossing(arg.type, classes, file);
          const given = toCamelCase(arg.name);
          return ts === undefined
            ? held && tsHeld !== undefined
              ? [`${given}?: ${tsHeld}`]
              : []
            : [`${given}: ${ts}`];
        });
      const print = (text, suffix = "") => `${comment(docOf({ doc, name }, suffix), "  ")}  ${text};\n`;
      if (name === "new")
        return print(`readonly ${className}: new (${params(false).join(", ")}) => ${className}`);
      const given = toCamelCase(name);
      const here = print(`${given}(${params(false).join(", ")}): ${type}`);
      const signal = className === undefined ? ["signal?: AbortSignal"] : [];
      const elsewhere = (suffix) => {
        const asyncName = toCamelCase(`${name}${suffix}`);
        return print(`${asyncName}?(${[...params(true), ...signal].join(", ")}): Promise<${type}>`, suffix);
      };
      if (where === "OnlyAsync") return elsewhere("");
      return where === "AlsoAsync" ? `${here}${elsewhere("_async")}` : here;
    };
  const printed = TARGETS.filter(({ wasm }) => wasm).map(({ from, interface: name }) => {
    const declared = declarationsIn(from);
    const classes = new Set(declared.filter(({ methods }) => methods !== undefined).map((item) => item.name));
    const body = declared.map((item) =>
      item.methods === undefined
        ? member(from, classes)(item)
        : item.methods
            .filter((method) => method.name === "new")
            .map(member(from, classes, item.name))
            .join(""),
    );
    const types = declared
      .filter(({ methods }) => methods !== undefined)
      .map(({ doc, name, methods }) => {
        const members = methods.filter((method) => method.name !== "new").map(member(from, classes, name));
        return `${comment(doc, "")}export interface ${name} {\n${members.join("")}}\n`;
      });
    return [
      ...types,
      `/** What both bindings export, as ${from} declares it. */\nexport interface ${name} {\n${body.join("")}}\n`,
    ];
  });
  return `/**
 * What both bindings export. Functions that may be missing exist only in bindings with threads.
 *
 * Written by \`npm run wire\` from crates/core/src/exports; not to be edited.
 */
import type { Packed } from "../wire/unpack.ts";
import type { CancelToken } from "./binding.ts";

/** A new text, and the packed facts about it. */
export interface PackedPlan extends Packed {
  readonly bytes: Uint8Array;
  /** The state of the hash of the unchanged beginning, from which \`sha256From\` continues. */
  readonly hashing?: object | null;
}

/** The files that a patch has changed: the facts as JSON, and the new contents. */
export interface PackedPatch {
  readonly facts: string;
  readonly contents: readonly Uint8Array[];
}

${printed.flat().join("\n")}`;
}

/** Formats Rust code. */
function formatted(text) {
  return runAndWait("rustfmt", ["--edition", "2024", "--config-path", root], { input: text, capture: true })
    .stdout;
}

/** Returns the text of each file of the bindings, by its path. `formatDocComment` prints a doc comment of Rust. */
export function bindings(formatDocComment) {
  const files = new Map([["js/engine/generated/exports.ts", interfaces(formatDocComment)]]);
  for (const target of TARGETS) {
    const name = basename(target.from);
    const toNode = target.methodsOf === undefined ? nodeFunction : rootsMethod;
    const nodeImports = "use crate::prelude::*;\nuse napi_derive::napi;";
    files.set(`crates/node/src/generated/${name}`, code(target, "napi", nodeImports, toNode));
    if (target.wasm !== true) continue;
    const wasmImports = "use crate::convert::*;\nuse wasm_bindgen::prelude::*;";
    files.set(`crates/wasm/src/generated/${name}`, code(target, "wasm_bindgen", wasmImports, wasmFunction));
  }
  return files;
}
