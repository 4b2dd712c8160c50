// What somebody without an account can do with sockets alone, to either server as it really runs.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openRaw, readRaw } from "../support/raw-http";
import { startProcess, type Started } from "../support/start-process";
import { until } from "../support/until";

const servers = [
  { name: "console", script: "dist/console.mjs", label: "Lightdesk" },
  { name: "service", script: "dist/service.mjs", label: "Service" },
];

let dataDir: string;
let running: Started | undefined;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lightdesk-attacks-"));
});
afterEach(async () => {
  await running?.stop("SIGKILL");
  await rm(dataDir, { recursive: true, force: true });
});

describe.each(servers)("the $name", ({ script, label }) => {
  async function start(settings: Record<string, string> = {}): Promise<Started & { url: string }> {
    running = startProcess(script, { PORT: "0", LIGHTDESK_DATA_DIR: dataDir, LIGHTDESK_CONCURRENCY: "1", ...settings });
    return { ...running, url: await running.printed(label) };
  }

  it("refuses WebSockets where none is spoken, holds none of them, and ends at SIGTERM while more are asked for", async () => {
    const server = await start();
    const paths = ["/", "/jobs", "/api/jobs", "/_next/webpack-hmr", "/nothing"];
    const asked = paths.map((path) => {
      const one = openRaw(server.url);
      one.socket.write(`GET ${path} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
      return one;
    });
    for (const { socket, heard } of asked) {
      await until("it is refused and ended", () => socket.closed);
      expect(readRaw(heard()).status).toBe(404);
    }
    expect(await server.stop("SIGTERM")).toBe(0);
  });
});
