// Puts a button below each example of a page that runs in a browser, and runs the example in the page: what it prints,
// the questions that it asks, and the files that it leaves are shown below it. The build makes a module of each example
// (scripts/site/examples.mjs), so no policy has to allow scripts from texts.

const element = (name, className, ...children) => {
  const node = document.createElement(name);
  if (className !== "") node.className = className;
  node.append(...children);
  return node;
};

/** At most this many characters of one printed value or file are shown. */
const MAX_SHOWN = 4000;

/** The files of at most this many storages are shown. The contract for storages, for one, makes some for each case. */
const MAX_STORAGES = 3;

const shorten = (text) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** Returns a printed value as a text: errors in words, objects as JSON. */
function show(value) {
  if (typeof value === "string") return shorten(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return shorten(JSON.stringify(value, null, 1) ?? String(value));
  } catch {
    return String(value);
  }
}

/** Returns the files of a storage in memory, with what their bytes are as UTF-8. */
const filesIn = (storage) =>
  Object.entries(storage.toJSON())
    .filter(([, { type }]) => type === "file")
    .map(([path, { b64 }]) => ({ path, content: shorten(textOf(b64)) }));

const textOf = (b64) => new TextDecoder().decode(Uint8Array.from(atob(b64), (unit) => unit.charCodeAt(0)));

/** Runs an example and calls `print(kind, text)` for what it says. Resolves with the files that it has left. */
export async function runExample(name, print) {
  const url = new URL("./", import.meta.url);
  const { ready, takeStorages } = await import(new URL("filewright.js", url).href);
  await ready(new URL("filewright_bg.wasm", url));
  takeStorages();
  const log = (...values) => print("log", values.map(show).join(" "));
  // The build gives the example this console instead of that of the browser.
  globalThis.exampleConsole = {
    log,
    info: log,
    warn: log,
    error: log,
    assert: (value, ...values) =>
      print(
        value ? "holds" : "failed",
        ["console.assert:", value ? "holds" : "does not hold", ...values.map(show)].join(" "),
      ),
  };
  // A module runs once for each address.
  runs += 1;
  await import(new URL(`examples/${name}.js?run=${runs}`, url).href);
  return takeStorages().slice(0, MAX_STORAGES).flatMap(filesIn);
}
let runs = 0;

/** One example runs at a time. */
let running = Promise.resolve();

/** Runs the example of a button, and shows what comes of it below the button. */
async function runBelow(place, button) {
  place.querySelector(".example-result")?.remove();
  const printed = element("div", "example-printed");
  printed.setAttribute("role", "log");
  const result = element("div", "example-result", printed);
  const markup = place.querySelector("template");
  if (markup !== null) result.append(element("div", "example-markup", markup.content.cloneNode(true)));
  place.append(result);
  const print = (kind, text) => printed.append(element("pre", `example-${kind}`, text));
  button.disabled = true;
  try {
    const files = await runExample(place.dataset.example, print);
    if (markup === null && printed.childElementCount === 0)
      print("log", "It ran to its end and printed nothing.");
    if (files.length > 0) result.append(element("p", "example-head", "Files afterwards"));
    for (const { path, content } of files)
      result.append(element("details", "", element("summary", "", path), element("pre", "", content)));
  } catch (error) {
    print("failed", show(error));
  } finally {
    button.disabled = false;
    place.dataset.ended = "";
  }
}

for (const place of document.querySelectorAll("[data-example]")) {
  const button = element("button", "example-run", "Run");
  button.type = "button";
  button.addEventListener("click", () => {
    running = running.then(() => runBelow(place, button));
  });
  place.prepend(button);
}
