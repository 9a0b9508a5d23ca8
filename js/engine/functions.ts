/** The engine's functions by name, on whichever engine is in use. */
import { engine } from "./current.ts";
import type { Engine } from "./engine.ts";

/** `sha256:` and 64 hexadecimal digits of the bytes. */
export const sha256: Engine["sha256"] = (bytes) => engine().sha256(bytes);
