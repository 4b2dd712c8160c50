// How long others wait while one member opens a large answer: a service of either dialect answers with megabytes, while a request that
// needs no service is repeated all the time.
import { request } from "node:http";
import { performance } from "node:perf_hooks";
import { sendJsonResponse, startTestServer, type TestServer } from "@/tests/support/test-server";
import { percentile, table } from "../figures";
import { type Desk, newFolder, post, startDesk } from "../processes";
import { type Section } from "../section";

const MIB = 1024 ** 2;
const TIMES = 5;

type Opening = { name: string; dialect: "cloud" | "local"; path: string; body: string };

const node = (id: number) => ({ class_type: "ImageScale", inputs: { image: [String(id), 0], width: 640, height: 480, method: "lanczos" } });
const graph = (nodes: number) => Object.fromEntries(Array.from({ length: nodes }, (_, id) => [String(id + 1), node(id)]));
const job = (prompt: object, extra_data: object) =>
  JSON.stringify({ id: "job-1", status: "completed", create_time: 1, workflow: { prompt, extra_data } });
const createEntry = (id: string, nodes: number) => ({
  prompt: [1, id, graph(nodes), { create_time: 1_767_225_600_000 }, ["1"]],
  outputs: { "1": { images: [{ filename: `${id}.png`, subfolder: "", type: "output" }] } },
  status: { status_str: "success", completed: true, messages: [] },
});
const classes = (count: number) =>
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

const openings: readonly Opening[] = [
  { name: "a job with one text", dialect: "cloud", path: "/api/jobs/job-1", body: job({}, { note: "words and ".repeat(0.8 * MIB) }) },
  { name: "a job with a graph of 60,000 nodes", dialect: "cloud", path: "/api/jobs/job-1", body: job(graph(60_000), {}) },
  { name: "a catalogue of 3,500 node classes", dialect: "cloud", path: "/api/object_info", body: JSON.stringify(classes(3500)) },
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

export const largeAnswers: Section = {
  name: "large-answers",
  async measure({ print, logProgress }) {
    const desk = await startDesk(newFolder(), { isNew: true });
    const rows: string[][] = [];
    try {
      rows.push(["nothing", "", ...toCells(await measureIdle(desk))]);
      for (const opening of openings) {
        logProgress(`Opening ${opening.name}.`);
        const server = await serve(opening);
        try {
          rows.push([
            opening.name,
            `${(opening.body.length / 1e6).toFixed(1)} MB`,
            ...toCells(await measureOpening(desk, server, opening)),
          ]);
        } finally {
          await server.close();
        }
      }
    } finally {
      await desk.process.stop();
    }
    print(`## What is large, and what others wait meanwhile: ${TIMES} times each`);
    print(table(["what", "size", "whole ms", "longest wait of others, median ms", "worst ms"], rows));
  },
};

type Figures = { wholeMs: number[]; longestMs: number[] };

async function measureOpening(desk: Desk, server: TestServer, { dialect, path }: Opening): Promise<Figures> {
  const body = { name: "Large", baseUrl: server.url, shared: true, ...(dialect === "cloud" && { key: "a-key-of-the-bench" }) };
  const { connection } = await post<{ connection: { id: string } }>(`${desk.url}/api/console/connections`, body, desk.headers);
  const figures: Figures = { wholeMs: [], longestMs: [] };
  for (let time = 0; time < TIMES; time += 1) {
    const startedMs = performance.now();
    const opening = get(`${desk.url}${path}?connection=${connection.id}`, desk.headers).then(() => performance.now() - startedMs);
    figures.longestMs.push(await longestWait(desk, opening));
    figures.wholeMs.push(await opening);
  }
  return figures;
}

async function measureIdle(desk: Desk): Promise<Figures> {
  const second = new Promise<number>((resolve) => setTimeout(() => resolve(1000), 1000));
  return { wholeMs: [], longestMs: [await longestWait(desk, second)] };
}

/** One small request after the other until `work` resolves. */
async function longestWait(desk: Desk, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.finally(() => (isOver = true));
  let longestMs = 0;
  while (!isOver) {
    const startedMs = performance.now();
    await get(`${desk.url}/api/health`, {});
    longestMs = Math.max(longestMs, performance.now() - startedMs);
  }
  return longestMs;
}

/** The bytes are counted and dropped: reading them must not delay the measurement. */
function get(url: string, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, { headers }, (response) => {
      const first: Buffer[] = [];
      response.on("data", (chunk: Buffer) => response.statusCode !== 200 && first.push(chunk));
      response.once("end", () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`${url}: ${response.statusCode} ${Buffer.concat(first).toString()}`)),
      );
    });
    clientRequest.once("error", reject).end();
  });
}

function serve({ dialect, path, body }: Opening): Promise<TestServer> {
  return startTestServer((request, response) => {
    const at = request.url.split("?")[0];
    if (at === "/api/system_stats") return sendJsonResponse(response, { system: { os: "linux" }, devices: [] });
    if (at === "/api/user") return dialect === "cloud" ? sendJsonResponse(response, { status: "active" }) : response.writeHead(404).end();
    // An older local server has its jobs only in its queue and its history.
    const isIncluded = dialect === "cloud" ? at === path : at === "/api/queue" ? path === at : at?.startsWith("/api/history");
    if (!isIncluded) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
}

function toCells({ wholeMs, longestMs }: Figures): string[] {
  const whole = wholeMs.length === 0 ? "" : percentile(wholeMs, 0.5).toFixed(0);
  return [whole, percentile(longestMs, 0.5).toFixed(0), Math.max(...longestMs).toFixed(0)];
}
