// Clients without a session flood one address; meanwhile a member and a health check each send one request after the other.
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { percentile, table } from "../figures";
import { type Desk, newFolder, startDesk } from "../processes";
import { type Section } from "../section";

const CONNECTIONS = 60;
const PIPELINED = 10;
const FLOOD_MS = 4000;

const forged = "cookie: lightdesk.session=eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA\r\n";

/** `lines`: more lines of the request's head. `random` stands for a new value in each request, `script` for the name of a built script. */
type Target = { name: string; path: string; lines?: string; method?: string };

const targets: readonly Target[] = [
  { name: "sign-in", path: "/sign-in" },
  { name: "sign-in, new address each time", path: "/sign-in?callbackUrl=/jobs/random" },
  { name: "sign-in as a page's data (RSC)", path: "/sign-in?_rsc=random", lines: "rsc: 1\r\n" },
  { name: "set-up, a wrong token", path: "/set-up?token=random" },
  { name: "invitation, a wrong token", path: "/invitation?token=random" },
  { name: "share, a wrong token", path: "/share/random" },
  { name: "no such page", path: "/share/random/random" },
  { name: "jobs, which leads to the sign-in", path: "/jobs?random" },
  { name: "overview with a forged session", path: "/", lines: forged },
  { name: "embedded page of no host", path: "/embed/random/random00/start" },
  { name: "/api/auth/csrf", path: "/api/auth/csrf" },
  { name: "/api/auth/session", path: "/api/auth/session" },
  { name: "/api/auth/providers", path: "/api/auth/providers" },
  { name: "/api/jobs without a token", path: "/api/jobs" },
  { name: "no such call", path: "/api/random" },
  { name: "wrong method of a call", path: "/api/jobs", method: "DELETE" },
  { name: "wrong method of a page", path: "/sign-in", method: "DELETE" },
  { name: "health", path: "/api/health" },
  { name: "readiness", path: "/api/health/ready", lines: forged },
  { name: "metrics without the token", path: "/api/metrics" },
  { name: "the session, which is open", path: "/api/console/session" },
  { name: "the description of the interface", path: "/api/openapi.json" },
  { name: "a script of the build", path: "/_next/static/chunks/script" },
  { name: "the icon", path: "/icon.svg" },
  { name: "a file of the build that is not packed", path: "/embed.js" },
  { name: "no such script", path: "/_next/static/random.js" },
  { name: "no such sample", path: "/samples/random" },
];

export const visitorFlood: Section = {
  name: "visitor-flood",
  async measure({ print, logProgress }) {
    const desk = await startDesk(newFolder(), { isNew: true });
    try {
      const idle = await waits(desk, () => false);
      const rows = [["nothing", "", "", ...formatWaits(idle)]];
      const script = readdirSync(".next/static/chunks").find((file) => file.endsWith(".js")) ?? "";
      for (const { name, path, lines = "", method = "GET" } of targets) {
        logProgress(`Flood of ${name}.`);
        let isOver = false;
        const flood = startFlood(desk.url, `${method} ${path.replace("/script", `/${script}`)}`, lines);
        setTimeout(() => (isOver = true), FLOOD_MS);
        const measured = await waits(desk, () => !isOver);
        const { statuses, answers } = flood.stop();
        logProgress(JSON.stringify([name, answers, statuses, ...formatWaits(measured)]));
        rows.push([name, String(Math.round(answers / (FLOOD_MS / 1000))), statuses, ...formatWaits(measured)]);
        await fetch(`${desk.url}/api/health`);
      }
      print(`## Others' waits while ${CONNECTIONS} connections without a session send ${PIPELINED} requests ahead each`);
      print(table(["flood", "answers/s", "statuses", "health, p95 / longest", "member's request, p95 / longest", "member's page"], rows));
    } finally {
      await desk.process.stop();
    }
  },
};

type Waits = { health: number[]; call: number[]; page: number[] };

/** Each kind of request is repeated after its response, at least ten times. */
async function waits({ url, headers }: Desk, isGoingOn: () => boolean): Promise<Waits> {
  const timed = async (path: string, headers: Record<string, string>) => {
    const times: number[] = [];
    do {
      const started = performance.now();
      const response = await fetch(url + path, { headers, redirect: "manual" });
      await response.arrayBuffer();
      times.push(performance.now() - started);
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    } while (isGoingOn() || times.length < 10);
    return times;
  };
  const [health, call, page] = await Promise.all([
    timed("/api/health", {}),
    timed("/api/console/connections", headers),
    timed("/settings/account", headers),
  ]);
  return { health, call, page };
}

function formatWaits({ health, call, page }: Waits): string[] {
  return [health, call, page].map((times) => `${percentile(times, 0.95).toFixed(0)} / ${Math.max(...times).toFixed(0)} ms`);
}

function startFlood(url: string, line: string, lines: string) {
  const { hostname, port, host } = new URL(url);
  const open = new Set<Socket>();
  const counts = new Map<string, number>();
  let isOver = false;
  let sentCount = 0;

  const batch = () =>
    Array.from({ length: PIPELINED }, () => {
      const value = `r${(sentCount += 1)}x${Math.random().toString(36).slice(2, 12)}`;
      return `${line.replaceAll("random", value)} HTTP/1.1\r\nhost: ${host}\r\naccept: text/html\r\naccept-encoding: gzip\r\n${lines}\r\n`;
    }).join("");

  function begin(): void {
    const socket = connect(Number(port), hostname);
    open.add(socket);
    let waiting = PIPELINED;
    socket.on("error", () => undefined);
    socket.on("connect", () => socket.write(batch()));
    socket.on("data", (bytes) => {
      for (const [, status = ""] of bytes.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        counts.set(status, (counts.get(status) ?? 0) + 1);
        waiting -= 1;
      }
      if (waiting > 0 || isOver) return;
      waiting = PIPELINED;
      socket.write(batch());
    });
    socket.on("close", () => {
      open.delete(socket);
      if (!isOver) setTimeout(begin, 5);
    });
  }
  for (let index = 0; index < CONNECTIONS; index += 1) begin();

  return {
    stop() {
      isOver = true;
      open.forEach((socket) => socket.destroy());
      const responses = [...counts.values()].reduce((sum, count) => sum + count, 0);
      return { answers: responses, statuses: [...counts].map(([status, count]) => `${status} (${count})`).join(", ") };
    },
  };
}
