import { describe, expect, it } from "vitest";
import { openFile, openWorkflow } from "@/components/run/workflow/open-workflow";
import { bytesOfBlob } from "@/lib/browser/files/byte-source";
import { failed } from "@/lib/shared/result";
import { sampleText } from "../files";

const noCatalogue = { readCatalogue: async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }) };

const open = (file: File) => openFile(bytesOfBlob(file), noCatalogue, file);

function reasonOf(text: string) {
  const opened = openWorkflow(text, "file.json");
  return opened.ok ? undefined : opened.failure.reason;
}

describe("opening a workflow", () => {
  it("names it by its file and keeps the order in which it runs", () => {
    const opened = openWorkflow(sampleText("02-poster-from-photo"), "02-poster-from-photo.json");
    expect(opened).toMatchObject({ ok: true, value: { name: "02-poster-from-photo", order: ["1", "2", "3", "4", "5", "6"] } });
  });

  it("keeps the id and the drawing that a submitted workflow brings along, and its name where no file has one", () => {
    const id = "7d9f3c1e-5b7a-4c8d-9e0f-1a2b3c4d5e6f";
    const extra_data = { extra_pnginfo: { workflow: { id, name: "hero", nodes: [] } } };
    const text = JSON.stringify({ prompt: JSON.parse(sampleText("01-invert")), extra_data });
    expect(openWorkflow(text)).toMatchObject({ ok: true, value: { name: "hero", workflowId: id, extraData: extra_data } });
    expect(openWorkflow(text, "mine.json")).toMatchObject({ ok: true, value: { name: "mine", workflowId: id } });
  });
});

describe("what cannot be opened has its own reason each", () => {
  it("text that is no JSON, with the place", () => {
    expect(reasonOf('{\n  "1": {,\n')).toEqual({ code: "not_json", line: 2, column: 9 });
  });

  it("JSON that is no graph", () => {
    expect(reasonOf("[1, 2]")).toEqual({ code: "no_graph", found: "list" });
    expect(reasonOf('{"a": 1}')).toEqual({ code: "no_graph", found: "object" });
    expect(reasonOf("")).toEqual({ code: "empty" });
  });

  it("the editor's own format", () => {
    const file = { nodes: [{}, {}], links: [], version: 0.4 };
    expect(reasonOf(JSON.stringify(file))).toEqual({ code: "ui_format", file });
  });

  it("a picture, and a file too large to be a workflow, before their bytes are read", async () => {
    const picture = await open(new File([new Uint8Array(8)], "photo.bmp", { type: "image/bmp" }));
    expect(picture).toMatchObject({ ok: false, failure: { fileName: "photo.bmp", reason: { code: "picture" } } });
    const huge = new File(["x"], "film.mov");
    Object.defineProperty(huge, "size", { value: 3e9 });
    expect(await open(huge)).toMatchObject({
      ok: false,
      failure: { reason: { code: "too_large", limit: "characters", found: 3e9 } },
    });
  });

  it("a file that the browser cannot read", async () => {
    const folder = new File([], "folder");
    Object.defineProperty(folder, "text", { value: () => Promise.reject(new DOMException("no", "NotReadableError")) });
    expect(await open(folder)).toMatchObject({ ok: false, failure: { reason: { code: "unreadable_file" } } });
  });
});
