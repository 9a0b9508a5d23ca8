// In a page that a bundler or nobody put together; the module is fetched from beside the script,
// and so is the worker's.
import { diffAsync, ready } from "filewright/engine";
import { useWorkers } from "filewright/workers";
import { play } from "./play.mjs";

await ready();
const workers = await useWorkers({ size: 1 });
globalThis.answers = await play();
const lines = new TextEncoder().encode("line\n".repeat(20_000));
const { added } = await diffAsync(lines, lines.slice(5));
globalThis.workers = { added, count: workers.count, reason: workers.reason };
document.documentElement.dataset.done = "yes";
