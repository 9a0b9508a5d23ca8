// How the types in the declarations of the bindings cross: tables for scripts/bindings.mjs. A new type is a new line here.
import { BuildError } from "./run.mjs";

/**
 * How the types of arguments cross: for each binding the type of the argument, and the expression that is passed on.
 * In Node a call on another thread gets bytes as `held`, which keeps them alive.
 */
const bytes = {
  ts: "Uint8Array",
  node: "&[u8]",
  held: "Uint8Array",
  pass: (x) => x,
  passHeld: (x) => `&${x}`,
};
const text = { ts: "string", node: "String", pass: (x) => `&${x}`, wasm: "&str", passWasm: (x) => x };
const list = (type, ts) => ({ ts, node: type, pass: (x) => `&${x}` });
const same = (type, ts) => ({ ts, node: type, pass: (x) => x });
const optional = { ts: "string | undefined", node: "Option<String>", pass: (x) => `${x}.as_deref()` };
const ARGUMENTS = new Map(
  Object.entries({
    "&[u8]": bytes,
    "&str": text,
    "&Utf16Text": { ...text, node: "Utf16String", pass: (x) => `&utf8(&${x})` },
    "Option<&str>": optional,
    "&[String]": list("Vec<String>", "string[]"),
    "&[u32]": list("Vec<u32>", "number[]"),
    "Vec<Cow<'_, [u8]>>": { ts: "Uint8Array[]", node: "Vec<Uint8Array>", pass: (x) => `all_bytes(&${x})` },
    "Contents<'_>": {
      ts: "(Uint8Array | null)[]",
      node: "Vec<Option<Uint8Array>>",
      pass: (x) => `optional_bytes(&${x})`,
      wasm: "Vec<JsValue>",
    },
    "&mut [u32]": {
      ...same("Totals<'_>", "Uint32Array"),
      attribute: '#[napi(ts_arg_type = "Uint32Array")] ',
      wasm: "&mut [u32]",
    },
    bool: same("bool", "boolean"),
    u32: same("u32", "number"),
    f64: same("f64", "number"),
    "&dyn Fn() -> bool": {
      tsHeld: "CancelToken",
      pass: () => "&|| false",
      held: "Option<&CancelToken>",
      before: (x) => `let ${x} = token(${x});`,
      passHeld: (x) => `&|| ${x}.is_cancelled()`,
    },
    "&ReadPath": { node: "String", intent: "Read" },
    "&WritePath": { node: "String", intent: "Write" },
    "Option<u64>": { node: "f64", pass: (x) => `given(${x})` },
    // Precedes the token, which it is taken from.
    "&Arc<Progress>": { before: () => "let progress = progress(cancel);", pass: (x) => `&${x}` },
    "&CancelToken": {
      node: "Option<&CancelToken>",
      before: (x) => `let ${x} = token(${x});`,
      pass: (x) => `&${x}`,
    },
  }),
);

/** The first argument of a function that is a method of NativeRoots: how it is passed. */
export const RECEIVERS = new Map(
  Object.entries({ "&Roots": "&open.session.roots", "&Arc<Session>": "&open.session", "&OpenRoots": "open" }),
);

/** The types of results that say that a call runs in the lane of this name. */
export const LANES = new Set(["Quick", "Scan"]);

/** The types of results that cross as another type, which is made from them by `into`. */
const RESULTS = new Map(
  Object.entries({
    Packed: { ts: "Packed", node: "PackedResult", wasm: "PackedResult" },
    Planned: { ts: "PackedPlan", node: "PlanResult", wasm: "PlanResult" },
    PatchedFiles: { ts: "PackedPatch", node: "PatchResult", wasm: "PatchResult" },
    String: { ts: "string", node: "Text" },
    "Vec<u8>": { ts: "Uint8Array", node: "Buffer" },
    "Option<Vec<u8>>": {
      ts: "Uint8Array | null | undefined",
      node: "Option<Buffer>",
      convertNode: (value) => `${value}.map(Buffer::from)`,
    },
    "Vec<Packed>": {
      node: "Vec<PackedBatch>",
      convertNode: (value) => `${value}.into_iter().map(PackedBatch::from).collect::<Vec<_>>()`,
    },
    ReadContent: { node: "ReadResult" },
    bool: { ts: "boolean" },
    u32: { ts: "number" },
    f64: { ts: "number" },
    "Option<String>": { ts: "string | null | undefined" },
    ...Object.fromEntries(["()", "Vec<u32>", "Vec<&'static str>"].map((type) => [type, {}])),
  }),
);

/** Returns how an argument of a type crosses. A class is passed by reference. */
export function crossing(type, classes, file) {
  const known = ARGUMENTS.get(type);
  if (known !== undefined) return known;
  if (classes.has(type?.slice(1))) return { ts: type.slice(1), node: type, pass: (x) => `&${x}.0` };
  throw new BuildError(`${file}: no binding can pass an argument of the type ${type}`);
}

/** Returns how a result of a type crosses. */
export function returning(type, className, file) {
  if (type === "Self")
    return { ts: className, node: "Self", wasm: className, convert: (value) => `Self(${value})` };
  const known = RESULTS.get(type);
  if (known === undefined) throw new BuildError(`${file}: no binding can return a ${type}`);
  return { node: type, wasm: type, ...known };
}
