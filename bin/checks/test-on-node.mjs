// Runs test files with another Node version, which is downloaded once: `node bin/checks/test-on-node.mjs 24.21.0 RESULT FILE...`.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run.mjs";

const [version, result, ...files] = process.argv.slice(2);
const node = await fetchNode(version);
if (node) {
  const report = ["--reporter=default", "--reporter=json", `--outputFile.json=${result}`];
  const { code } = await run(node, ["node_modules/vitest/vitest.mjs", "run", "--project", "tests", ...report, ...files], { inherit: true });
  process.exitCode ||= code;
} else {
  const pendingResults = files.map((name) => ({
    ...{ name, startTime: 0, endTime: 0 },
    assertionResults: [{ fullName: `on Node ${version}`, status: "pending", meta: { missing: `Node ${version}` } }],
  }));
  writeFileSync(result, JSON.stringify({ testResults: pendingResults }));
}

async function fetchNode(version) {
  const { platform, arch } = process;
  const name = [platform === "darwin" && arch === "arm64" ? "node-bin" : "node", platform === "win32" ? "win" : platform, arch].join("-");
  const folder = join("node_modules/.nodes", version);
  const file = join(folder, "node_modules", name, platform === "win32" ? "bin/node.exe" : "bin/node");
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const npm = platform === "win32" ? "npm.cmd" : "npm";
  const { code, output } = await run(npm, ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", `${name}@${version}`]);
  if (code === 0) return file;
  process.stderr.write(`Couldn't download Node ${version}:\n${output}\n`);
  return undefined;
}
