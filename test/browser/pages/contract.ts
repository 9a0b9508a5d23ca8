/** The page of the contract suite: it runs a subject here, or in a worker. */
import { loadEngine } from "./engine.ts";
import { type Outcome, runContract } from "./subjects.ts";

export interface ContractPage {
  here(subject: string): Promise<readonly Outcome[]>;
  inWorker(subject: string): Promise<readonly Outcome[]>;
}

const page: ContractPage = {
  async here(subject) {
    await loadEngine();
    return runContract(subject);
  },
  inWorker: (subject) =>
    new Promise((resolve, reject) => {
      const worker = new Worker("contract-worker.js", { type: "module" });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(subject);
    }),
};
Object.assign(globalThis, { contract: page });
