// A local receiver of OpenTelemetry spans: OTLP as JSON over HTTP.
import { openTestServer } from "./servers";

export type Span = { name: string; traceId: string; spanId: string; parentSpanId: string | undefined; attributes: Record<string, unknown> };
type TraceExport = { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
type SentSpan = Omit<Span, "attributes"> & { attributes: { key: string; value: Record<string, unknown> }[] };

export async function startSpanReceiver() {
  const server = await openTestServer((_request, response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  const getTexts = () => server.requests.map(({ body }) => body.toString("utf8"));
  return {
    /** The settings that send spans to this receiver soon after they end. */
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: server.url, OTEL_BSP_SCHEDULE_DELAY: "100" },
    getTexts,
    getSpans: (): Span[] =>
      getTexts().flatMap((text) => {
        const { resourceSpans }: TraceExport = JSON.parse(text);
        const sentSpans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
        return sentSpans.map(({ attributes, ...span }) => ({
          ...span,
          attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
        }));
      }),
  };
}
