// OpenTelemetry spans over OTLP. Never pass a key, a prompt, a name, or an address with its query.

import { AsyncLocalStorage } from "node:async_hooks";
import { type SpanContext } from "@opentelemetry/api";
import { withTimeout } from "./async";

type Attributes = Readonly<Record<string, string | number>>;
/** A W3C `traceparent`; null: no parent; undefined: the span that the caller runs within. */
export type Parent = string | null | undefined;
type Begin = { kind: "incoming" | "inside"; parent: Parent; attributes?: Attributes };
type Span = { within<T>(run: () => T): T; end(attributes: Attributes, isFine: boolean): void };

export type Traces = {
  begin(name: string, how: Begin): Span;
  carried(): { traceparent?: string };
  stop(): Promise<void>;
};

const STOP_MS = 3000;
const parentPattern = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;

/** The packages themselves read the target and the sampling from OTEL_… in the environment. */
export async function createTraces(serviceName: string): Promise<Traces> {
  const [api, { BasicTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace-base"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer("lightdesk");
  const current = new AsyncLocalStorage<SpanContext>();
  const kinds = { incoming: api.SpanKind.SERVER, inside: api.SpanKind.INTERNAL };

  function read(traceparent: string) {
    const [, traceId, spanId, flags] = parentPattern.exec(traceparent) ?? [];
    if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
    const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & api.TraceFlags.SAMPLED, isRemote: true };
    return api.isSpanContextValid(found) ? found : undefined;
  }

  return {
    begin(name, { kind, parent, attributes }) {
      const above = typeof parent === "string" ? read(parent) : parent === null ? undefined : current.getStore();
      const context = above ? api.trace.setSpanContext(api.ROOT_CONTEXT, above) : api.ROOT_CONTEXT;
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, context);
      return {
        within: (run) => current.run(span.spanContext(), run),
        end(more, isFine) {
          span.setAttributes(more);
          if (!isFine) span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    carried() {
      const here = current.getStore();
      return here ? { traceparent: `00-${here.traceId}-${here.spanId}-0${here.traceFlags & api.TraceFlags.SAMPLED}` } : {};
    },
    async stop() {
      await withTimeout(
        provider.shutdown().catch(() => undefined),
        STOP_MS,
        () => undefined,
      );
    },
  };
}
