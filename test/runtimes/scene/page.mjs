// In a page that a bundler or nobody put together; the module is fetched from beside the script.
import { ready } from "filewright/engine";
import { play } from "./play.mjs";

await ready();
globalThis.answers = await play();
document.documentElement.dataset.done = "yes";
