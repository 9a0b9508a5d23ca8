// The page around that Worker.
const worker = new Worker("handed.js", { type: "module" });
worker.onmessage = ({ data }) => {
  globalThis.answers = data;
  document.documentElement.dataset.done = "yes";
};
worker.onerror = ({ message }) => console.error(message);
