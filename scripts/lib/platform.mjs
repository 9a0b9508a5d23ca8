// The name of this platform as napi-rs writes it into addon file names.
const ABI_SUFFIX_BY_OS = { win32: "-msvc", linux: "-gnu" };

const isMusl = () => process.report.getReport().header.glibcVersionRuntime === undefined;

/** For example `linux-x64-gnu`, `darwin-arm64` or `win32-x64-msvc`. */
export const platformName = () => {
  const { platform: os, arch } = process;
  return `${os}-${arch}${os === "linux" && isMusl() ? "-musl" : (ABI_SUFFIX_BY_OS[os] ?? "")}`;
};
