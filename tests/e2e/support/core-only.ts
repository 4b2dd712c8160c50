// A service that has the core of the interface and nothing else: a real one behind a door that answers 404 to every extension.
import { coreOperations } from "@/lib/contract/operations";
import { passOn, startStandIn } from "./service";

const core = coreOperations.map(({ method, path }) => ({ method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`) }));

export function startCoreOnly(serviceUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  return startStandIn((request, response) => {
    const { method } = request;
    const { pathname } = new URL(request.url ?? "/", serviceUrl);
    if (!core.some((each) => each.method === method && each.pattern.test(pathname))) return void response.writeHead(404).end("Not Found");
    // The host as it was asked for: the addresses of previews that the service names are those of this door, and not of the one behind it.
    passOn(serviceUrl, request, response);
  });
}
