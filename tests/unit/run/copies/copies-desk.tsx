// The Run page with a scripted service and copies in progress.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ReactNode } from "react";
import { expect } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type Submission } from "@/components/run/submit/submission";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { sampleText } from "../files";
import { createApi, openText } from "../page";
import { renderPage } from "../render";

type SentCopy = { width: unknown; key: string; label?: string; answer: (result: Result<unknown, Failure>) => void };

/** A service whose responses the test chooses one by one. */
export function desk(ports: Partial<RunApi> = {}) {
  const requests: SentCopy[] = [];
  const sendPrompt = (submission: Submission, key: string, copy?: { label?: string }) =>
    new Promise<Result<unknown, Failure>>((resolve) =>
      requests.push({ width: submission.prompt["1"]?.inputs.width, key, ...(copy && { label: copy.label }), answer: resolve }),
    );
  const store = createRunStore();
  const all = createApi(undefined, { sendPrompt, ...ports });
  const show = (at = store, around: (page: ReactNode) => ReactNode = (page) => page) =>
    renderPage(around(<RunScreen canRun memberId="ada" store={at} api={all} />));
  return { sent: requests, show };
}

export async function runCopies(typed: { from: string; to: string; step: string }, press: string, workflow: "new" | "open" = "new") {
  if (workflow === "new") await openText(sampleText("01-invert"));
  fireEvent.click(screen.getAllByRole("button", { name: "Copies" })[0] ?? document.body);
  const dialog = await screen.findByRole("dialog");
  for (const [label, value] of [
    ["From", typed.from],
    ["to", typed.to],
    ["in steps of", typed.step],
  ] as const) {
    fireEvent.change(within(dialog).getByLabelText(label), { target: { value } });
  }
  fireEvent.click(within(dialog).getByRole("button", { name: press }));
}

export const nth = async (requests: SentCopy[], count: number): Promise<SentCopy> => {
  await waitFor(() => expect(requests).toHaveLength(count));
  const last = requests[count - 1];
  if (!last) throw new Error("nothing was sent");
  return last;
};
export const accepted = (id: string) => ok({ prompt_id: id, node_errors: {} });
export const refuse = (status: number, code: string, overrides: Partial<Failure> = {}) =>
  failed({ code, message: "", status, ...overrides });
