// A step of the suite: tests one aspect of one operation with results of earlier steps.
import { asNumber, asText, isObject, type JsonObject } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { type Caller, type CallInput } from "./caller";
import { NotTriedError, parseResponse } from "./verdict";

/** Results of earlier steps. */
export type SuiteState = {
  jobId?: string;
  /** The id of an ended job. */
  endedJobId?: string;
  asset?: JsonObject;
  userFile?: string;
  /** Created by this run. */
  created: { asset?: JsonObject; imageName?: string; maskName?: string; jobId?: string; taskId?: string; userFile?: string };
};

export type SuiteOptions = {
  /** Allows steps that create jobs, assets, tags and files and remove what they can. */
  write: boolean;
  /** Also allows interrupts, which may stop other jobs of the user. */
  interrupt: boolean;
  /** The URL of a small file on a host that the service may download from. */
  sourceUrl?: string;
  /** The time limit for a job or a download of the suite. */
  waitMs: number;
};

export type Tools = {
  call: Caller;
  state: SuiteState;
  options: SuiteOptions;
  /** Calls the operation and parses the response like the contract. */
  request(operation: Operation, input?: CallInput): Promise<unknown>;
};

export type Step = { operation: Operation; writes?: true; run(tools: Tools): Promise<string | void> };

export function createTools(call: Caller, options: SuiteOptions): Tools {
  return {
    call,
    options,
    state: { created: {} },
    request: async (operation, input) => parseResponse(operation, await call(operation, input)),
  };
}

export const LABEL = "lightdesk-conformance";
export const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";
/** Other services may answer "forbidden" for an unknown id. */
export const UNKNOWN_ID_STATUSES = [404, 403, 400] as const;

export function getItems(value: unknown, name: string): JsonObject[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}
export function getField(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
export const getText = (value: unknown, name: string): string | undefined => asText(getField(value, name));
export const getNumber = (value: unknown, name: string): number | undefined => asNumber(getField(value, name));

export function requireValue<T>(value: T | undefined, label: string): T {
  if (value === undefined) throw new NotTriedError(`there is no ${label} to test with`);
  return value;
}

/** Repeats the call until `isDone` returns true, for at most `waitMs`. */
export async function poll(tools: Tools, operation: Operation, input: CallInput, isDone: (value: unknown) => boolean): Promise<unknown> {
  const deadline = Date.now() + tools.options.waitMs;
  for (;;) {
    const value = await tools.request(operation, input);
    if (isDone(value)) return value;
    if (Date.now() > deadline) throw new NotTriedError(`not completed after ${tools.options.waitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
