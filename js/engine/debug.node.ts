/** Switches on the debug lines that the environment variable `FILEWRIGHT_DEBUG` names, on standard error. */
import { DEBUG_AREAS, type DebugArea, debug } from "./debug.ts";
import { escapeControls } from "./escape.ts";

const ALL_AREAS = Object.keys(DEBUG_AREAS) as readonly DebugArea[];

/** Prints one line with the milliseconds since the process began. */
function print(area: string, line: string): void {
  const time = performance.now().toFixed(1);
  process.stderr.write(`filewright ${area} ${time} ${escapeControls(line)}\n`);
}

/**
 * Switches on the areas of a list such as `call,search`; `all` is every area. An unknown area is
 * told on standard error, with the known ones.
 */
function enableDebug(list: string): void {
  for (const name of list.split(",").map((part) => part.trim())) {
    if (name === "") continue;
    const areas = name === "all" ? ALL_AREAS : ALL_AREAS.filter((area) => area === name);
    if (areas.length === 0)
      print("debug", `FILEWRIGHT_DEBUG: there is no area '${name}'; known: all, ${ALL_AREAS.join(", ")}`);
    for (const area of areas) debug[area] = (line) => print(area, line);
  }
}

enableDebug(process.env["FILEWRIGHT_DEBUG"] ?? "");
