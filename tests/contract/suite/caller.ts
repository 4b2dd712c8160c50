// Calls an operation of any deployment. Fills in the path, sends the key in its header, limits the time and follows no redirects.
import { fillPath, type Operation } from "@/lib/contract/operation";

export type Send = (request: Request) => Promise<Response>;
export type CallerResponse = { status: number; headers: Headers; text: string; body: unknown };
export type CallInput = {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | boolean>>;
  /** Objects are sent as JSON, and forms, bytes and strings unchanged. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Replaces the caller's key; null sends none. */
  key?: string | null;
};
export type Caller = (operation: Operation, input?: CallInput) => Promise<CallerResponse>;
export type Target = { baseUrl: string; key: string; send: Send; timeoutMs: number };

export function createCaller(target: Target): Caller {
  const base = target.baseUrl.replace(/\/+$/, "");
  return async (operation, { params = {}, query = {}, body, headers = {}, key = target.key } = {}) => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
    const isRaw = body instanceof FormData || body instanceof Uint8Array || typeof body === "string";
    const request = new Request(`${base}${fillPath(operation.path, params)}${search ? `?${search}` : ""}`, {
      method: operation.method,
      headers: {
        ...(key !== null && { "x-api-key": key }),
        ...(body !== undefined && !isRaw && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? toBody(body) : JSON.stringify(body) }),
      redirect: "manual",
      signal: AbortSignal.timeout(target.timeoutMs),
    });
    const response = await target.send(request);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  };
}

function toBody(body: FormData | Uint8Array | string): FormData | Blob | string {
  return body instanceof Uint8Array ? new Blob([new Uint8Array(body)]) : body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
