// OpenTelemetry spans over OTLP. Never pass keys, prompts, names, or URLs with their query.

import { AsyncLocalStorage } from "node:async_hooks";
import { type SpanContext } from "@opentelemetry/api";
import { withTimeout } from "./async";

type Attributes = Readonly<Record<string, string | number>>;
/** A W3C `traceparent`. Null means no parent, and undefined the caller's current span. */
export type SpanParent = string | null | undefined;
type SpanOptions = { kind: "incoming" | "inside"; parent: SpanParent; attributes?: Attributes };
type Span = { run<T>(run: () => T): T; end(attributes: Attributes, isOk: boolean): void };

export type Traces = {
  startSpan(name: string, options: SpanOptions): Span;
  getOutgoingHeaders(): { traceparent?: string };
  stop(): Promise<void>;
};

const STOP_TIMEOUT_MS = 3000;
const parentPattern = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;

/** The OpenTelemetry packages read endpoint and sampling from the OTEL_… environment variables. */
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
  const currentContext = new AsyncLocalStorage<SpanContext>();
  const kinds = { incoming: api.SpanKind.SERVER, inside: api.SpanKind.INTERNAL };

  function parseTraceparent(traceparent: string) {
    const [, traceId, spanId, flags] = parentPattern.exec(traceparent) ?? [];
    if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
    const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & api.TraceFlags.SAMPLED, isRemote: true };
    return api.isSpanContextValid(spanContext) ? spanContext : undefined;
  }

  return {
    startSpan(name, { kind, parent, attributes }) {
      const parentContext = typeof parent === "string" ? parseTraceparent(parent) : parent === null ? undefined : currentContext.getStore();
      const context = parentContext ? api.trace.setSpanContext(api.ROOT_CONTEXT, parentContext) : api.ROOT_CONTEXT;
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, context);
      return {
        run: (run) => currentContext.run(span.spanContext(), run),
        end(endAttributes, isOk) {
          span.setAttributes(endAttributes);
          if (!isOk) span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    getOutgoingHeaders() {
      const currentSpan = currentContext.getStore();
      return currentSpan
        ? { traceparent: `00-${currentSpan.traceId}-${currentSpan.spanId}-0${currentSpan.traceFlags & api.TraceFlags.SAMPLED}` }
        : {};
    },
    async stop() {
      await withTimeout(
        provider.shutdown().catch(() => undefined),
        STOP_TIMEOUT_MS,
        () => undefined,
      );
    },
  };
}
