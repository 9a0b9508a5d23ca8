// The playground: a workspace in the tab, an agent that is a list of calls, and the review page over a transport
// without a server. The page is drawn by this file alone; the elements and the engine follow while it is read, and the
// package with the first call (scripts/site/playground.mjs builds it).
import { CALLS, REPOSITORY } from "./repository.js";

const at = (id) => document.getElementById(id);
const element = (name, text = "", ...children) => {
  const node = document.createElement(name);
  node.append(text, ...children);
  return node;
};

/** The key of the stored choice. Only "opfs" is stored, because a folder has to be picked again. */
const CHOICE_KEY = "filewright-playground";

const engine = WebAssembly.compileStreaming(fetch(new URL("./filewright_bg.wasm", import.meta.url)));
const elements = import("filewright/review/elements");
// Both are awaited where they are used; until then a failure is not reported.
for (const loading of [engine, elements]) loading.catch(() => {});

/** The files in memory as they are before the first call. */
const FIRST_FILES = {
  paths: async () => Object.keys(REPOSITORY).sort(),
  content: async (path) => REPOSITORY[path],
};

/** "memory", "opfs", or the handle of a picked folder. */
let choice = "memory";
/** The promise of the open session, once a call was made. */
let opening;
let next = 0;

function say(text) {
  at("status").textContent = text;
}

function failed(error) {
  say(`It failed: ${error.message}`);
  at("again").disabled = false;
}

async function open(isReset = false) {
  const [{ openSession }] = await Promise.all([import("./session.js"), elements]);
  const session = await openSession({ choice, engine, isReset });
  document.querySelector("filewright-review").transport = session.transport;
  await showFiles(session);
  return session;
}

/** Shows files with their contents: those of a session, or the first ones. */
async function showFiles(source) {
  const wasOpen = new Set(
    [...at("files").querySelectorAll("details[open] summary")].map((one) => one.textContent),
  );
  const shown = [];
  for (const path of await source.paths()) {
    const details = element("details", "", element("summary", path));
    const show = async () => {
      if (!details.open || details.children.length > 1) return;
      details.append(element("pre", await source.content(path)));
    };
    details.addEventListener("toggle", () => show().catch(failed));
    details.open = wasOpen.has(path);
    shown.push(details);
  }
  at("files").replaceChildren(...shown);
}

/**
 * Begins the session anew with the storage that is chosen. The first time, files in memory are opened with the first
 * call. `isReset` puts the first files back.
 */
async function start(isReset = false) {
  const before = opening;
  opening = undefined;
  next = 0;
  at("calls").replaceChildren();
  const session = await before?.catch(() => {}); // has been told of, if it failed
  await session?.close();
  if (choice === "memory" && before === undefined) {
    await showFiles(FIRST_FILES);
  } else {
    at("files").replaceChildren();
    say("Opening the files…");
    opening = open(isReset);
    await opening;
  }
  at("next").disabled = false;
  at("again").disabled = false;
  say(
    choice === "memory"
      ? `${CALLS.length} calls, one at a time. The first one reads a file.`
      : choice === "opfs"
        ? "These files and their timeline are still here after a reload. “Start again” puts the first ones back."
        : "Your folder is open. The agent's calls name files that it may not have: they then change nothing.",
  );
}

/** Makes the next call of the agent, which may wait for an answer. */
async function step() {
  const [tool, args] = CALLS[next++];
  at("next").disabled = true;
  const told = element("pre", "waits…");
  told.tabIndex = 0; // it scrolls, which the keyboard has to be able to do as well
  at("calls").append(element("li", `${tool} ${args.path ?? args.pattern ?? ""}`, told));
  if (opening === undefined) say("Loading the package…");
  opening ??= open();
  const running = opening;
  const session = await running;
  say(`${tool}: if it changes something, it waits for your answer.`);
  const { text } = await session.call(tool, args);
  told.textContent = text;
  if (running !== opening) return;
  await showFiles(session);
  const isLast = next === CALLS.length;
  at("next").disabled = isLast;
  say(isLast ? "The session is over. The timeline has what was changed." : `Next: ${CALLS[next][0]}.`);
}

async function choose(value) {
  choice = value === "folder" ? await showDirectoryPicker({ mode: "readwrite" }) : value;
  localStorage.setItem(CHOICE_KEY, value === "opfs" ? value : "memory");
  await start();
}

const storages = [...document.querySelectorAll("[name=storage]")];
let chosen = "memory";
function check(value) {
  chosen = value;
  for (const one of storages) one.checked = one.value === value;
}
for (const one of storages) {
  one.addEventListener("change", () =>
    choose(one.value).then(
      () => check(one.value),
      (error) => {
        // A picker that was closed without a folder changes nothing.
        if (error.name !== "AbortError") failed(error);
        check(chosen);
      },
    ),
  );
  if (one.value === "folder") one.parentElement.hidden = !("showDirectoryPicker" in globalThis);
}
at("next").addEventListener("click", () => step().catch(failed));
at("again").addEventListener("click", () => start(true).catch(failed));
globalThis.playground = { content: async (path) => (await opening).content(path) };

const kept = localStorage.getItem(CHOICE_KEY) === "opfs" ? "opfs" : "memory";
check(kept);
choose(kept).catch(failed);
