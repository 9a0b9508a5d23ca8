// The acceptance kit's view of Filewright on Node.
import { resolve } from "node:path";
import * as library from "../../dist/cli/library.js";
import { createWith } from "./create.mjs";

export const create = createWith(library, resolve);
