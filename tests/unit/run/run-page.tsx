// Renders the Run page without a network and interacts with it.
import { File } from "node:buffer";
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { type ComponentProps } from "react";
import { vi } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type Submission } from "@/components/run/submit/submission";
import { type ByteSource } from "@/lib/browser/files/byte-source";
import { parseFailureResponse } from "@/lib/browser/parse-response";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { renderPage } from "./render";
import { readSampleText } from "./workflow-fixtures";

const unreachable = { code: "CONSOLE_UNREACHABLE", message: "", status: 0 };

/** Creates an API that fails every request except those that the test overrides. */
export function createApi(service: Pick<PromptService, "send"> | undefined, overrides: Partial<RunApi> = {}): RunApi {
  return {
    sendPrompt: service?.send ?? (async () => failed(unreachable)),
    reportSubmission: async () => failed(unreachable),
    listRecentJobs: async () => failed(unreachable),
    sendPicture: async () => failed({ code: "INTERNAL", message: "", status: 500 }),
    loadSample: async (name) => ok(readSampleText(name)),
    readJob: async () => failed(unreachable),
    readStored: async () => failed(unreachable),
    readFile: async () => failed(unreachable),
    readCatalogue: async () => failed(unreachable),
    listStored: async () => failed(unreachable),
    readApp: async () => failed(unreachable),
    readAsset: async () => failed(unreachable),
    listAssets: async () => failed(unreachable),
    findStoredName: async () => undefined,
    ...overrides,
  };
}

export type PromptService = ReturnType<typeof createPromptService>;

/** Records submissions. Each waits until the test responds to it. */
export function createPromptService() {
  const submissions: Submission[] = [];
  const keys: string[] = [];
  const pendingReplies: ((result: Result<unknown, Failure>) => void)[] = [];
  const send: RunApi["sendPrompt"] = (submission, key) => {
    keys.push(key);
    const sentSubmission: Submission = JSON.parse(JSON.stringify(submission));
    submissions.push(sentSubmission);
    return new Promise((resolve) => pendingReplies.push(resolve));
  };
  /** Responds to the oldest waiting submission. */
  async function reply(result: Result<unknown, Failure>) {
    const resolve = await until("a waiting submission", () => pendingReplies.shift());
    await act(async () => resolve(result));
  }
  return {
    send,
    submissions,
    /** The idempotency key of each submission, in order. */
    keys,
    accept: (id: string) => reply(ok({ prompt_id: id, number: 1, node_errors: {} })),
    refuse: (status: number, body: object) => reply(failed(parseFailureResponse(status, null, JSON.stringify(body)))),
    disconnect: () => reply(failed(unreachable)),
  };
}

/** Creates an API that records submissions and accepts them as job-1, job-2 and so on. */
export function createAcceptingApi(overrides: Partial<RunApi> = {}) {
  const submissions: Submission[] = [];
  const sendPrompt: RunApi["sendPrompt"] = async (submission) => ok({ prompt_id: `job-${submissions.push(submission)}`, node_errors: {} });
  return { submissions, api: createApi(undefined, { sendPrompt, ...overrides }) };
}

export function showRunPage(api: RunApi, props: Partial<ComponentProps<typeof RunScreen>> = {}) {
  return renderPage(<RunScreen canRun memberId="ada" store={createRunStore()} api={api} {...props} />);
}

export async function openText(text: string) {
  fireEvent.paste(document.body, { clipboardData: { files: [], getData: () => text } });
  await screen.findAllByRole("button", { name: "Run" });
}

export async function showSample(api: RunApi, name = "01-invert", props?: Partial<ComponentProps<typeof RunScreen>>) {
  const page = showRunPage(api, props);
  await openText(readSampleText(name));
  return page;
}

/** Closes the page and shows it again with a new store. */
export function reloadPage(api: RunApi, props?: Partial<ComponentProps<typeof RunScreen>>) {
  window.dispatchEvent(new Event("pagehide"));
  cleanup();
  showRunPage(api, props);
}

export async function dropFile(name: string, content: string | Uint8Array, type = "application/json", target: Element | Window = window) {
  const file = new File([content], name, { type });
  await act(async () => void fireEvent.drop(target, { dataTransfer: { types: ["Files"], files: [file] } }));
}

/** Creates the content of a stored file. */
export function createByteSource(content: string | Uint8Array): ByteSource {
  const bytes = new Uint8Array(Buffer.from(content));
  return { size: bytes.length, read: async (from, to) => bytes.slice(from, to), text: async () => new TextDecoder().decode(bytes) };
}

/** Stubs the console: only the node list exists. */
export function stubNodeList(respond: () => Response | Promise<Response>) {
  vi.stubGlobal("fetch", async (path: unknown) =>
    String(path).includes("object_info") ? respond() : Response.json({ code: "NOT_FOUND" }, { status: 404 }),
  );
}

export const getField = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });
export const getDescription = (element: Element | undefined) =>
  document.getElementById(element?.getAttribute("aria-describedby") ?? "")?.textContent;
// The page has two Run buttons: in the header and at the bottom of narrow screens.
export const getRunButton = () => screen.getAllByRole("button", { name: "Run" })[0] ?? document.body;
export const pressRun = () => fireEvent.click(getRunButton());

/** Runs the open workflow, which the service accepts with this job id. */
export async function runJob(service: PromptService, id: string) {
  pressRun();
  await service.accept(id);
  await screen.findByRole("link", { name: `Open job ${id}` });
}
