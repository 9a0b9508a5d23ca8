// The acceptance kit's view of Filewright on Node.
import { resolve } from "node:path";
import { createWith } from "./create.mjs";

// First room by room, each with what stands below it: a program with few file
// descriptors cannot load everything at once.
for (const room of ["engine/index.node", "backends/index.node", "readers/index", "tools/index"])
  await import(`../../dist/${room}.js`);

export const create = createWith(await import("../../dist/index.node.js"), resolve);
