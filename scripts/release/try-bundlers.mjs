// Builds and runs an application of Next.js with the packed packages (test/runtimes/next.slow.test.ts): the
// one bundler that CI leaves out, because it takes minutes.
import { npmProgram, runAndWait, runScript } from "../lib/run.mjs";

await runScript(() => {
  const env = { ...process.env, FILEWRIGHT_REHEARSAL: "1" };
  runAndWait(npmProgram("vitest"), ["run", "test/runtimes/next.slow.test.ts"], { env });
});
