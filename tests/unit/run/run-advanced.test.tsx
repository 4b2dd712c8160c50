import { act, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { mergeExtraData, parseExtraData } from "@/components/run/workflow/workflow-contents";
import {
  createAcceptingApi,
  createApi,
  createPromptService,
  getField,
  openText,
  pressRun,
  runJob,
  showRunPage,
  showSample,
} from "./run-page";

describe("advanced run options", () => {
  const getExtraField = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "extra_data" });

  it("submits extra_data with the run and never stores it", async () => {
    const service = createPromptService();
    await showSample(createApi(service));
    fireEvent.change(getExtraField(), { target: { value: '{"api_key_comfy_org": "very-secret", "extra_pnginfo": {"note": 1}}' } });
    await runJob(service, "a");
    expect(service.submissions[0]?.extra_data).toMatchObject({
      api_key_comfy_org: "very-secret",
      extra_pnginfo: { note: 1, workflow: { name: "Pasted workflow" } },
    });
    window.dispatchEvent(new Event("pagehide"));
    expect(JSON.stringify({ ...sessionStorage }) + JSON.stringify({ ...localStorage })).not.toContain("very-secret");
  });

  it("reports invalid extra_data at its field and submits nothing", async () => {
    const { submissions, api } = createAcceptingApi();
    await showSample(api);
    fireEvent.click(screen.getByText("Advanced"));
    const card = getExtraField().closest("details");
    for (const value of ["{", "{}"]) fireEvent.change(getExtraField(), { target: { value } });
    expect(card?.open).toBe(true);
    fireEvent.change(getExtraField(), { target: { value: "{ no" } });
    expect(screen.getByText("This is not valid JSON.")).toBeTruthy();
    pressRun();
    expect(document.activeElement).toBe(getExtraField());
    expect(submissions).toEqual([]);
  });

  const saves = ["2", "3", "4", "5", "6"].map((id) => [id, { class_type: "SaveImage", inputs: { images: ["1", 0] } }]);
  const savesText = JSON.stringify({ "1": { class_type: "EmptyImage", inputs: { width: 8 } }, ...Object.fromEntries(saves) });
  const getCheckboxes = () => screen.getAllByRole<HTMLInputElement>("checkbox", { name: /^SaveImage #/, hidden: true });
  const clickCheckbox = (id: string, options: object = {}) =>
    fireEvent.click(screen.getByRole("checkbox", { name: `SaveImage #${id}`, hidden: true }), options);

  it("runs only the selected outputs, also when selected with Shift click", async () => {
    const { submissions, api } = createAcceptingApi();
    showRunPage(api);
    await openText(savesText);
    clickCheckbox("6");
    clickCheckbox("2", { shiftKey: true });
    expect(getCheckboxes().map(({ checked }) => checked)).toEqual(Array(5).fill(false));
    expect(screen.getByText("Select at least one output.")).toBeTruthy();
    pressRun();
    expect(submissions).toEqual([]);
    clickCheckbox("4");
    clickCheckbox("6", { shiftKey: true });
    pressRun();
    await screen.findByRole("link", { name: "Open job job-1" });
    expect(submissions[0]?.partial_execution_targets).toEqual(["4", "5", "6"]);
  });

  it("resets the Shift range when another workflow opens", async () => {
    showRunPage(createApi(undefined));
    await openText(savesText);
    clickCheckbox("5");
    await openText(savesText);
    clickCheckbox("3", { shiftKey: true });
    expect(getCheckboxes().map(({ checked }) => checked)).toEqual([true, false, true, true, true]);
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

  /** Opens a workflow with a new seed for every run. */
  async function open() {
    const { submissions, api } = createAcceptingApi();
    showRunPage(api);
    await openText(
      JSON.stringify({
        "1": { class_type: "Sampler", inputs: { seed: 7, steps: 20 } },
        "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "%Sampler.seed%-%date:hhmmss%" } },
      }),
    );
    fireEvent.click(screen.getByRole("checkbox", { name: "new seed on every run" }));
    return () => submissions.map(({ prompt }) => [prompt["1"]?.inputs.seed, prompt["2"]?.inputs.filename_prefix].map(String));
  }
  /** Returns the previews below the seed and below the filename. */
  const readPreviews = () => screen.getAllByText(/^Next run uses: /).map(({ textContent }) => textContent?.replace("Next run uses: ", ""));
  const advanceClock = () => vi.setSystemTime(new Date(2026, 2, 5, 7, 10, 11));

  it("updates the previewed time and submits what is shown when Run is pressed", async () => {
    const getSubmittedValues = await open();
    expect(readPreviews()[1]).toBe(`${readPreviews()[0]}-070809`);
    await act(() => vi.advanceTimersByTimeAsync(2_000));
    const before = readPreviews();
    expect(before[1]).toBe(`${before[0]}-070811`);
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

  it.each([
    ["steps", { From: "20", to: "21", "in steps of": "1" }],
    ["seed", { "Number of copies": "2" }],
  ])("submits the seed and time shown for each copy of %s", async (inputName, fieldValues) => {
    const getSubmittedValues = await open();
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
