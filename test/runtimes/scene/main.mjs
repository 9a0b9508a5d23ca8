// On a command line: Node, Deno, Bun.
import { engine, ready } from "filewright/engine";
import { play } from "./play.mjs";

await ready();
console.log(JSON.stringify({ kind: engine().info.kind, answers: await play() }));
