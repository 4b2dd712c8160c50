// Renders the Run page with a scripted service for the copies tests.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { expect } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type Submission } from "@/components/run/submit/submission";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { renderPage } from "../render";
import { createApi, openText } from "../run-page";
import { readSampleText } from "../workflow-fixtures";

type CopyRequest = { width: unknown; key: string; label?: string; respond: (result: Result<unknown, Failure>) => void };

/** Records every submitted copy. Each request waits until the test calls its `respond`. */
export function createCopiesPage(ports: Partial<RunApi> = {}) {
  const requests: CopyRequest[] = [];
  const sendPrompt = (submission: Submission, key: string, copy?: { label?: string }) =>
    new Promise<Result<unknown, Failure>>((resolve) =>
      requests.push({ width: submission.prompt["1"]?.inputs.width, key, ...(copy && { label: copy.label }), respond: resolve }),
    );
  const store = createRunStore();
  const api = createApi(undefined, { sendPrompt, ...ports });
  const show = (runStore = store, wrapPage: (page: ReactNode) => ReactNode = (page) => page) =>
    renderPage(wrapPage(<RunScreen canRun memberId="ada" store={runStore} api={api} />));
  return { requests, show };
}

export async function runCopies(range: { from: string; to: string; step: string }, buttonLabel: string, workflow: "new" | "open" = "new") {
  if (workflow === "new") await openText(readSampleText("01-invert"));
  fireEvent.click(screen.getAllByRole("button", { name: "Copies" })[0] ?? document.body);
  const dialog = await screen.findByRole("dialog");
  for (const [label, value] of [
    ["From", range.from],
    ["to", range.to],
    ["in steps of", range.step],
  ] as const) {
    fireEvent.change(within(dialog).getByLabelText(label), { target: { value } });
  }
  fireEvent.click(within(dialog).getByRole("button", { name: buttonLabel }));
}

export const waitForRequest = async (requests: CopyRequest[], count: number): Promise<CopyRequest> => {
  await waitFor(() => expect(requests).toHaveLength(count));
  const last = requests[count - 1];
  if (!last) throw new Error(`Copy ${count} was not submitted.`);
  return last;
};
export const createAccepted = (id: string) => ok({ prompt_id: id, node_errors: {} });
export const createRefusal = (status: number, code: string, overrides: Partial<Failure> = {}) =>
  failed({ code, message: "", status, ...overrides });
