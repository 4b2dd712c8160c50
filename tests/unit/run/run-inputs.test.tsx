import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { checkGraph, findOutputNodes } from "@/components/run/form/checks";
import { drawRandomSeed } from "@/components/run/form/form-model";
import { type Graph } from "@/lib/contract/schemas/graph";
import { ok } from "@/lib/shared/result";
import { createAcceptingApi, createApi, getField, openText, pressRun, showRunPage, showSample } from "./run-page";
import { readCatalogueFixture, readSampleGraph } from "./workflow-fixtures";

beforeEach(() => {
  // jsdom creates no object URLs.
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:x", revokeObjectURL: () => undefined }));
});

const sampler: Graph = {
  "1": { class_type: "Sampler", inputs: { seed: 7, steps: 20, api_key: "[REDACTED]" } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0] } },
};
const maskedText = JSON.stringify(sampler);
const unmaskedText = maskedText.replace("[REDACTED]", "mine");
const createLoaderText = (...ids: string[]) =>
  JSON.stringify(
    Object.fromEntries(
      ids.flatMap((id) => [
        [id, { class_type: "LoadImage", inputs: { image: "photo.png" } }],
        [`${id}0`, { class_type: "SaveImage", inputs: { images: [id, 0], filename_prefix: "x" } }],
      ]),
    ),
  );

it("pastes a picture into the focused image input, or opens it as a file", async () => {
  showRunPage(createApi(undefined, { sendPicture: async ({ name }) => ok({ name }), decode: async () => undefined }));
  await openText(createLoaderText("1", "5"));
  const getNameFields = () => screen.getAllByRole<HTMLInputElement>("textbox", { name: "Image name" });
  const paste = async (target: Element | undefined, name: string, text = "") => {
    const files = [new File(["x"], name, { type: "image/png" })];
    await act(async () => void fireEvent.paste(target ?? document.body, { clipboardData: { files, getData: () => text } }));
  };
  for (const [getTarget, name] of [
    [() => screen.getAllByRole("button", { name: "Replace" })[1], "on-replace.png"],
    [() => getNameFields()[1], "on-name.png"],
    [() => screen.getAllByRole("img", { name: /^Image of/ })[1], "on-picture.png"],
  ] as const) {
    await paste(getTarget(), name);
    expect(getNameFields().map(({ value }) => value)).toEqual(["photo.png", name]);
  }
  expect(screen.queryByRole("alert")).toBeNull();
  await paste(getNameFields()[0], "ignored.png", "photo.png");
  expect(getNameFields().map(({ value }) => value)).toEqual(["photo.png", "on-picture.png"]);
  await paste(undefined, "pasted.png");
  expect((await screen.findByRole("alert")).textContent).toContain("pasted.png was not opened");
});

describe("checks before submitting", () => {
  it("report a masked value at its field and block Run", async () => {
    const { submissions, api } = createAcceptingApi();
    showRunPage(api);
    await openText(maskedText);
    expect(getField("api_key").value).toBe("");
    expect(getField("api_key").placeholder).toBe("Masked: enter it again");
    pressRun();
    expect((await screen.findByRole("alert")).textContent).toContain("Enter the masked values again");
    expect(document.activeElement).toBe(getField("api_key"));
    expect(submissions).toEqual([]);
    fireEvent.change(getField("api_key"), { target: { value: "mine" } });
    pressRun();
    await screen.findByRole("link", { name: "Open job job-1" });
    expect(submissions[0]?.prompt["1"]?.inputs.api_key).toBe("mine");
  });

  it("find outputs by the catalogue, or by nodes without outgoing links", () => {
    const info = readCatalogueFixture();
    const emptyImage = { class_type: "EmptyImage", inputs: {} };
    expect(findOutputNodes(sampler, undefined)).toEqual(["2"]);
    expect(findOutputNodes({ ...sampler, "3": emptyImage }, info)).toEqual(["2"]);
    expect(checkGraph(readSampleGraph("01-invert"), info)).toBeUndefined();
    expect(checkGraph({ "1": emptyImage }, info)).toMatchObject({ code: "prompt_no_outputs" });
  });
});

describe("a seed", () => {
  it("is randomised on demand or for every run, remembered per workflow", async () => {
    const { submissions, api } = createAcceptingApi();
    showRunPage(api);
    await openText(unmaskedText);
    fireEvent.click(screen.getByRole("button", { name: "Randomise seed" }));
    expect(getField("seed").value).not.toBe("7");
    fireEvent.click(screen.getByRole("checkbox", { name: "new seed on every run" }));
    cleanup();
    sessionStorage.clear();
    showRunPage(api);
    await openText(unmaskedText);
    for (const id of ["job-1", "job-2"]) {
      pressRun();
      await screen.findByRole("link", { name: `Open job ${id}` });
    }
    const seeds = submissions.map(({ prompt }) => prompt["1"]?.inputs.seed);
    expect(new Set([7, ...seeds]).size).toBe(3);
    expect(getField("seed").value).toBe(String(seeds[1]));
  });

  it("is exact and within the service's range", () => {
    const createSeedControl = (max?: number) => ({ kind: "number", integer: true, ...(max !== undefined && { max }) }) as const;
    expect(drawRandomSeed(createSeedControl(10), () => 0.999)).toBe(10);
    expect(drawRandomSeed(createSeedControl(2 ** 64), () => 0.999999)).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
    expect(Number.isInteger(drawRandomSeed(createSeedControl(), () => 0.5))).toBe(true);
  });
});

it("clears a pinned picture's upload error when a workflow is opened", async () => {
  showRunPage(createApi(undefined, { decode: async () => undefined }));
  await openText(createLoaderText("1"));
  fireEvent.click(screen.getByRole("button", { name: "Pin image of LoadImage to the top" }));
  const file = new File(["x"], "mine.png", { type: "image/png" });
  await act(async () => void fireEvent.change(screen.getByTestId("picture-file"), { target: { files: [file] } }));
  await screen.findByText(/^Couldn't upload mine.png/);
  await openText(createLoaderText("1"));
  expect(screen.queryByText(/Couldn't upload/)).toBeNull();
});

it("shows a pinned input first, also after reopening", async () => {
  const { submissions, api } = createAcceptingApi();
  showRunPage(api);
  await openText(unmaskedText);
  fireEvent.click(screen.getByRole("button", { name: "Pin steps of Sampler to the top" }));
  cleanup();
  sessionStorage.clear();
  showRunPage(api);
  await openText(unmaskedText);
  const pinned = within(screen.getByRole("region", { name: "Pinned" }));
  expect(screen.getAllByDisplayValue("20")).toHaveLength(1);
  fireEvent.change(pinned.getByDisplayValue("20"), { target: { value: "30" } });
  pressRun();
  await screen.findByRole("link", { name: "Open job job-1" });
  expect(submissions[0]?.prompt["1"]?.inputs.steps).toBe(30);
  fireEvent.click(screen.getByRole("button", { name: "Unpin steps of Sampler" }));
  expect(screen.queryByRole("region", { name: "Pinned" })).toBeNull();
});

it("keeps the typed text of an invalid number and shows a colour", async () => {
  const { submissions, api } = createAcceptingApi();
  await showSample(api);
  const width = getField("width");
  for (const text of ["1", "1.", "1.5", "", "abc"]) {
    fireEvent.change(width, { target: { value: text } });
    expect(width.value).toBe(text);
  }
  const swatch = screen.getByLabelText<HTMLInputElement>("color as a colour");
  expect(swatch.value).toBe("#3366cc");
  fireEvent.change(swatch, { target: { value: "#ff0000" } });
  expect(getField("color").value).toBe("16711680");
  pressRun();
  await screen.findByRole("link", { name: "Open job job-1" });
  expect(submissions[0]?.prompt["1"]?.inputs).toMatchObject({ width: "abc", color: 16711680 });
});

it("shows and hides the graph next to the form on demand", async () => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  await showSample(createApi(undefined));
  fireEvent.click(screen.getByRole("button", { name: "Graph" }));
  expect(await screen.findByRole("searchbox")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Graph" }));
  expect(screen.queryByRole("searchbox")).toBeNull();
});
