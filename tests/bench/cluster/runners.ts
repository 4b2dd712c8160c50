// The program of the process with the stand-in runners of `npm run bench -- cluster`: reports their addresses, and when each job began and
// ended. Jobs compute nothing; they last as long as the parent process says, and put out one small picture, each a different one.
import sharp from "sharp";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { startRunnerServer } from "@/tests/support/runner-server";

/** `job`: the text of its node. Times are of one clock, in milliseconds. */
export type Ran = { runner: number; job: string; begun: number; ended: number };
export type Report = { addresses: string[] } | { ran: Ran[] };
export type Order = { jobMs: number };

const TELL_MS = 20;
const [count = "1"] = process.argv.slice(2);
const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#345" } })
  .png()
  .toBuffer();
let jobMs = 0;
let made = 0;
let ran: Ran[] = [];

const runners = await Promise.all(
  Array.from({ length: Number(count) }, (_, runner) =>
    startRunnerServer({
      objectInfo: gpuClasses(["bench.safetensors"]),
      async works(graph) {
        const begun = performance.now();
        if (jobMs > 0) await new Promise((resolve) => setTimeout(resolve, jobMs));
        ran.push({ runner, job: String(graph["2"]?.inputs.prompt), begun, ended: performance.now() });
      },
      makes({ class_type }) {
        if (class_type !== "SaveImage") return undefined;
        made += 1;
        return { files: [{ name: `${runner}-${made}.png`, bytes: Buffer.concat([picture, Buffer.from(String(made))]) }] };
      },
    }),
  ),
);

const tell = (report: Report) => process.send?.(report);
setInterval(() => {
  if (ran.length > 0) tell({ ran });
  ran = [];
}, TELL_MS);
process.on("message", (order: Order) => void ({ jobMs } = order));
process.once("disconnect", () => process.exit());
tell({ addresses: runners.map(({ address }) => address) });
