// A core-only service: a proxy in front of a real one that responds to every extension with 404.
import { coreOperations } from "@/lib/contract/operations";
import { forwardRequest, startFakeService } from "./service";

const corePatterns = coreOperations.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

export function startCoreOnlyService(serviceUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  return startFakeService((request, response) => {
    const { method } = request;
    const { pathname } = new URL(request.url ?? "/", serviceUrl);
    if (!corePatterns.some((operation) => operation.method === method && operation.pattern.test(pathname)))
      return void response.writeHead(404).end("Not Found");
    // Keep the Host header, so that the service's preview URLs point to this proxy.
    forwardRequest(serviceUrl, request, response);
  });
}
