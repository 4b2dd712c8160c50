// Runs dependency-cruiser with the project's rules over some folders, and parses its report.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

type Module = { source: string; dependencies: { resolved: string }[] };
type Summary = { totalCruised: number; violations: { rule: { name: string }; from: string; to: string }[] };
export type CruiseResult = Summary & { modules: Module[] };

export async function runDependencyCruiser(rootFolder: string, folders: readonly string[]): Promise<CruiseResult> {
  const tool = `${root}node_modules/dependency-cruiser/bin/dependency-cruise.mjs`;
  const args = [tool, "--config", `${root}.dependency-cruiser.cjs`, "--output-type", "json", ...folders];
  const report = await promisify(execFile)(process.execPath, args, { cwd: rootFolder, maxBuffer: 64e6 }).catch((error: unknown) => {
    // The exit code is the number of violations; the report is still written.
    if (error instanceof Error && "stdout" in error && typeof error.stdout === "string") return { stdout: error.stdout };
    throw error;
  });
  const { summary, modules }: { summary: Summary; modules: Module[] } = JSON.parse(report.stdout);
  return { ...summary, modules };
}

/** Pairs of folders in `parent` that import each other. Files directly in `parent` belong to none. */
export function findCycles(parent: string, modules: readonly Module[]): string[] {
  const getFolder = (file: string) => new RegExp(`^${parent}/([^/]+)/`).exec(file)?.[1];
  const imports = new Set(
    modules.flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => `${getFolder(source)} ${getFolder(resolved)}`)),
  );
  return [...imports].filter((pair) => {
    const [from, to] = pair.split(" ");
    return from !== "undefined" && to !== "undefined" && from !== to && imports.has(`${to} ${from}`);
  });
}
