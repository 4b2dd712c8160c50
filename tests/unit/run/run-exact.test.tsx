// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type Submission } from "@/components/run/submit/submission";
import { ok } from "@/lib/shared/result";
import { apiTo, field, openText, pressRun, show } from "./page";
import { renderPage } from "./render";

afterEach(() => {
  cleanup();
  sessionStorage.clear();
});

const seed = "18446744073709551615";
const graph = `{"1": {"class_type": "Noise", "inputs": {"seed": ${seed}, "text": "a fox"}}}`;

function desk() {
  const sent: Submission[] = [];
  const ports = apiTo(undefined, {
    sendPrompt: async (submission) => {
      sent.push(submission);
      return ok({ prompt_id: `job-${sent.length}`, node_errors: {} });
    },
  });
  return { sent, ports };
}

it("a seed of twenty digits is shown, sent and typed with every digit", async () => {
  const { sent, ports } = desk();
  show(ports);
  await openText(graph);
  expect(field("seed").value).toBe(seed);
  fireEvent.change(field("text"), { target: { value: "a blue fox" } });
  pressRun();
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.prompt["1"]?.inputs).toEqual({ seed: 18446744073709551615n, text: "a blue fox" });
  fireEvent.change(field("seed"), { target: { value: "9007199254740993" } });
  await screen.findByRole("link", { name: "Open job job-1" });
  pressRun();
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]?.prompt["1"]?.inputs.seed).toBe(9007199254740993n);
});

it("a reload brings back every digit of what was typed", async () => {
  const { ports } = desk();
  const page = renderPage(<RunScreen canRun memberId="ada" store={createRunStore()} api={ports} />);
  await openText(graph);
  fireEvent.change(field("seed"), { target: { value: "18446744073709551614" } });
  page.unmount();
  renderPage(<RunScreen canRun memberId="ada" store={createRunStore()} api={ports} />);
  expect((await screen.findByRole<HTMLInputElement>("textbox", { name: "seed" })).value).toBe("18446744073709551614");
});

it("what comes from elsewhere is written into a text that somebody typed in", async () => {
  const { ports } = desk();
  const store = createRunStore();
  renderPage(<RunScreen canRun memberId="ada" store={store} api={ports} />);
  await openText(graph);
  fireEvent.change(field("text"), { target: { value: "typed" } });
  const serial = store.get().opened?.serial ?? 0;
  store.edit(serial, { nodeId: "1", name: "text", value: "from elsewhere" });
  await waitFor(() => expect(field("text").value).toBe("from elsewhere"));
});
