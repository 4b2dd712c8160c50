// Measures how long other requests wait while one member opens a response of several megabytes from a service of either dialect.
// Meanwhile, a request that needs no service is repeated.
import { request } from "node:http";
import { performance } from "node:perf_hooks";
import { sendJsonResponse, startTestServer, type TestServer } from "@/tests/support/test-server";
import { formatTable, percentile } from "../figures";
import { type ConsoleProcess, createTempFolder, post, startConsole } from "../processes";
import { type Section } from "../section";

const MIB = 1024 ** 2;
const RUNS = 5;

type Scenario = { name: string; dialect: "cloud" | "local"; path: string; body: string };

const createNode = (id: number) => ({
  class_type: "ImageScale",
  inputs: { image: [String(id), 0], width: 640, height: 480, method: "lanczos" },
});
const createGraph = (nodes: number) => Object.fromEntries(Array.from({ length: nodes }, (_, id) => [String(id + 1), createNode(id)]));
const createJob = (prompt: object, extra_data: object) =>
  JSON.stringify({ id: "job-1", status: "completed", create_time: 1, workflow: { prompt, extra_data } });
const createEntry = (id: string, nodes: number) => ({
  prompt: [1, id, createGraph(nodes), { create_time: 1_767_225_600_000 }, ["1"]],
  outputs: { "1": { images: [{ filename: `${id}.png`, subfolder: "", type: "output" }] } },
  status: { status_str: "success", completed: true, messages: [] },
});
const createClasses = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `Class${index}`,
      {
        input: {
          required: Object.fromEntries(Array.from({ length: 24 }, (__, at) => [`input_${at}`, ["INT", { default: at, max: 4096 }]])),
        },
        output: ["IMAGE"],
        description: "x".repeat(1500),
      },
    ]),
  );

const scenarios: readonly Scenario[] = [
  {
    name: "a job with one long text",
    dialect: "cloud",
    path: "/api/jobs/job-1",
    body: createJob({}, { note: "words and ".repeat(0.8 * MIB) }),
  },
  { name: "a job with a graph of 60,000 nodes", dialect: "cloud", path: "/api/jobs/job-1", body: createJob(createGraph(60_000), {}) },
  { name: "a catalog of 3,500 node classes", dialect: "cloud", path: "/api/object_info", body: JSON.stringify(createClasses(3500)) },
  {
    name: "a local server's history of 120 jobs of 600 nodes",
    dialect: "local",
    path: "/api/history_v2",
    body: JSON.stringify(Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`job-${index}`, createEntry(`job-${index}`, 600)]))),
  },
  {
    name: "a local server's queue of 35 jobs of 2,000 nodes",
    dialect: "local",
    path: "/api/queue",
    body: JSON.stringify({
      queue_running: [],
      queue_pending: Array.from({ length: 35 }, (_, index) => createEntry(`job-${index}`, 2000).prompt),
    }),
  },
  {
    name: "a local server's job with a graph of 60,000 nodes",
    dialect: "local",
    path: "/api/jobs/job-1",
    body: JSON.stringify({ "job-1": createEntry("job-1", 60_000) }),
  },
];

export const largeResponses: Section = {
  name: "large-responses",
  async measure({ print, logProgress }) {
    const desk = await startConsole(createTempFolder(), { isNew: true });
    const rows: string[][] = [];
    try {
      rows.push(["no load", "", ...toCells(await measureIdle(desk))]);
      for (const scenario of scenarios) {
        logProgress(`Opening ${scenario.name}.`);
        const server = await startServer(scenario);
        try {
          rows.push([
            scenario.name,
            `${(scenario.body.length / 1e6).toFixed(1)} MB`,
            ...toCells(await measureOpening(desk, server, scenario)),
          ]);
        } finally {
          await server.close();
        }
      }
    } finally {
      await desk.process.stop();
    }
    print(`## Large responses and the wait of other requests, ${RUNS} runs each`);
    print(formatTable(["response", "size", "total ms", "longest wait of other requests, median ms", "worst ms"], rows));
  },
};

type Figures = { totalMs: number[]; longestMs: number[] };

async function measureOpening(desk: ConsoleProcess, server: TestServer, { dialect, path }: Scenario): Promise<Figures> {
  const body = { name: "Large", baseUrl: server.url, shared: true, ...(dialect === "cloud" && { key: "a-key-of-the-bench" }) };
  const { connection } = await post<{ connection: { id: string } }>(`${desk.url}/api/console/connections`, body, desk.headers);
  const figures: Figures = { totalMs: [], longestMs: [] };
  for (let run = 0; run < RUNS; run += 1) {
    const startedMs = performance.now();
    const pendingMs = sendRequest(`${desk.url}${path}?connection=${connection.id}`, desk.headers).then(() => performance.now() - startedMs);
    figures.longestMs.push(await measureLongestWait(desk, pendingMs));
    figures.totalMs.push(await pendingMs);
  }
  return figures;
}

async function measureIdle(desk: ConsoleProcess): Promise<Figures> {
  const oneSecond = new Promise<number>((resolve) => setTimeout(() => resolve(1000), 1000));
  return { totalMs: [], longestMs: [await measureLongestWait(desk, oneSecond)] };
}

/** Sends one small request after the other until `work` resolves. Returns the longest duration. */
async function measureLongestWait(desk: ConsoleProcess, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  void work.finally(() => (isDone = true));
  let longestMs = 0;
  while (!isDone) {
    const startedMs = performance.now();
    await sendRequest(`${desk.url}/api/health`, {});
    longestMs = Math.max(longestMs, performance.now() - startedMs);
  }
  return longestMs;
}

/** Drops the bytes of a successful response, since reading them would delay the measurement. */
function sendRequest(url: string, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, { headers }, (response) => {
      const errorChunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => response.statusCode !== 200 && errorChunks.push(chunk));
      response.once("end", () =>
        response.statusCode === 200
          ? resolve()
          : reject(new Error(`${url}: ${response.statusCode} ${Buffer.concat(errorChunks).toString()}`)),
      );
    });
    clientRequest.once("error", reject).end();
  });
}

function startServer({ dialect, path, body }: Scenario): Promise<TestServer> {
  return startTestServer((request, response) => {
    const pathname = request.url.split("?")[0];
    if (pathname === "/api/system_stats") return sendJsonResponse(response, { system: { os: "linux" }, devices: [] });
    if (pathname === "/api/user")
      return dialect === "cloud" ? sendJsonResponse(response, { status: "active" }) : response.writeHead(404).end();
    // An older local server lists its jobs only in its queue and its history.
    const isKnownPath =
      dialect === "cloud" ? pathname === path : pathname === "/api/queue" ? path === pathname : pathname?.startsWith("/api/history");
    if (!isKnownPath) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
}

function toCells({ totalMs, longestMs }: Figures): string[] {
  const medianMs = totalMs.length === 0 ? "" : percentile(totalMs, 0.5).toFixed(0);
  return [medianMs, percentile(longestMs, 0.5).toFixed(0), Math.max(...longestMs).toFixed(0)];
}
