import { gzipSync } from "node:zlib";
import { formatTable, percentile } from "../figures";
import { MANY_JOBS, withDeskAndService } from "../many-jobs";
import { type ConsoleProcess } from "../processes";
import { type Report, type Section } from "../section";

export const pages: Section = {
  name: "pages",
  measure: (report) => withDeskAndService(report, ({ desk }) => measureJobsPage(desk, report)),
};

async function measureJobsPage(desk: ConsoleProcess, { print, logProgress }: Report): Promise<void> {
  logProgress("Jobs page.");
  const { connections }: { connections: { id: string; embedded: boolean }[] } = await (
    await fetch(`${desk.url}/api/console/connections`, { headers: desk.headers })
  ).json();
  const embeddedId = connections.find((connection) => connection.embedded)?.id ?? "";
  const times: number[] = [];
  let html = "";
  for (let index = 0; index < 60; index += 1) {
    const started = performance.now();
    const response = await fetch(`${desk.url}/jobs?connection=${embeddedId}`, { headers: desk.headers, redirect: "manual" });
    html = await response.text();
    if (response.status !== 200) throw new Error(`/jobs responded with ${response.status}`);
    if (index >= 10) times.push(performance.now() - started);
  }
  const rows = new Set(html.match(/\/jobs\/[0-9a-f-]{36}/g)).size;
  print(`## Jobs page at ${MANY_JOBS.toLocaleString("en")} jobs, on the embedded service`);
  print(
    formatTable(
      ["server time p50", "p95", "HTML", "gzipped", "rows in it"],
      [
        [
          `${percentile(times, 0.5).toFixed(1)} ms`,
          `${percentile(times, 0.95).toFixed(1)} ms`,
          formatKB(Buffer.byteLength(html)),
          formatKB(gzipSync(html).length),
          String(rows),
        ],
      ],
    ),
  );
}

function formatKB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
