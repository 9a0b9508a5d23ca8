// In a page with or without a bundler; the module and the worker's script are fetched from the
// directory of this script.
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
