import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { checkGraph, findOutputNodes } from "@/components/run/form/checks";
import { drawRandomSeed } from "@/components/run/form/form-model";
import { type Graph } from "@/lib/contract/schemas/graph";
import { ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { startPromptServer } from "./prompt-server";
import { createApi, getField, openText, pressRun, type PromptServer, showRunPage } from "./run-page";
import { readCatalogueFixture, readSampleGraph, readSampleText } from "./workflow-fixtures";

describe("run inputs", () => {
  let service: PromptServer;
  beforeEach(async () => {
    // jsdom creates no object URLs.
    vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:x", revokeObjectURL: () => undefined }));
    service = await startPromptServer();
  });

  const sampler: Graph = {
    "1": { class_type: "Sampler", inputs: { seed: 7, steps: 20, api_key: "[REDACTED]" } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0] } },
  };
  const maskedText = JSON.stringify(sampler);
  const unmaskedText = maskedText.replace("[REDACTED]", "mine");
  const respond = (id: string) => until("a waiting request", () => service.respond({ status: 200, body: { prompt_id: id } }));

  describe("pasting a picture", () => {
    const twoLoaderGraph = Object.fromEntries(
      ["1", "5"].flatMap((id) => [
        [id, { class_type: "LoadImage", inputs: { image: "photo.png" } }],
        [`${id}0`, { class_type: "SaveImage", inputs: { images: [id, 0], filename_prefix: "x" } }],
      ]),
    );
    const getPictureNames = () => screen.getAllByRole<HTMLInputElement>("textbox", { name: "Picture name" }).map(({ value }) => value);
    async function openTwoLoaders() {
      showRunPage(createApi(service, { sendPicture: async ({ name }) => ok({ name }), decode: async () => undefined }));
      await openText(JSON.stringify(twoLoaderGraph));
    }
    async function paste(target: Element | undefined, text = "") {
      const files = [new File(["x"], "pasted.png", { type: "image/png" })];
      await act(async () => void fireEvent.paste(target ?? document.body, { clipboardData: { files, getData: () => text } }));
    }

    it.each([
      ["its Replace button", () => screen.getAllByRole("button", { name: "Replace" })[1]],
      ["its name", () => screen.getAllByRole("textbox", { name: "Picture name" })[1]],
      ["the picture", () => screen.getAllByRole("img", { name: /^Picture of/ })[1]],
    ])("sets an image input when the focus is on %s", async (_, getFocusTarget) => {
      await openTwoLoaders();
      await paste(getFocusTarget());
      expect(getPictureNames()).toEqual(["photo.png", "pasted.png"]);
      expect(screen.queryByRole("alert")).toBeNull();
    });

    it("pastes text into a focused input and opens a file otherwise", async () => {
      await openTwoLoaders();
      await paste(screen.getAllByRole("textbox", { name: "Picture name" })[1], "photo.png");
      expect(getPictureNames()).toEqual(["photo.png", "photo.png"]);
      await paste(undefined);
      expect((await screen.findByRole("alert")).textContent).toContain("pasted.png was not opened");
    });
  });

  describe("checks before submitting", () => {
    it("report a masked value at its field and block Run", async () => {
      showRunPage(createApi(service));
      await openText(maskedText);
      expect(getField("api_key").value).toBe("");
      expect(getField("api_key").placeholder).toBe("Masked: enter it again");
      pressRun();
      expect((await screen.findByRole("alert")).textContent).toContain("Enter the masked values again");
      expect(document.activeElement).toBe(getField("api_key"));
      expect(service.submissions).toHaveLength(0);
      fireEvent.change(getField("api_key"), { target: { value: "mine" } });
      pressRun();
      await respond("a");
      expect(service.submissions[0]?.prompt["1"]?.inputs.api_key).toBe("mine");
    });

    it("detect a graph without outputs by the catalogue", () => {
      const info = readCatalogueFixture();
      expect(checkGraph(readSampleGraph("01-invert"), info)).toBeUndefined();
      expect(checkGraph(sampler, undefined)).toMatchObject({ code: "masked_value", isSure: true });
      expect(checkGraph({ "1": { class_type: "EmptyImage", inputs: {} } }, info)).toMatchObject({ code: "prompt_no_outputs" });
    });

    it("find outputs by the catalogue, or by nodes without outgoing links", () => {
      expect(findOutputNodes(sampler, undefined)).toEqual(["2"]);
      expect(findOutputNodes({ ...sampler, "3": { class_type: "EmptyImage", inputs: {} } }, readCatalogueFixture())).toEqual(["2"]);
    });
  });

  describe("a seed", () => {
    it("is randomised on demand or for every run, remembered per workflow", async () => {
      showRunPage(createApi(service));
      await openText(unmaskedText);
      fireEvent.click(screen.getByRole("button", { name: "Randomise seed" }));
      expect(getField("seed").value).not.toBe("7");
      fireEvent.click(screen.getByRole("checkbox", { name: "new seed on every run" }));
      cleanup();
      sessionStorage.clear();
      showRunPage(createApi(service));
      await openText(unmaskedText);
      for (const id of ["a", "b"]) {
        pressRun();
        await respond(id);
        await screen.findByRole("link", { name: `Open job ${id}` });
      }
      const seeds = service.submissions.map(({ prompt }) => prompt["1"]?.inputs.seed);
      expect(new Set([7, ...seeds]).size).toBe(3);
      expect(getField("seed").value).toBe(String(seeds[1]));
    });

    it("is exact and within the service's range", () => {
      const createSeedControl = (max?: number) => ({ kind: "number", integer: true, ...(max !== undefined && { max }) }) as const;
      expect(drawRandomSeed(createSeedControl(10), () => 0.999)).toBeLessThanOrEqual(10);
      expect(drawRandomSeed(createSeedControl(2 ** 64), () => 0.999999)).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
      expect(Number.isInteger(drawRandomSeed(createSeedControl(), () => 0.5))).toBe(true);
    });
  });

  it("clears a pinned picture's upload error when a workflow is opened", async () => {
    showRunPage(createApi(service, { decode: async () => undefined }));
    const text = JSON.stringify({
      "1": { class_type: "LoadImage", inputs: { image: "photo.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0] } },
    });
    await openText(text);
    fireEvent.click(screen.getByRole("button", { name: "Pin image of LoadImage to the top" }));
    const file = new File(["x"], "mine.png", { type: "image/png" });
    await act(async () => void fireEvent.change(screen.getByTestId("picture-file"), { target: { files: [file] } }));
    await screen.findByText(/^mine.png could not be uploaded/);
    await openText(text);
    expect(screen.queryByText(/could not be uploaded/)).toBeNull();
  });

  it("shows a pinned input first, also after reopening", async () => {
    showRunPage(createApi(service));
    await openText(unmaskedText);
    fireEvent.click(screen.getByRole("button", { name: "Pin steps of Sampler to the top" }));
    cleanup();
    sessionStorage.clear();
    showRunPage(createApi(service));
    await openText(unmaskedText);
    const pinned = within(screen.getByRole("region", { name: "Pinned" }));
    expect(screen.getAllByDisplayValue("20")).toHaveLength(1);
    fireEvent.change(pinned.getByDisplayValue("20"), { target: { value: "30" } });
    pressRun();
    await respond("a");
    expect(service.submissions[0]?.prompt["1"]?.inputs.steps).toBe(30);
    fireEvent.click(screen.getByRole("button", { name: "Unpin steps of Sampler" }));
    expect(screen.queryByRole("region", { name: "Pinned" })).toBeNull();
  });
});

describe("run fields", () => {
  let service: PromptServer;
  beforeEach(async () => void (service = await startPromptServer()));

  describe("the fields", () => {
    it("keep the typed text of an invalid number", async () => {
      showRunPage(createApi(service));
      await openText(readSampleText("01-invert"));
      const width = getField("width");
      for (const text of ["1", "1.", "1.5", "", "abc"]) {
        fireEvent.change(width, { target: { value: text } });
        expect(width.value).toBe(text);
      }
      pressRun();
      await until("a waiting request", () => service.respond({ status: 200, body: { prompt_id: "a" } }));
      await screen.findByRole("link", { name: "Open job a" });
      expect(service.submissions[0]?.prompt["1"]?.inputs.width).toBe("abc");
    });

    it("show a colour and store it as a number", async () => {
      showRunPage(createApi(service));
      await openText(readSampleText("01-invert"));
      const swatch = screen.getByLabelText<HTMLInputElement>("color as a colour");
      expect(swatch.value).toBe("#3366cc");
      fireEvent.change(swatch, { target: { value: "#ff0000" } });
      expect(getField("color").value).toBe("16711680");
    });
  });
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
  showRunPage(createApi(undefined));
  await openText(readSampleText("01-invert"));
  fireEvent.click(screen.getByRole("button", { name: "Graph" }));
  expect(await screen.findByRole("searchbox")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Graph" }));
  expect(screen.queryByRole("searchbox")).toBeNull();
});
