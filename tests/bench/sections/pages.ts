import { gzipSync } from "node:zlib";
import { percentile, table } from "../figures";
import { besideService, MANY_JOBS } from "../many-jobs";
import { type Desk } from "../processes";
import { type Report, type Section } from "../section";

export const pages: Section = {
  name: "pages",
  measure: (report) => besideService(report, ({ desk }) => jobsPage(desk, report)),
};

async function jobsPage(desk: Desk, { print, logProgress }: Report): Promise<void> {
  logProgress("Jobs page.");
  const { connections }: { connections: { id: string; embedded: boolean }[] } = await (
    await fetch(`${desk.url}/api/console/connections`, { headers: desk.headers })
  ).json();
  const embedded = connections.find((connection) => connection.embedded)?.id ?? "";
  const times: number[] = [];
  let html = "";
  for (let index = 0; index < 60; index += 1) {
    const started = performance.now();
    const response = await fetch(`${desk.url}/jobs?connection=${embedded}`, { headers: desk.headers, redirect: "manual" });
    html = await response.text();
    if (response.status !== 200) throw new Error(`/jobs answered ${response.status}`);
    if (index >= 10) times.push(performance.now() - started);
  }
  const rows = new Set(html.match(/\/jobs\/[0-9a-f-]{36}/g)).size;
  print(`## Jobs page at ${MANY_JOBS.toLocaleString("en")} jobs, on the embedded service`);
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

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
