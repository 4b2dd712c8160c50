// Renders the Run page with a scripted service for the copies tests.
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { expect } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { renderPage } from "../render";
import { createApi, openText } from "../run-page";
import { readSampleText } from "../workflow-fixtures";

type CopyRequest = { width: unknown; key: string; label?: string; batchId?: string; resolve: (result: Result<unknown, Failure>) => void };

/** Records every submitted copy. Each request waits until the test responds to it. */
export function createCopiesPage(overrides: Partial<RunApi> = {}) {
  const requests: CopyRequest[] = [];
  const sendPrompt: RunApi["sendPrompt"] = (submission, key, copy) =>
    new Promise((resolve) =>
      requests.push({ width: submission.prompt["1"]?.inputs.width, key, label: copy?.label, batchId: copy?.batch?.id, resolve }),
    );
  const store = createRunStore();
  const api = createApi(undefined, { sendPrompt, ...overrides });
  let respondedCount = 0;
  /** Responds to the oldest waiting request. */
  async function respond(result: Result<unknown, Failure>) {
    const request = await waitForRequest(requests, ++respondedCount);
    await act(async () => request.resolve(result));
  }
  return {
    requests,
    show: (runStore = store, wrapPage: (page: ReactNode) => ReactNode = (page) => page) =>
      renderPage(wrapPage(<RunScreen canRun memberId="ada" store={runStore} api={api} />)),
    accept: (id: string) => respond(ok({ prompt_id: id, node_errors: {} })),
    refuse: (status: number, code: string, details: Partial<Failure> = {}) => respond(failed({ code, message: "", status, ...details })),
  };
}

/** Runs copies with the widths from 1 to `count`. */
export async function runCopies(count: number, workflow: "new" | "open" = "new", buttonLabel = `Run ${count} copies`) {
  if (workflow === "new") await openText(readSampleText("01-invert"));
  fireEvent.click(screen.getAllByRole("button", { name: "Copies" })[0] ?? document.body);
  const dialog = await screen.findByRole("dialog");
  for (const [label, value] of Object.entries({ From: "1", to: String(count), "in steps of": "1" }))
    fireEvent.change(within(dialog).getByLabelText(label), { target: { value } });
  fireEvent.click(within(dialog).getByRole("button", { name: buttonLabel }));
}

export async function waitForRequest(requests: readonly CopyRequest[], count: number): Promise<CopyRequest> {
  await waitFor(() => expect(requests).toHaveLength(count));
  const last = requests[count - 1];
  if (!last) throw new Error(`Copy ${count} was not submitted.`);
  return last;
}
