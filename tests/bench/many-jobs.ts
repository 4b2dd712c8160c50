// The data folders with many jobs that several sections measure: one real job in each, and copies of it. Each folder is filled once,
// when the first section asks for it.
import { join } from "node:path";
import { connect, type Desk, newFolder, type PortService, post, startDesk, startService } from "./processes";
import { type Report } from "./section";
import { seedJobs } from "./seed";

export const MANY_JOBS = 100_000;
/** One page of the list. */
export const FEW_JOBS = 1_000;

const PICTURES = 30;

const createGraph = (color: number) => ({
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "bench" } },
});
export const graph = createGraph(3_368_652);

const filled = new Map<string, Promise<string>>();

function folder(name: string, fill: (dataDir: string) => Promise<void>): Promise<string> {
  const fillFolder = async () => {
    const dataDir = newFolder();
    await fill(dataDir);
    return dataDir;
  };
  const pendingFill = filled.get(name) ?? fillFolder();
  filled.set(name, pendingFill);
  return pendingFill;
}

/** A console whose own service has that many jobs. */
export function deskFolder(jobs: number, { logProgress }: Report): Promise<string> {
  return folder(`desk ${jobs}`, async (dataDir) => {
    logProgress(`Seeding ${jobs} jobs of a console's own service.`);
    const desk = await startDesk(dataDir, { isNew: true });
    await runOne(`${desk.url}/api`, desk.headers);
    await desk.process.stop();
    seedJobs(databaseIn(dataDir), jobs);
  });
}

/** As many jobs as one page of the list shows; the newest ones, which are in view, have a different picture each. */
export function jobsWithPictures({ logProgress }: Report): Promise<string> {
  return folder("pictures", async (dataDir) => {
    logProgress("Seeding jobs with pictures.");
    const desk = await startDesk(dataDir, { isNew: true });
    for (let color = 0; color < PICTURES; color += 1) await runOne(`${desk.url}/api`, desk.headers, color * 65_793);
    await desk.process.stop();
    seedJobs(databaseIn(dataDir), 100);
  });
}

function serviceFolder({ logProgress }: Report): Promise<string> {
  return folder("service", async (dataDir) => {
    logProgress(`Seeding ${MANY_JOBS} jobs of a service.`);
    const service = await startService(dataDir);
    await runOne(`${service.url}/api`, service.headers);
    await service.process.stop();
    seedJobs(databaseIn(dataDir), MANY_JOBS);
  });
}

/** A console with a service of many jobs as the member's current connection. */
export async function besideService(report: Report, measure: (bench: BenchPair) => Promise<void>): Promise<void> {
  const folders = [await deskFolder(MANY_JOBS, report), await serviceFolder(report)] as const;
  const desk = await startDesk(folders[0]);
  const service = await startService(folders[1]);
  try {
    await measure({ desk, service, connection: await connect(desk, service) });
  } finally {
    await desk.process.stop();
    await service.process.stop();
  }
}

type BenchPair = { desk: Desk; service: PortService; connection: string };

const databaseIn = (dataDir: string) => join(dataDir, "service", "service.sqlite");

async function runOne(base: string, headers: Record<string, string>, color?: number): Promise<void> {
  const prompt = color === undefined ? graph : createGraph(color);
  const { prompt_id: id } = await post<{ prompt_id: string }>(`${base}/prompt`, { prompt }, headers);
  for (const until = Date.now() + 30_000; Date.now() < until;) {
    const { status }: { status: string } = await (await fetch(`${base}/jobs/${id}`, { headers })).json();
    if (status === "completed") return;
    if (status === "failed") break;
  }
  throw new Error("the job to copy did not complete");
}
