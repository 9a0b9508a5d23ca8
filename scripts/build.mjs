// Builds what is missing or stale: the native addon and the TypeScript.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";

const run = (command, ...args) => execFileSync(command, args, { stdio: "inherit" });
run("cargo", "build", "--profile", "dev-native", "-p", "filewright-node");
mkdirSync("dist/native", { recursive: true });
const target = process.env.CARGO_TARGET_DIR ?? "target";
copyFileSync(`${target}/dev-native/libfilewright_node.so`, "dist/native/filewright.node");
if (process.argv.includes("--native-only")) process.exit(0);
run("npx", "tsc", "-p", ".");
