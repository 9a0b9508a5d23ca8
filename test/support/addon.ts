/** Where the native addon lies, for processes that load it by themselves. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

const DIRECTORY = join(import.meta.dirname, "../../dist/native");

/** The addon of this platform. */
export const ADDON: string = join(
  DIRECTORY,
  readdirSync(DIRECTORY).find((name) => name.startsWith(`filewright.${process.platform}`)) ?? "missing",
);
