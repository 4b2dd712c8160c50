// Floods one URL from clients without a session. Meanwhile, a member and a health check each send one request after the other.
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { formatTable, percentile } from "../figures";
import { type ConsoleProcess, createTempFolder, startConsole } from "../processes";
import { type Section } from "../section";

const CONNECTIONS = 60;
const PIPELINE_DEPTH = 10;
const FLOOD_MS = 4000;

const FORGED_COOKIE = "cookie: lightdesk.session=eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA\r\n";

/** `headerLines`: additional request headers. `random` is replaced by a new value in each request, `script` by the name of a built script. */
type Target = { name: string; path: string; headerLines?: string; method?: string };

const targets: readonly Target[] = [
  { name: "sign-in", path: "/sign-in" },
  { name: "sign-in, new address each time", path: "/sign-in?callbackUrl=/jobs/random" },
  { name: "sign-in as a page's data (RSC)", path: "/sign-in?_rsc=random", headerLines: "rsc: 1\r\n" },
  { name: "set-up with a wrong token", path: "/set-up?token=random" },
  { name: "invitation with a wrong token", path: "/invitation?token=random" },
  { name: "share with a wrong token", path: "/share/random" },
  { name: "unknown page", path: "/share/random/random" },
  { name: "jobs, redirected to the sign-in", path: "/jobs?random" },
  { name: "overview with a forged session", path: "/", headerLines: FORGED_COOKIE },
  { name: "embedded page of an unknown host", path: "/embed/random/random00/start" },
  { name: "/api/auth/csrf", path: "/api/auth/csrf" },
  { name: "/api/auth/session", path: "/api/auth/session" },
  { name: "/api/auth/providers", path: "/api/auth/providers" },
  { name: "/api/jobs without a token", path: "/api/jobs" },
  { name: "unknown API path", path: "/api/random" },
  { name: "wrong method of an API path", path: "/api/jobs", method: "DELETE" },
  { name: "wrong method of a page", path: "/sign-in", method: "DELETE" },
  { name: "health", path: "/api/health" },
  { name: "readiness", path: "/api/health/ready", headerLines: FORGED_COOKIE },
  { name: "metrics without the token", path: "/api/metrics" },
  { name: "the session endpoint, which is public", path: "/api/console/session" },
  { name: "the OpenAPI document", path: "/api/openapi.json" },
  { name: "a script of the build", path: "/_next/static/chunks/script" },
  { name: "the icon", path: "/icon.svg" },
  { name: "a file without a compressed copy", path: "/embed.js" },
  { name: "unknown script", path: "/_next/static/random.js" },
  { name: "unknown sample", path: "/samples/random" },
];

export const visitorFlood: Section = {
  name: "visitor-flood",
  async measure({ print, logProgress }) {
    const desk = await startConsole(createTempFolder(), { isNew: true });
    try {
      const idle = await measureLatencies(desk, () => false);
      const rows = [["no flood", "", "", ...formatLatencies(idle)]];
      const script = readdirSync(".next/static/chunks").find((file) => file.endsWith(".js")) ?? "";
      for (const { name, path, headerLines = "", method = "GET" } of targets) {
        logProgress(`Flood of ${name}.`);
        let isOver = false;
        const flood = startFlood(desk.url, `${method} ${path.replace("/script", `/${script}`)}`, headerLines);
        setTimeout(() => (isOver = true), FLOOD_MS);
        const measured = await measureLatencies(desk, () => !isOver);
        const { statuses, responses } = flood.stop();
        logProgress(JSON.stringify([name, responses, statuses, ...formatLatencies(measured)]));
        rows.push([name, String(Math.round(responses / (FLOOD_MS / 1000))), statuses, ...formatLatencies(measured)]);
        await fetch(`${desk.url}/api/health`);
      }
      print(`## Latency of other requests while ${CONNECTIONS} connections without a session pipeline ${PIPELINE_DEPTH} requests each`);
      print(
        formatTable(
          ["flood", "responses/s", "statuses", "health, p95 / longest", "member's request, p95 / longest", "member's page"],
          rows,
        ),
      );
    } finally {
      await desk.process.stop();
    }
  },
};

type Latencies = { health: number[]; call: number[]; page: number[] };

/** Repeats each kind of request after its response, at least ten times. */
async function measureLatencies({ url, headers }: ConsoleProcess, shouldContinue: () => boolean): Promise<Latencies> {
  const measureRequests = async (path: string, headers: Record<string, string>) => {
    const times: number[] = [];
    do {
      const started = performance.now();
      const response = await fetch(url + path, { headers, redirect: "manual" });
      await response.arrayBuffer();
      times.push(performance.now() - started);
      if (response.status !== 200) throw new Error(`${path} responded with ${response.status}`);
    } while (shouldContinue() || times.length < 10);
    return times;
  };
  const [health, call, page] = await Promise.all([
    measureRequests("/api/health", {}),
    measureRequests("/api/console/connections", headers),
    measureRequests("/settings/account", headers),
  ]);
  return { health, call, page };
}

function formatLatencies({ health, call, page }: Latencies): string[] {
  return [health, call, page].map((times) => `${percentile(times, 0.95).toFixed(0)} / ${Math.max(...times).toFixed(0)} ms`);
}

function startFlood(url: string, requestLine: string, headerLines: string) {
  const { hostname, port, host } = new URL(url);
  const sockets = new Set<Socket>();
  const counts = new Map<string, number>();
  let isOver = false;
  let sentCount = 0;

  const createBatch = () =>
    Array.from({ length: PIPELINE_DEPTH }, () => {
      const value = `r${(sentCount += 1)}x${Math.random().toString(36).slice(2, 12)}`;
      return `${requestLine.replaceAll("random", value)} HTTP/1.1\r\nhost: ${host}\r\naccept: text/html\r\naccept-encoding: gzip\r\n${headerLines}\r\n`;
    }).join("");

  function openConnection(): void {
    const socket = connect(Number(port), hostname);
    sockets.add(socket);
    let pendingCount = PIPELINE_DEPTH;
    socket.on("error", () => undefined);
    socket.on("connect", () => socket.write(createBatch()));
    socket.on("data", (bytes) => {
      for (const [, status = ""] of bytes.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        counts.set(status, (counts.get(status) ?? 0) + 1);
        pendingCount -= 1;
      }
      if (pendingCount > 0 || isOver) return;
      pendingCount = PIPELINE_DEPTH;
      socket.write(createBatch());
    });
    socket.on("close", () => {
      sockets.delete(socket);
      if (!isOver) setTimeout(openConnection, 5);
    });
  }
  for (let index = 0; index < CONNECTIONS; index += 1) openConnection();

  return {
    stop() {
      isOver = true;
      sockets.forEach((socket) => socket.destroy());
      const responses = [...counts.values()].reduce((sum, count) => sum + count, 0);
      return { responses, statuses: [...counts].map(([status, count]) => `${status} (${count})`).join(", ") };
    },
  };
}
