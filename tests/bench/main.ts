// The figures that matter to the people who use it, printed as Markdown with what they were measured on.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { measureFirstLoad } from "@/bin/first-load.mjs";
import { machine, percentile, spread, table } from "./figures";
import { type Load, load, type Target } from "./load";
import { connect, type Desk, newFolder, type PortService, post, startDesk, startService } from "./processes";
import { jobsListTable, measureJobsList } from "./screens/jobs-list";
import { maskTable, measureMask } from "./screens/mask";
import { SLOWDOWN, startBrowser } from "./screens/open-page";
import { measureWall, wallTable } from "./screens/wall";
import { seedJobs } from "./seed";
import { seedAssets } from "./service/seed-assets";
import { upload, type UploadFigure } from "./upload";
import { wayIn, type WayInFigure, wayInTable } from "./ways-in";

const JOBS = 100_000;
/** As many as one page of the list shows. */
const FEW_JOBS = 1_000;
const ASSETS = 1_000_000;
const UPLOAD_MIB = 1024;
const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 3368652 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "bench" } },
};
const waiting = {
  "1": { class_type: "Wait", inputs: { seconds: 3600 } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
};

const folders = { desk: newFolder(), service: newFolder(), few: newFolder(), mask: newFolder(), wall: newFolder() };
const print = (text: string) => process.stdout.write(`${text}\n\n`);
const tell = (text: string) => process.stderr.write(`${text}\n`);

/** Arguments choose some of them by name. */
const names = [
  "pages",
  "calls",
  "first-load",
  "submissions",
  "uploads",
  "ways-in",
  "ways-in-10-gib",
  "screens",
  "mask",
  "wall",
  "wall-5-minutes",
] as const;
type Name = (typeof names)[number];
/** Ten gibibytes of disk and some minutes: when it is asked for. */
const onDemand: readonly Name[] = ["ways-in-10-gib", "wall-5-minutes"];
const inMany: readonly Name[] = ["pages", "calls", "submissions", "screens"];

async function main(wanted: ReadonlySet<Name>): Promise<void> {
  print(
    `Measured ${new Date().toISOString().slice(0, 10)} on ${machine()}. Median of the runs, with the lowest and the highest in brackets.`,
  );
  if (wanted.has("first-load")) firstLoad();
  if (inMany.some((name) => wanted.has(name))) await withManyJobs(wanted);
  if (wanted.has("uploads")) await uploads();
  if (wanted.has("ways-in")) await waysIn();
  if (wanted.has("mask")) await mask();
  if (wanted.has("wall") || wanted.has("wall-5-minutes")) await wall(wanted.has("wall-5-minutes"));
  if (wanted.has("ways-in-10-gib")) {
    tell("10 GiB through a browser.");
    print("## 10 GiB of zeros through the tray, unknown and then known");
    print(wayInTable([await wayIn(10 * 1024, { sparse: true })]));
  }
}

async function mask(): Promise<void> {
  tell("Masks over large pictures in a browser.");
  const desk = await startDesk(folders.mask, { isNew: true });
  const browser = await startBrowser();
  try {
    print("## The mask editor on large pictures, in a browser");
    print(maskTable(await measureMask(browser, desk)));
  } finally {
    await browser.close();
    await desk.process.stop();
  }
}

async function wall(isLong: boolean): Promise<void> {
  tell(`Seeding ${ASSETS} assets.`);
  await (await startDesk(folders.wall, { isNew: true })).process.stop();
  seedAssets(join(folders.wall, "service", "service.sqlite"), "team", ASSETS);
  const desk = await startDesk(folders.wall);
  const browser = await startBrowser();
  try {
    const figures = [];
    for (const slowdown of [1, SLOWDOWN]) {
      tell(`The wall in a browser, ${slowdown} times slower.`);
      figures.push(await measureWall(browser, desk, { slowdown, isLong: isLong && slowdown === 1 }));
    }
    print(`## The wall of ${ASSETS.toLocaleString("en")} assets, scrolled in a browser`);
    print(wallTable(figures));
  } finally {
    await browser.close();
    await desk.process.stop();
  }
}

async function waysIn(): Promise<void> {
  const runs: WayInFigure[] = [];
  for (let run = 1; run <= 3; run += 1) {
    tell(`${UPLOAD_MIB} MiB through a browser, ${run} of 3.`);
    runs.push(await wayIn(UPLOAD_MIB));
  }
  print(`## ${UPLOAD_MIB} MiB through the tray of a browser, hashed first, beside a plain upload`);
  print(wayInTable(runs));
}

async function withManyJobs(wanted: ReadonlySet<Name>): Promise<void> {
  await seedBoth();
  const desk = await startDesk(folders.desk);
  const service = await startService(folders.service);
  try {
    // Before anything else is connected: the screens are those of the service inside.
    if (wanted.has("screens")) await screens(desk);
    const connection = await connect(desk, service);
    if (wanted.has("pages")) await jobsPage(desk);
    if (wanted.has("calls")) await jobsCall(desk, service, connection);
    if (wanted.has("submissions")) await submissions(desk, service, connection);
  } finally {
    await desk.process.stop();
    await service.process.stop();
  }
}

async function screens(many: Desk): Promise<void> {
  await seedDesk(folders.few, FEW_JOBS);
  const few = await startDesk(folders.few);
  const browser = await startBrowser();
  try {
    for (const [desk, jobs] of [
      [few, FEW_JOBS],
      [many, JOBS],
    ] as const) {
      const inAll = jobs.toLocaleString("en");
      tell(`The list of jobs in a browser, ${inAll} jobs.`);
      const runs = await measureJobsList(browser, desk, tell);
      print(`## The list of jobs with ${FEW_JOBS.toLocaleString("en")} rows of ${inAll}, processor ${SLOWDOWN} times slower`);
      print(jobsListTable(runs));
    }
  } finally {
    await browser.close();
    await few.process.stop();
  }
}

/** A real job in each service, then a hundred thousand copies of it. */
async function seedBoth(): Promise<void> {
  tell(`Seeding ${JOBS} jobs, twice.`);
  await seedDesk(folders.desk, JOBS);
  const service = await startService(folders.service);
  await runOne(`${service.url}/api`, service.headers);
  await service.process.stop();
  seedJobs(join(folders.service, "service", "service.sqlite"), JOBS);
}

async function seedDesk(folder: string, jobs: number): Promise<void> {
  const desk = await startDesk(folder, { isNew: true });
  await runOne(`${desk.url}/api`, desk.headers);
  await desk.process.stop();
  seedJobs(join(folder, "service", "service.sqlite"), jobs);
}

async function runOne(base: string, headers: Record<string, string>): Promise<void> {
  const { prompt_id: id } = await post<{ prompt_id: string }>(`${base}/prompt`, { prompt: graph }, headers);
  for (const until = Date.now() + 30_000; Date.now() < until;) {
    const { status }: { status: string } = await (await fetch(`${base}/jobs/${id}`, { headers })).json();
    if (status === "completed") return;
    if (status === "failed") break;
  }
  throw new Error("the job to copy did not complete");
}

async function jobsPage(desk: Desk): Promise<void> {
  tell("Jobs page.");
  const { connections }: { connections: { id: string; embedded: boolean }[] } = await (
    await fetch(`${desk.url}/api/console/connections`, { headers: desk.headers })
  ).json();
  const embedded = connections.find((one) => one.embedded)?.id ?? "";
  const times: number[] = [];
  let html = "";
  for (let index = 0; index < 60; index += 1) {
    const started = performance.now();
    const answer = await fetch(`${desk.url}/jobs?connection=${embedded}`, { headers: desk.headers, redirect: "manual" });
    html = await answer.text();
    if (answer.status !== 200) throw new Error(`/jobs answered ${answer.status}`);
    if (index >= 10) times.push(performance.now() - started);
  }
  const rows = new Set(html.match(/\/jobs\/[0-9a-f-]{36}/g)).size;
  print(`## Jobs page at ${JOBS.toLocaleString("en")} jobs, on the embedded service`);
  print(
    table(
      ["server time p50", "p95", "HTML", "gzipped", "rows in it"],
      [
        [
          `${percentile(times, 0.5).toFixed(1)} ms`,
          `${percentile(times, 0.95).toFixed(1)} ms`,
          kB(Buffer.byteLength(html)),
          kB(gzipSync(html).length),
          String(rows),
        ],
      ],
    ),
  );
}

async function jobsCall(desk: Desk, service: PortService, connection: string): Promise<void> {
  const direct = { url: `${service.url}/api/jobs?limit=50`, headers: service.headers };
  const through = { url: `${desk.url}/api/jobs?limit=50&connection=${connection}`, headers: desk.headers };
  const rows: string[][] = [];
  for (const connections of [1, 20]) {
    for (const [name, target] of [
      ["directly", direct],
      ["through the console", through],
    ] as const) {
      tell(`GET /api/jobs ${name}, ${connections} at a time.`);
      rows.push([name, String(connections), ...latencies(await load(target, connections))]);
    }
  }
  print(`## GET /api/jobs?limit=50 at ${JOBS.toLocaleString("en")} jobs`);
  print(table(["how", "connections", "p50 ms", "p95 ms", "requests/s"], rows));
}

async function submissions(desk: Desk, service: PortService, connection: string): Promise<void> {
  // The one slot is taken by a job that waits, so that accepting is measured and not running.
  await post(`${service.url}/api/prompt`, { prompt: waiting }, service.headers);
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ prompt: graph });
  const targets: [string, Target][] = [
    ["directly", { url: `${service.url}/api/prompt`, headers: { ...service.headers, ...json }, method: "POST", body }],
    [
      "through the console",
      { url: `${desk.url}/api/prompt?connection=${connection}`, headers: { ...desk.headers, ...json }, method: "POST", body },
    ],
  ];
  const rows: string[][] = [];
  for (const connections of [1, 20]) {
    for (const [name, target] of targets) {
      tell(`Submissions ${name}, ${connections} at a time.`);
      rows.push([name, String(connections), ...latencies(await load(target, connections))]);
    }
  }
  print("## Submissions, each on disk before it is answered");
  print(table(["how", "connections", "p50 ms", "p95 ms", "submissions/s"], rows));
}

/** Each on a console and a service that were just started: memory that an earlier load has grown into would hide the upload's own. */
async function uploads(): Promise<void> {
  const runs: UploadFigure[] = [];
  for (let run = 1; run <= 3; run += 1) {
    tell(`Uploading ${UPLOAD_MIB} MiB, ${run} of 3.`);
    const folder = newFolder();
    const desk = await startDesk(folder, { isNew: true });
    const service = await startService(join(folder, "port"));
    runs.push(await upload(desk, await connect(desk, service), service, UPLOAD_MIB));
    await desk.process.stop();
    await service.process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const column = (pick: (run: UploadFigure) => number, digits: number) => spread(runs.map(pick), digits);
  print(`## ${UPLOAD_MIB} MiB uploaded through the console, byte-exact at the service by BLAKE3`);
  print(
    table(
      ["console idle MiB", "highest MiB", "over idle MiB", "seconds"],
      [
        [
          column((run) => run.idleMiB, 0),
          column((run) => run.peakMiB, 0),
          column((run) => run.overMiB, 0),
          column((run) => run.seconds, 1),
        ],
      ],
    ),
  );
}

function firstLoad(): void {
  print("## JavaScript that a page loads first, gzipped");
  print(
    table(
      ["page", "kB", "over the empty page kB"],
      measureFirstLoad().map(({ page, kB: size, overEmptyKB }) => [page, size.toFixed(1), overEmptyKB.toFixed(1)]),
    ),
  );
}

function latencies(runs: readonly Load[]): string[] {
  return [
    spread(
      runs.map(({ p50 }) => p50),
      2,
    ),
    spread(
      runs.map(({ p95 }) => p95),
      2,
    ),
    spread(
      runs.map(({ perSecond }) => perSecond),
      0,
    ),
  ];
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

const asked = process.argv.slice(2);
const strange = asked.filter((name) => !names.some((each) => each === name));
if (strange.length > 0) {
  tell(`There is no figure ${strange.join(", ")}. There are: ${names.join(", ")}.`);
  process.exit(1);
}
try {
  await main(new Set(asked.length === 0 ? names.filter((name) => !onDemand.includes(name)) : names.filter((name) => asked.includes(name))));
} finally {
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true });
}
