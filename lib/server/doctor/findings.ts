// The doctor's findings, and its requests to a running console.

import "server-only";
import { INSTALLATION_HEADER, parseSeenRequest, SEEN_REQUEST_HEADER, type SeenRequest } from "../installation";

export type Finding = {
  check: string;
  /** `noted`: works, but the operator should know. */
  state: "passed" | "noted" | "failed";
  text: string;
  remedy?: string;
};

export const pass = (check: string, text: string): Finding => ({ check, state: "passed", text });
export const warn = (check: string, text: string, remedy?: string): Finding => ({ check, state: "noted", text, remedy });
export const failed = (check: string, text: string, remedy: string): Finding => ({ check, state: "failed", text, remedy });

export async function runSafely(check: string, runCheck: () => Finding | Promise<Finding>, remedy = "Fix the cause."): Promise<Finding> {
  try {
    return await runCheck();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return failed(check, text.endsWith(".") ? text : `${text}.`, remedy);
  }
}

export function formatBytes(bytes: number): string {
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MiB` : `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

const REQUEST_TIMEOUT_MS = 5000;

export type HealthResponse = {
  status: number;
  installation: string | null;
  date: string | null;
  location: string | null;
  seenRequest: SeenRequest | undefined;
};

export async function probeUrl(url: string, headers: Record<string, string> = {}): Promise<HealthResponse | undefined> {
  try {
    const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    await response.body?.cancel();
    const getHeader = (name: string) => response.headers.get(name);
    return {
      status: response.status,
      installation: getHeader(INSTALLATION_HEADER),
      date: getHeader("date"),
      location: getHeader("location"),
      seenRequest: parseSeenRequest(getHeader(SEEN_REQUEST_HEADER)),
    };
  } catch {
    return undefined; // reported as no response
  }
}
