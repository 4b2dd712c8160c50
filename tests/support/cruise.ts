// Runs dependency-cruiser over some folders of a tree with the project's own rules, and reads its report.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

export type Cruise = { totalCruised: number; violations: { rule: { name: string }; from: string; to: string }[] };

export async function cruise(tree: string, folders: readonly string[]): Promise<Cruise> {
  const tool = `${root}node_modules/dependency-cruiser/bin/dependency-cruise.mjs`;
  const args = [tool, "--config", `${root}.dependency-cruiser.cjs`, "--output-type", "json", ...folders];
  const report = await promisify(execFile)(process.execPath, args, { cwd: tree, maxBuffer: 64e6 }).catch((error: unknown) => {
    // The exit code is the number of violations; the report is there all the same.
    if (error instanceof Error && "stdout" in error && typeof error.stdout === "string") return { stdout: error.stdout };
    throw error;
  });
  const { summary }: { summary: Cruise } = JSON.parse(report.stdout);
  return summary;
}
