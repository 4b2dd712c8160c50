// The stand-alone service on a port, like `npm run service`, and fake misbehaving services.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request as httpRequest, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "@/tests/support/start-process";

export type PortService = { url: string; key: string; output(): string; stop(signal?: NodeJS.Signals): Promise<number | null> };

export async function startService(settings: Record<string, string> = {}): Promise<PortService> {
  const dataDir = mkdtempSync(join(tmpdir(), "lightdesk-service-"));
  const environment = { PORT: "0", LIGHTDESK_CONCURRENCY: "1", LIGHTDESK_DATA_DIR: dataDir, ...settings };
  const serviceProcess = startProcess("dist/service.mjs", environment);
  const url = await serviceProcess.waitForOutput("Service");
  const command = startProcess("dist/service.mjs", environment, ["keys", "create", "--user", "grace"]);
  const exitCode = await command.exitCode;
  const key = command.output().trimEnd().split("\n").at(-1) ?? "";
  if (exitCode !== 0) throw new Error(`keys create failed with exit code ${exitCode}:\n${command.output()}`);
  return {
    url,
    key,
    output: serviceProcess.output,
    async stop(signal) {
      const code = await serviceProcess.stop(signal);
      rmSync(dataDir, { recursive: true, force: true });
      return code;
    },
  };
}

/** A server whose responses the test chooses. */
export type FakeService = { url: string; stop(): Promise<void>; restart(): Promise<void> };

/** `restart` starts the server at the same address after a stop. */
export async function startFakeService(listener: RequestListener): Promise<FakeService> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const restart = () => new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${port}`, stop, restart };
}

/** Forwards a request to a service over a new connection, since a reused one may be closed at that moment. */
export function forwardRequest(
  serviceUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
  { headers = request.headers }: { headers?: IncomingMessage["headers"] } = {},
): void {
  const upstreamRequest = httpRequest(new URL(request.url ?? "/", serviceUrl), { method: request.method, headers, agent: false });
  upstreamRequest.once("response", (upstream) => upstream.pipe(response.writeHead(upstream.statusCode ?? 502, upstream.headers)));
  // The client may have disconnected by now.
  upstreamRequest.once("error", () => response.destroy());
  request.pipe(upstreamRequest);
}
