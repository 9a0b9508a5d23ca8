/** The result of importing a module on edge runtimes: it is compiled already. */
declare module "*.wasm" {
  const compiled: WebAssembly.Module;
  // biome-ignore lint/style/noDefaultExport: the form they have
  export default compiled;
}
