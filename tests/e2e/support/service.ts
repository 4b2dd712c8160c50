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
  const all = { PORT: "0", LIGHTDESK_CONCURRENCY: "1", LIGHTDESK_DATA_DIR: dataDir, ...settings };
  const started = startProcess("dist/service.mjs", all);
  const url = await started.printed("Service");
  const command = startProcess("dist/service.mjs", all, ["keys", "create", "--user", "grace"]);
  const ended = await command.ended;
  const key = command.output().trimEnd().split("\n").at(-1) ?? "";
  if (ended !== 0) throw new Error(`keys create ended with ${ended}:\n${command.output()}`);
  return {
    url,
    key,
    output: started.output,
    async stop(signal) {
      const code = await started.stop(signal);
      rmSync(dataDir, { recursive: true, force: true });
      return code;
    },
  };
}

/** A server that is not a service; the test chooses its responses. */
export type StandIn = { url: string; stop(): Promise<void>; again(): Promise<void> };

/** `again`: starts it at the same address after a stop. */
export async function startFakeService(listener: RequestListener): Promise<StandIn> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const restart = () => new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${port}`, stop, again: restart };
}

/** Forwards a request to a service over a new connection, since a reused one may be closed at that moment. */
export function forwardRequest(
  serviceUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
  { headers = request.headers, answered }: { headers?: IncomingMessage["headers"]; answered?: (response: IncomingMessage) => void } = {},
): void {
  const forwarded = httpRequest(new URL(request.url ?? "/", serviceUrl), { method: request.method, headers, agent: false });
  forwarded.once("response", answered ?? ((upstream) => upstream.pipe(response.writeHead(upstream.statusCode ?? 502, upstream.headers))));
  // The client may have disconnected meanwhile.
  forwarded.once("error", () => response.destroy());
  request.pipe(forwarded);
}
