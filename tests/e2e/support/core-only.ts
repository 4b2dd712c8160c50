// A core-only service: a real one behind a gate that answers 404 to every extension.
import { coreOperations } from "@/lib/contract/operations";
import { forwardRequest, startFakeService } from "./service";

const core = coreOperations.map(({ method, path }) => ({ method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`) }));

export function startCoreOnly(serviceUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  return startFakeService((request, response) => {
    const { method } = request;
    const { pathname } = new URL(request.url ?? "/", serviceUrl);
    if (!core.some((each) => each.method === method && each.pattern.test(pathname))) return void response.writeHead(404).end("Not Found");
    // Keeps the Host header, so that the service's preview URLs point to this gate.
    forwardRequest(serviceUrl, request, response);
  });
}
