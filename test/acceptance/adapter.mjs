// The acceptance kit's view of Filewright on Node.
import { resolve } from "node:path";
import { createWith } from "./create.mjs";
import { ROOMS } from "./rooms.mjs";

for (const room of ROOMS) await import(`../../dist/${room}.js`);

export const create = createWith(await import("../../dist/cli/library.js"), resolve);
