// Health and metrics. They respond before all other routes and without the database. Reasons require the metrics token or another permission.
import { createHash, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createYieldQueue } from "@/lib/shared/async";
import { type ErrorResponse } from "@/lib/shared/http-types";
import { type Readiness } from "@/lib/shared/readiness";
import { getTelemetry } from "@/lib/shared/telemetry";
import { sendErrorResponse } from "./error-responses";

type OperatorOptions = {
  token: string | undefined;
  getReadiness(): Readiness | undefined;
  canSeeReasons?(request: IncomingMessage): Promise<boolean>;
};
type OperatorResponse = { status: number; type: string; body: string };

const notFoundError: ErrorResponse = { status: 404, code: "NOT_FOUND", message: "There is nothing at this address." };
const methodNotAllowedError: ErrorResponse = {
  status: 405,
  code: "METHOD_NOT_ALLOWED",
  message: "Only GET and HEAD are allowed here.",
  headers: { allow: "GET, HEAD" },
};
const internalError: ErrorResponse = { status: 500, code: "INTERNAL", message: "Internal error. See the log." };
const unauthorizedError: ErrorResponse = {
  status: 401,
  code: "UNAUTHORIZED",
  message: "The metrics token is required: Authorization: Bearer TOKEN.",
  headers: { "www-authenticate": 'Bearer realm="metrics"' },
};

export const operatorPaths = ["/api/health/live", "/api/health/ready", "/api/metrics"] as const;

export function createOperatorRoutes({
  token,
  getReadiness,
  canSeeReasons,
}: OperatorOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  const getStates = async () => (await getReadiness()?.()) ?? [{ part: "start", ready: false, reason: "It is starting." }];
  getTelemetry().metrics?.registerGauge(
    "lightdesk_ready",
    async () => new Map((await getStates()).map(({ part, ready }) => [part, ready ? 1 : 0])),
  );

  const handlers: Record<(typeof operatorPaths)[number], (request: IncomingMessage) => Promise<OperatorResponse | ErrorResponse>> = {
    "/api/health/live": async () => toJsonResponse(200, { status: "alive" }),
    async "/api/health/ready"(request) {
      const parts = await getStates();
      const isReady = parts.every(({ ready }) => ready);
      const canSeeParts = hasToken(request, token) || (await canSeeReasons?.(request).catch(() => false));
      return toJsonResponse(isReady ? 200 : 503, { status: isReady ? "ready" : "not ready", ...(canSeeParts && { parts }) });
    },
    async "/api/metrics"(request) {
      const { metrics } = getTelemetry();
      if (token === undefined || !metrics) return notFoundError;
      if (!hasToken(request, token)) return unauthorizedError;
      return { status: 200, ...(await metrics.getText()) };
    },
  };

  // Monitoring routes aren't rate limited. One request per event loop turn keeps pages responsive during a flood.
  const yieldToEventLoop = createYieldQueue();
  return (request, response) => {
    const path = request.url?.split(/[?#]/)[0];
    const operatorPath = operatorPaths.find((operatorPath) => operatorPath === path);
    if (!operatorPath) return false;
    const send = (outcome: OperatorResponse | ErrorResponse) =>
      "code" in outcome ? sendErrorResponse(request, response, outcome) : writeResponse(request, response, outcome);
    if (request.method !== "GET" && request.method !== "HEAD") send(methodNotAllowedError);
    else
      yieldToEventLoop()
        .then(() => handlers[operatorPath](request))
        .then(send, (error: unknown) => {
          process.stderr.write(`request failed: ${operatorPath}: ${error instanceof Error ? error.message : String(error)}\n`);
          send(internalError);
        });
    return true;
  };
}

function toJsonResponse(status: number, value: unknown): OperatorResponse {
  return { status, type: "application/json", body: writeExactJson(value) };
}

function writeResponse({ method }: IncomingMessage, response: ServerResponse, { status, type, body }: OperatorResponse): void {
  response
    .writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body), "cache-control": "no-store" })
    .end(method === "HEAD" ? undefined : body);
}

/** Compares hashes of equal length, so that the duration reveals nothing about the token. */
function hasToken({ headers }: IncomingMessage, token: string | undefined): boolean {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  if (token === undefined || bearer === undefined) return false;
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(bearer), hash(token));
}
