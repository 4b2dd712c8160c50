import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { checkGraph, outputNodes } from "@/components/run/form/checks";
import { randomSeed } from "@/components/run/form/form-model";
import { type Graph } from "@/lib/contract/schemas/graph";
import { ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { catalogue, sampleGraph, sampleText } from "./files";
import { createApi, field, openText, pressRun, type PromptServer, show } from "./page";
import { startPromptServer } from "./prompt-server";

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
  const withKey = JSON.stringify(sampler);
  const withoutKey = withKey.replace("[REDACTED]", "mine");
  const respond = (id: string) => until("an answer is asked for", () => service.respond({ status: 200, body: { prompt_id: id } }));

  describe("a picture in the clipboard", () => {
    const two = Object.fromEntries(
      ["1", "5"].flatMap((id) => [
        [id, { class_type: "LoadImage", inputs: { image: "photo.png" } }],
        [`${id}0`, { class_type: "SaveImage", inputs: { images: [id, 0], filename_prefix: "x" } }],
      ]),
    );
    const names = () => screen.getAllByRole<HTMLInputElement>("textbox", { name: "Picture name" }).map(({ value }) => value);
    async function openTwo() {
      show(createApi(service, { sendPicture: async ({ name }) => ok({ name }), decode: async () => undefined }));
      await openText(JSON.stringify(two));
    }
    async function paste(on: Element | undefined, text = "") {
      const files = [new File(["x"], "pasted.png", { type: "image/png" })];
      await act(async () => void fireEvent.paste(on ?? document.body, { clipboardData: { files, getData: () => text } }));
    }

    it.each([
      ["the button that replaces it", () => screen.getAllByRole("button", { name: "Replace" })[1]],
      ["its name", () => screen.getAllByRole("textbox", { name: "Picture name" })[1]],
      ["the picture itself", () => screen.getAllByRole("img", { name: /^Picture of/ })[1]],
    ])("sets the focused image input on %s", async (_, focused) => {
      await openTwo();
      await paste(focused());
      expect(names()).toEqual(["photo.png", "pasted.png"]);
      expect(screen.queryByRole("alert")).toBeNull();
    });

    it("pastes text into a focused input and a file when none has the focus", async () => {
      await openTwo();
      await paste(screen.getAllByRole("textbox", { name: "Picture name" })[1], "photo.png");
      expect(names()).toEqual(["photo.png", "photo.png"]);
      await paste(undefined);
      expect((await screen.findByRole("alert")).textContent).toContain("pasted.png was not opened");
    });
  });

  describe("before anything is sent", () => {
    it("names a masked value at its field and blocks sending it", async () => {
      show(createApi(service));
      await openText(withKey);
      expect(field("api_key").value).toBe("");
      expect(field("api_key").placeholder).toBe("Masked: enter it again");
      pressRun();
      expect((await screen.findByRole("alert")).textContent).toContain("Enter the masked values again");
      expect(document.activeElement).toBe(field("api_key"));
      expect(service.submissions).toHaveLength(0);
      fireEvent.change(field("api_key"), { target: { value: "mine" } });
      pressRun();
      await respond("a");
      expect(service.submissions[0]?.prompt["1"]?.inputs.api_key).toBe("mine");
    });

    it("detects a graph without outputs by the catalogue", () => {
      const info = catalogue();
      expect(checkGraph(sampleGraph("01-invert"), info)).toBeUndefined();
      expect(checkGraph(sampler, undefined)).toMatchObject({ code: "masked_value", isSure: true });
      expect(checkGraph({ "1": { class_type: "EmptyImage", inputs: {} } }, info)).toMatchObject({ code: "prompt_no_outputs" });
    });

    it("finds outputs by the catalogue, else by missing links", () => {
      expect(outputNodes(sampler, undefined)).toEqual(["2"]);
      expect(outputNodes({ ...sampler, "3": { class_type: "EmptyImage", inputs: {} } }, catalogue())).toEqual(["2"]);
    });
  });

  describe("a seed", () => {
    it("draws a new seed by press or for every run, remembered per workflow", async () => {
      show(createApi(service));
      await openText(withoutKey);
      fireEvent.click(screen.getByRole("button", { name: "Randomise seed" }));
      expect(field("seed").value).not.toBe("7");
      fireEvent.click(screen.getByRole("checkbox", { name: "new seed on every run" }));
      cleanup();
      sessionStorage.clear();
      show(createApi(service));
      await openText(withoutKey);
      for (const id of ["a", "b"]) {
        pressRun();
        await respond(id);
        await screen.findByRole("link", { name: `Open job ${id}` });
      }
      const seeds = service.submissions.map(({ prompt }) => prompt["1"]?.inputs.seed);
      expect(new Set([7, ...seeds]).size).toBe(3);
      expect(field("seed").value).toBe(String(seeds[1]));
    });

    it("is exact and within the service's range", () => {
      const range = (max?: number) => ({ kind: "number", integer: true, ...(max !== undefined && { max }) }) as const;
      expect(randomSeed(range(10), () => 0.999)).toBeLessThanOrEqual(10);
      expect(randomSeed(range(2 ** 64), () => 0.999999)).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
      expect(Number.isInteger(randomSeed(range(), () => 0.5))).toBe(true);
    });
  });

  it("clears a pinned picture's earlier failure", async () => {
    show(createApi(service, { decode: async () => undefined }));
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

  it("shows a pinned input first, also when opened again", async () => {
    show(createApi(service));
    await openText(withoutKey);
    fireEvent.click(screen.getByRole("button", { name: "Pin steps of Sampler to the top" }));
    cleanup();
    sessionStorage.clear();
    show(createApi(service));
    await openText(withoutKey);
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
    it("report a number once it is valid, and its typed spelling", async () => {
      show(createApi(service));
      await openText(sampleText("01-invert"));
      const width = field("width");
      for (const text of ["1", "1.", "1.5", "", "abc"]) {
        fireEvent.change(width, { target: { value: text } });
        expect(width.value).toBe(text);
      }
      pressRun();
      await until("an answer is asked for", () => service.respond({ status: 200, body: { prompt_id: "a" } }));
      await screen.findByRole("link", { name: "Open job a" });
      expect(service.submissions[0]?.prompt["1"]?.inputs.width).toBe("abc");
    });

    it("show a colour and write it as a number", async () => {
      show(createApi(service));
      await openText(sampleText("01-invert"));
      const swatch = screen.getByLabelText<HTMLInputElement>("color as a colour");
      expect(swatch.value).toBe("#3366cc");
      fireEvent.change(swatch, { target: { value: "#ff0000" } });
      expect(field("color").value).toBe("16711680");
    });
  });
});

it("draws the workflow next to its form on demand", async () => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  show(createApi(undefined));
  await openText(sampleText("01-invert"));
  fireEvent.click(screen.getByRole("button", { name: "Graph" }));
  expect(await screen.findByRole("searchbox")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Graph" }));
  expect(screen.queryByRole("searchbox")).toBeNull();
});
