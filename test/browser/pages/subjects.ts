/** The backends that are tested in Chromium, and one way to run the contract over each. */
import { MemoryBackend } from "../../../js/backends/index.ts";
import { backendContract, type ContractOptions, type ContractSubject } from "../../../js/testing/index.ts";

/** A backend, and what its suite is told. */
export interface Subject {
  make(): Promise<ContractSubject>;
  readonly options?: Omit<ContractOptions, "test">;
}

/** What became of one case: nothing, or why it failed. */
export interface Outcome {
  readonly name: string;
  readonly failure?: string;
}

export const subjects: Readonly<Record<string, Subject>> = {
  memory: {
    make: async () => ({ backend: new MemoryBackend({ "/ws": { type: "dir" } }), root: "/ws" }),
    options: { requires: ["read", "rename", "symlink"] },
  },
};

/** Runs every case over a backend. */
export async function runContract(name: string): Promise<readonly Outcome[]> {
  const subject = subjects[name];
  if (subject === undefined) throw new Error(`there is no subject '${name}'`);
  const cases: { readonly name: string; run(): Promise<void> }[] = [];
  backendContract(subject.make, { ...subject.options, test: (name, run) => cases.push({ name, run }) });
  const outcomes: Outcome[] = [];
  for (const { name, run } of cases) {
    try {
      await run();
      outcomes.push({ name });
    } catch (error) {
      outcomes.push({
        name,
        failure: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  }
  return outcomes;
}
