// Prints the stand-alone service's figures as one Markdown table with the machine. Arguments select rows by name.
import { describeMachine, formatTable } from "../figures";
import { measureDispatch } from "./dispatch";
import { measureImageChain } from "./image-chain";
import { measureJobs } from "./jobs";
import { measureLargeDetails } from "./large-details";
import { measureLists } from "./lists";
import { measureRestart } from "./restart";
import { type BenchRow } from "./row";
import { measureSameContent } from "./same-content";
import { measureSubmissions } from "./submissions";
import { measureUpload } from "./upload-size";

const logProgress = (text: string) => process.stderr.write(`${text}\n`);

const measurements: Record<string, () => Promise<BenchRow[]>> = {
  submissions: measureSubmissions,
  jobs: measureJobs,
  dispatch: measureDispatch,
  details: measureLargeDetails,
  upload: measureUpload,
  "same-content": measureSameContent,
  restart: measureRestart,
  images: measureImageChain,
  lists: () => measureLists({ log: logProgress }),
};

const notes = [
  "The service is `dist/service.mjs` in a separate process, with one job at a time, over HTTP on loopback.",
  "The load generator shares the cores with the service. On a machine with two cores, the service has little more than one.",
  "Each figure is the median of three runs, after one to warm up.",
];

const names = Object.keys(measurements);
const args = process.argv.slice(2);
const unknownNames = args.filter((name) => !names.includes(name));
if (unknownNames.length > 0) {
  logProgress(`Unknown measurement ${unknownNames.join(", ")}. Measurements: ${names.join(", ")}.`);
  process.exit(1);
}
const rows: BenchRow[] = [];
for (const [name, measure] of Object.entries(measurements)) {
  if (args.length > 0 && !args.includes(name)) continue;
  const started = performance.now();
  const benchRows = await measure();
  rows.push(...benchRows);
  logProgress(`${name}, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  for (const row of benchRows) logProgress(`  ${row.name}: ${row.figure} (${row.spread})`);
}
const print = (text: string) => process.stdout.write(`${text}\n\n`);
print(`Measured ${new Date().toISOString().slice(0, 10)} on ${describeMachine()}.`);
print(
  formatTable(
    ["measurement", "target", "median", "lowest to highest", "met"],
    rows.map(({ name, target, figure, spread, meets }) => [name, target, figure, spread, target === "" ? "" : meets ? "yes" : "**no**"]),
  ),
);
print(notes.map((note) => `- ${note}`).join("\n"));
