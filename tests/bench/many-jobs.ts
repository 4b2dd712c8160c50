// Data folders with many jobs, shared by several sections. Each contains one real job and copies of it, and is filled when the first
// section needs it.
import { join } from "node:path";
import { connect, type ConsoleProcess, createTempFolder, post, type ServiceProcess, startConsole, startService } from "./processes";
import { type Report } from "./section";
import { seedJobs } from "./seed";

export const MANY_JOBS = 100_000;
/** One page of the list. */
export const FEW_JOBS = 1_000;

const PICTURE_COUNT = 30;

const createGraph = (color: number) => ({
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "bench" } },
});
export const graph = createGraph(3_368_652);

const foldersByName = new Map<string, Promise<string>>();

function getFolder(name: string, fill: (dataDir: string) => Promise<void>): Promise<string> {
  const fillFolder = async () => {
    const dataDir = createTempFolder();
    await fill(dataDir);
    return dataDir;
  };
  const pendingFill = foldersByName.get(name) ?? fillFolder();
  foldersByName.set(name, pendingFill);
  return pendingFill;
}

/** Returns the data folder of a console whose own service has that many jobs. */
export function getDeskFolder(jobs: number, { logProgress }: Report): Promise<string> {
  return getFolder(`desk ${jobs}`, async (dataDir) => {
    logProgress(`Seeding ${jobs} jobs of a console's own service.`);
    const desk = await startConsole(dataDir, { isNew: true });
    await runJob(`${desk.url}/api`, desk.headers);
    await desk.process.stop();
    seedJobs(getDatabasePath(dataDir), jobs);
  });
}

/** Returns the folder of a console with one page of jobs. Each of the newest jobs, which are in view, has a different picture. */
export function getPicturesFolder({ logProgress }: Report): Promise<string> {
  return getFolder("pictures", async (dataDir) => {
    logProgress("Seeding jobs with pictures.");
    const desk = await startConsole(dataDir, { isNew: true });
    for (let color = 0; color < PICTURE_COUNT; color += 1) await runJob(`${desk.url}/api`, desk.headers, color * 65_793);
    await desk.process.stop();
    seedJobs(getDatabasePath(dataDir), 100);
  });
}

function getServiceFolder({ logProgress }: Report): Promise<string> {
  return getFolder("service", async (dataDir) => {
    logProgress(`Seeding ${MANY_JOBS} jobs of a service.`);
    const service = await startService(dataDir);
    await runJob(`${service.url}/api`, service.headers);
    await service.process.stop();
    seedJobs(getDatabasePath(dataDir), MANY_JOBS);
  });
}

/** Runs `measure` with a console whose current connection is a service with many jobs. */
export async function withDeskAndService(report: Report, measure: (bench: BenchPair) => Promise<void>): Promise<void> {
  const folders = [await getDeskFolder(MANY_JOBS, report), await getServiceFolder(report)] as const;
  const desk = await startConsole(folders[0]);
  const service = await startService(folders[1]);
  try {
    await measure({ desk, service, connection: await connect(desk, service) });
  } finally {
    await desk.process.stop();
    await service.process.stop();
  }
}

type BenchPair = { desk: ConsoleProcess; service: ServiceProcess; connection: string };

const getDatabasePath = (dataDir: string) => join(dataDir, "service", "service.sqlite");

async function runJob(base: string, headers: Record<string, string>, color?: number): Promise<void> {
  const prompt = color === undefined ? graph : createGraph(color);
  const { prompt_id: id } = await post<{ prompt_id: string }>(`${base}/prompt`, { prompt }, headers);
  for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
    const { status }: { status: string } = await (await fetch(`${base}/jobs/${id}`, { headers })).json();
    if (status === "completed") return;
    if (status === "failed") break;
  }
  throw new Error("the template job did not complete");
}
