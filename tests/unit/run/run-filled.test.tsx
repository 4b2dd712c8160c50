// @vitest-environment jsdom
// Values filled in on sending (a new seed, the time, values of other nodes) are shown before they are sent, and sent as shown.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Submission } from "@/components/run/submit/submission";
import { ok } from "@/lib/shared/result";
import { apiTo, field, openText, pressRun, show } from "./page";

beforeEach(() => {
  // jsdom has the element without its methods.
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: new Date(2026, 2, 5, 7, 8, 9) });
});
afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
  vi.useRealTimers();
});

const workflow = (prefix: string) =>
  JSON.stringify({
    "1": { class_type: "Sampler", inputs: { seed: 7, steps: 20 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: prefix } },
  });

/** Opens a workflow whose seed is new for every run. */
async function open(prefix: string) {
  const sent: Submission[] = [];
  show(apiTo({ send: async (submission) => ok({ prompt_id: `job-${sent.push(submission)}`, node_errors: {} }) }));
  await openText(workflow(prefix));
  fireEvent.click(screen.getByRole("checkbox", { name: "new seed on every run" }));
  const sentAs = () => sent.map(({ prompt }) => [prompt["1"]?.inputs.seed, prompt["2"]?.inputs.filename_prefix].map(String));
  return { sentAs };
}
/** Shown below the seed and below the file name. */
const shown = () => screen.getAllByText(/^Next run sends: /).map(({ textContent }) => textContent?.replace("Next run sends: ", ""));
const later = () => vi.setSystemTime(new Date(2026, 2, 5, 7, 10, 11));

it("a run sends the seed and the time that stand there when it is pressed", async () => {
  const { sentAs } = await open("%Sampler.seed%-%date:hhmmss%");
  const before = shown();
  expect(before[1]).toBe(`${before[0]}-070809`);
  // Time goes on, but the page has not updated yet.
  later();
  pressRun();
  await screen.findByRole("link", { name: "Open job job-1" });
  expect(sentAs()).toEqual([before]);
  expect(field("seed").value).toBe(before[0]);
  const next = shown();
  expect(next[0]).not.toBe(before[0]);
  pressRun();
  await screen.findByRole("link", { name: "Open job job-2" });
  expect(sentAs()[1]).toEqual(next);
});

it("the time that is shown goes on", async () => {
  await open("%date:hh:mm:ss%");
  expect(shown()[1]).toBe("07:08:09");
  await act(() => vi.advanceTimersByTimeAsync(2_000));
  expect(shown()[1]).toBe("07:08:11");
});

it.each([
  ["steps", { From: "20", to: "21", "in steps of": "1" }],
  ["seed", { "How many": "2" }],
])("each copy of %s sends the seed and the time that stand beside it", async (varied, typed) => {
  const { sentAs } = await open("%Sampler.seed%-%date:hhmmss%");
  fireEvent.click(screen.getAllByRole("button", { name: "Copies" })[0] ?? document.body);
  const dialog = await screen.findByRole("dialog");
  fireEvent.change(within(dialog).getByLabelText("Input"), {
    target: { value: within(dialog).getByRole<HTMLOptionElement>("option", { name: new RegExp(`^${varied} `) }).value },
  });
  for (const [label, value] of Object.entries(typed)) fireEvent.change(within(dialog).getByLabelText(label), { target: { value } });
  const filled = within(dialog)
    .getAllByText(/^#2 filename_prefix: /)
    .map(({ textContent }) => textContent?.replace("#2 filename_prefix: ", ""));
  expect(new Set(filled).size).toBe(2);
  later();
  fireEvent.click(within(dialog).getByRole("button", { name: "Run 2 copies" }));
  await screen.findByText("2 in the queue");
  expect(sentAs().map(([, prefix]) => prefix)).toEqual(filled);
  for (const [seed, prefix] of sentAs()) expect(prefix).toBe(`${seed}-070809`);
});
