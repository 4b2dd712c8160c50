// Each request for metrics and traces: method, route, status and time, but nothing of its content.
// Guarantees: if both are off, a request is handed on as it is.
import { type IncomingMessage, type ServerResponse } from "node:http";
import { telemetry } from "@/lib/shared/telemetry";
import { type NameRequest } from "./route-methods";

type Observe = (request: IncomingMessage, response: ServerResponse, answer: () => void) => void;
/** The status that proxies log for a client that left before the answer. */
const WENT_AWAY = 499;

export function createRequestObserver(nameOf: NameRequest | undefined): Observe {
  const { metrics, traces } = telemetry();
  if (!nameOf || (!metrics && !traces)) return (_request, _response, answer) => answer();
  let inProgress = 0;
  metrics?.read("lightdesk_http_requests_in_progress", () => inProgress);
  return (request, response, answer) => {
    const { method, route } = nameOf(request);
    const begun = performance.now();
    const { traceparent } = request.headers;
    const span = traces?.begin(`${method} ${route}`, {
      kind: "incoming",
      parent: typeof traceparent === "string" ? traceparent : null,
      attributes: { "http.request.method": method, "http.route": route },
    });
    inProgress += 1;
    response.once("close", () => {
      inProgress -= 1;
      const status = response.headersSent ? response.statusCode : WENT_AWAY;
      metrics?.count("lightdesk_http_requests_total", { method, route, status: String(status) });
      metrics?.observe("lightdesk_http_request_duration_seconds", { route }, (performance.now() - begun) / 1000);
      span?.end({ "http.response.status_code": status }, status < 500);
    });
    return span ? span.within(answer) : answer();
  };
}
