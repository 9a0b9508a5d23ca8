/** The backends that are tested in Chromium, and one way to run the contract over each. */
import { FileSystemAccessBackend, MemoryBackend, OpfsBackend } from "../../../js/backends/index.ts";
import { backendContract, type ContractOptions, type ContractSubject } from "../../../js/testing/index.ts";

/** A backend, and the options of its suite. */
export interface Subject {
  make(): Promise<ContractSubject>;
  readonly options?: Omit<ContractOptions, "test">;
}

/** The result of one case: without `failure`, it passed. */
export interface Outcome {
  readonly name: string;
  readonly failure?: string;
}

let made = 0;

/** A name that no other page or worker of the test uses. */
const fresh = (): string => `case-${crypto.randomUUID().slice(0, 8)}-${++made}`;

async function opfs(): Promise<ContractSubject> {
  const directory = fresh();
  const backend = new OpfsBackend({ directory: `tests/${directory}` });
  await backend.mkdir("/ws");
  return { backend, root: "/ws", dispose: () => remove(directory) };
}

/**
 * A picker needs a user. A directory of the private files has the same kind of
 * handle, so it stands in for a picked one.
 */
async function picked(): Promise<ContractSubject> {
  const directory = fresh();
  const tests = await (await navigator.storage.getDirectory()).getDirectoryHandle("tests", { create: true });
  const handle = await tests.getDirectoryHandle(directory, { create: true });
  const backend = new FileSystemAccessBackend(handle);
  await backend.mkdir("/ws");
  return { backend, root: "/ws", dispose: () => remove(directory) };
}

async function remove(directory: string): Promise<void> {
  const tests = await (await navigator.storage.getDirectory()).getDirectoryHandle("tests");
  await tests.removeEntry(directory, { recursive: true });
}

export const subjects: Readonly<Record<string, Subject>> = {
  memory: {
    make: async () => ({ backend: new MemoryBackend({ "/ws": { type: "dir" } }), root: "/ws" }),
    options: { requires: ["conditions", "ranges", "links", "modes"] },
  },
  opfs: { make: opfs, options: { requires: ["conditions", "ranges", "locks"] } },
  picked: { make: picked, options: { requires: ["conditions", "ranges", "locks"] } },
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
