// The process of the simulated runners of `npm run bench -- cluster`. It reports their addresses and each job's start and end. Jobs
// compute nothing, last as long as the parent process sets, and output one small, unique picture.
import sharp from "sharp";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { startRunnerServer } from "@/tests/support/runner-server";

/** `job`: the job's prompt. All times are from one clock. */
export type CompletedRun = { runner: number; job: string; startedMs: number; endedMs: number };
export type RunnerMessage = { addresses: string[] } | { runs: CompletedRun[] };
export type RunnerCommand = { jobMs: number };

const REPORT_INTERVAL_MS = 20;
const [count = "1"] = process.argv.slice(2);
const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#345" } })
  .png()
  .toBuffer();
let jobMs = 0;
let outputCount = 0;
let completedRuns: CompletedRun[] = [];

const runners = await Promise.all(
  Array.from({ length: Number(count) }, (_, runner) =>
    startRunnerServer({
      objectInfo: createGpuClasses(["bench.safetensors"]),
      async onJobStart(graph) {
        const startedMs = performance.now();
        if (jobMs > 0) await new Promise((resolve) => setTimeout(resolve, jobMs));
        completedRuns.push({ runner, job: String(graph["2"]?.inputs.prompt), startedMs, endedMs: performance.now() });
      },
      makeOutput({ class_type }) {
        if (class_type !== "SaveImage") return undefined;
        outputCount += 1;
        return { files: [{ name: `${runner}-${outputCount}.png`, bytes: Buffer.concat([picture, Buffer.from(String(outputCount))]) }] };
      },
    }),
  ),
);

const send = (message: RunnerMessage) => process.send?.(message);
setInterval(() => {
  if (completedRuns.length > 0) send({ runs: completedRuns });
  completedRuns = [];
}, REPORT_INTERVAL_MS);
process.on("message", (command: RunnerCommand) => void ({ jobMs } = command));
process.once("disconnect", () => process.exit());
send({ addresses: runners.map(({ address }) => address) });
