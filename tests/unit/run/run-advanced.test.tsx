import { act, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Submission } from "@/components/run/submit/submission";
import { mergeExtraData, parseExtraData } from "@/components/run/workflow/workflow-contents";
import { ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { startPromptServer } from "./prompt-server";
import { createApi, getField, openText, pressRun, type PromptServer, showRunPage } from "./run-page";
import { readSampleText } from "./workflow-fixtures";

describe("advanced run options", () => {
  let service: PromptServer;
  beforeEach(async () => void (service = await startPromptServer()));

  const respond = () => until("a waiting request", () => service.respond({ status: 200, body: { prompt_id: "a" } }));
  const getExtraField = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "extra_data" });

  it("submits extra_data with the run and never stores it", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
    fireEvent.change(getExtraField(), { target: { value: '{"api_key_comfy_org": "very-secret", "extra_pnginfo": {"note": 1}}' } });
    pressRun();
    await respond();
    await screen.findByRole("link", { name: "Open job a" });
    expect(service.submissions[0]?.extra_data).toMatchObject({
      api_key_comfy_org: "very-secret",
      extra_pnginfo: { note: 1, workflow: { name: "Pasted workflow" } },
    });
    window.dispatchEvent(new Event("pagehide"));
    expect(JSON.stringify({ ...sessionStorage }) + JSON.stringify({ ...localStorage })).not.toContain("very-secret");
  });

  it("reports invalid extra_data at its field and submits nothing", async () => {
    showRunPage(createApi(service));
    await openText(readSampleText("01-invert"));
    fireEvent.change(getExtraField(), { target: { value: "{ no" } });
    expect(screen.getByText("This is not valid JSON.")).toBeTruthy();
    pressRun();
    expect(document.activeElement).toBe(getExtraField());
    expect(service.submissions).toHaveLength(0);
  });

  it("runs only the selected outputs", async () => {
    showRunPage(createApi(service));
    const createSaveNode = (images: unknown) => ({ class_type: "SaveImage", inputs: { images } });
    const source = { class_type: "EmptyImage", inputs: { width: 8 } };
    await openText(JSON.stringify({ "1": source, "2": createSaveNode(["1", 0]), "3": createSaveNode(["1", 0]) }));
    const boxes = screen.getAllByRole<HTMLInputElement>("checkbox", { name: /#/, hidden: true });
    expect(boxes).toHaveLength(2);
    for (const box of boxes) fireEvent.click(box);
    expect(screen.getByText("Select at least one output.")).toBeTruthy();
    pressRun();
    expect(service.submissions).toHaveLength(0);
    const [first] = boxes;
    if (first) fireEvent.click(first);
    pressRun();
    await respond();
    expect(service.submissions[0]?.partial_execution_targets).toEqual(["2"]);
  });

  it("selects a range of outputs with Shift click", async () => {
    showRunPage(createApi(service));
    const saves = ["2", "3", "4", "5", "6"].map((id) => [id, { class_type: "SaveImage", inputs: { images: ["1", 0] } }]);
    await openText(JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 8 } }, ...Object.fromEntries(saves) }));
    const getCheckbox = (id: string) => screen.getByRole<HTMLInputElement>("checkbox", { name: `SaveImage #${id}`, hidden: true });
    fireEvent.click(getCheckbox("5"));
    fireEvent.click(getCheckbox("3"), { shiftKey: true });
    expect(saves.map(([id]) => getCheckbox(String(id)).checked)).toEqual([true, false, false, false, true]);
    fireEvent.click(getCheckbox("4"));
    fireEvent.click(getCheckbox("5"), { shiftKey: true });
    pressRun();
    await respond();
    expect(service.submissions[0]?.partial_execution_targets).toEqual(["2", "4", "5", "6"]);
  });

  it("resets the Shift range when another workflow opens", async () => {
    showRunPage(createApi(service));
    const saves = ["2", "3", "4", "5"].map((id) => [id, { class_type: "SaveImage", inputs: { images: ["1", 0] } }]);
    const text = JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 8 } }, ...Object.fromEntries(saves) });
    const getCheckbox = (id: string) => screen.getByRole<HTMLInputElement>("checkbox", { name: `SaveImage #${id}`, hidden: true });
    await openText(text);
    fireEvent.click(getCheckbox("5"));
    await openText(text);
    expect(getCheckbox("5").checked).toBe(true);
    fireEvent.click(getCheckbox("3"), { shiftKey: true });
    expect(saves.map(([id]) => getCheckbox(String(id)).checked)).toEqual([true, false, true, true]);
  });

  it("limits extra_data and merges it with the workflow's", () => {
    expect(parseExtraData("")).toEqual({ ok: true, value: {} });
    expect(parseExtraData("[1]")).toMatchObject({ code: "no_object" });
    expect(parseExtraData(`"${"x".repeat(100_001)}"`)).toMatchObject({ code: "too_large" });
    expect(parseExtraData(`{"a":${"[".repeat(60)}${"]".repeat(60)}}`)).toMatchObject({ code: "too_deep" });
    expect(mergeExtraData({ a: 1, extra_pnginfo: { workflow: { id: "x" } } }, { b: 2, extra_pnginfo: { note: 3 } })).toEqual({
      a: 1,
      b: 2,
      extra_pnginfo: { workflow: { id: "x" }, note: 3 },
    });
  });
});

// Generated values, such as a new seed or the time, are previewed before submitting and submitted as shown.
describe("generated values", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: new Date(2026, 2, 5, 7, 8, 9) });
  });

  const createWorkflowText = (prefix: string) =>
    JSON.stringify({
      "1": { class_type: "Sampler", inputs: { seed: 7, steps: 20 } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: prefix } },
    });

  /** Opens a workflow with a new seed for every run. */
  async function open(prefix: string) {
    const submissions: Submission[] = [];
    showRunPage(createApi({ send: async (submission) => ok({ prompt_id: `job-${submissions.push(submission)}`, node_errors: {} }) }));
    await openText(createWorkflowText(prefix));
    fireEvent.click(screen.getByRole("checkbox", { name: "new seed on every run" }));
    const getSubmittedValues = () =>
      submissions.map(({ prompt }) => [prompt["1"]?.inputs.seed, prompt["2"]?.inputs.filename_prefix].map(String));
    return { getSubmittedValues };
  }
  /** Returns the previews below the seed and below the filename. */
  const readPreviews = () => screen.getAllByText(/^Next run uses: /).map(({ textContent }) => textContent?.replace("Next run uses: ", ""));
  const advanceClock = () => vi.setSystemTime(new Date(2026, 2, 5, 7, 10, 11));

  it("submits the seed and time shown when Run is pressed", async () => {
    const { getSubmittedValues } = await open("%Sampler.seed%-%date:hhmmss%");
    const before = readPreviews();
    expect(before[1]).toBe(`${before[0]}-070809`);
    // Time advances, but the page has not updated yet.
    advanceClock();
    pressRun();
    await screen.findByRole("link", { name: "Open job job-1" });
    expect(getSubmittedValues()).toEqual([before]);
    expect(getField("seed").value).toBe(before[0]);
    const next = readPreviews();
    expect(next[0]).not.toBe(before[0]);
    pressRun();
    await screen.findByRole("link", { name: "Open job job-2" });
    expect(getSubmittedValues()[1]).toEqual(next);
  });

  it("updates the previewed time", async () => {
    await open("%date:hh:mm:ss%");
    expect(readPreviews()[1]).toBe("07:08:09");
    await act(() => vi.advanceTimersByTimeAsync(2_000));
    expect(readPreviews()[1]).toBe("07:08:11");
  });

  it.each([
    ["steps", { From: "20", to: "21", "in steps of": "1" }],
    ["seed", { "Number of copies": "2" }],
  ])("submits the seed and time shown for each copy of %s", async (inputName, fieldValues) => {
    const { getSubmittedValues } = await open("%Sampler.seed%-%date:hhmmss%");
    fireEvent.click(screen.getAllByRole("button", { name: "Copies" })[0] ?? document.body);
    const dialog = await screen.findByRole("dialog");
    fireEvent.change(within(dialog).getByLabelText("Input"), {
      target: { value: within(dialog).getByRole<HTMLOptionElement>("option", { name: new RegExp(`^${inputName} `) }).value },
    });
    for (const [label, value] of Object.entries(fieldValues)) fireEvent.change(within(dialog).getByLabelText(label), { target: { value } });
    const previews = within(dialog)
      .getAllByText(/^#2 filename_prefix: /)
      .map(({ textContent }) => textContent?.replace("#2 filename_prefix: ", ""));
    expect(new Set(previews).size).toBe(2);
    advanceClock();
    fireEvent.click(within(dialog).getByRole("button", { name: "Run 2 copies" }));
    await screen.findByText("2 in the queue");
    expect(getSubmittedValues().map(([, prefix]) => prefix)).toEqual(previews);
    for (const [seed, prefix] of getSubmittedValues()) expect(prefix).toBe(`${seed}-070809`);
  });
});
