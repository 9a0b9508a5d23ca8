// The name of this platform as napi-rs writes it into addon file names.
const abi = { win32: "-msvc", linux: "-gnu" };

const musl = () => process.report.getReport().header.glibcVersionRuntime === undefined;

/** For example `linux-x64-gnu`, `darwin-arm64` or `win32-x64-msvc`. */
export const platform = () => {
  const { platform: os, arch } = process;
  return `${os}-${arch}${os === "linux" && musl() ? "-musl" : (abi[os] ?? "")}`;
};
