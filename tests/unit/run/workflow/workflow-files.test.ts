import { describe, expect, it, test, vi } from "vitest";
import { withInput } from "@/components/run/form/form-model";
import { createRunApi } from "@/components/run/run-actions";
import { findGraphErrors, mergeErrors } from "@/components/run/workflow/graph-errors";
import { openFile, openWorkflow } from "@/components/run/workflow/open-workflow";
import { getWorkflowId } from "@/components/run/workflow/opened-workflow";
import { createBlobSource } from "@/lib/browser/files/byte-source";
import { type Graph } from "@/lib/contract/schemas/graph";
import { failed } from "@/lib/shared/result";
import { readCatalogueFixture, readSampleGraph, readSampleText } from "../workflow-fixtures";

const noCatalogue = { readCatalogue: async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }) };

const openWithoutCatalogue = (file: File) => openFile(createBlobSource(file), noCatalogue, file);

describe("openWorkflow", () => {
  it("names the workflow after its file and keeps the node order", () => {
    const workflowResult = openWorkflow(readSampleText("02-poster-from-photo"), "02-poster-from-photo.json");
    expect(workflowResult).toMatchObject({ ok: true, value: { name: "02-poster-from-photo", order: ["1", "2", "3", "4", "5", "6"] } });
  });

  it("keeps a submitted workflow's id, editor workflow and name", () => {
    const id = "7d9f3c1e-5b7a-4c8d-9e0f-1a2b3c4d5e6f";
    const extra_data = { extra_pnginfo: { workflow: { id, name: "hero", nodes: [] } } };
    const text = JSON.stringify({ prompt: JSON.parse(readSampleText("01-invert")), extra_data });
    expect(openWorkflow(text)).toMatchObject({ ok: true, value: { name: "hero", workflowId: id, extraData: extra_data } });
    expect(openWorkflow(text, "mine.json")).toMatchObject({ ok: true, value: { name: "mine", workflowId: id } });
  });
});

describe("openFile", () => {
  it("rejects a picture and an oversized file before reading", async () => {
    const picture = await openWithoutCatalogue(new File([new Uint8Array(8)], "photo.bmp", { type: "image/bmp" }));
    expect(picture).toMatchObject({ ok: false, failure: { fileName: "photo.bmp", reason: { code: "picture" } } });
    const hugeFile = new File(["x"], "film.mov");
    Object.defineProperty(hugeFile, "size", { value: 3e9 });
    expect(await openWithoutCatalogue(hugeFile)).toMatchObject({
      ok: false,
      failure: { reason: { code: "too_large", limit: "characters", found: 3e9 } },
    });
  });

  it("rejects a file the browser cannot read", async () => {
    const folder = new File([], "folder");
    Object.defineProperty(folder, "text", { value: () => Promise.reject(new DOMException("no", "NotReadableError")) });
    expect(await openWithoutCatalogue(folder)).toMatchObject({ ok: false, failure: { reason: { code: "unreadable_file" } } });
  });
});

const listErrorTypes = (graph: Graph | undefined, info = readCatalogueFixture()) =>
  Object.entries(findGraphErrors(graph ?? {}, info)?.errors ?? {}).map(([id, { errors }]) => [id, ...errors.map(({ type }) => type)]);

describe("findFaults", () => {
  it("reports two separate cycles", () => {
    const createInvertNode = (from: string) => ({ class_type: "ImageInvert", inputs: { image: [from, 0] } });
    const graph = { a: createInvertNode("b"), b: createInvertNode("a"), c: createInvertNode("d"), d: createInvertNode("c") };
    expect(
      listErrorTypes(graph)
        .map(([id]) => id)
        .toSorted(),
    ).toEqual(["a", "b", "c", "d"]);
  });

  it("limits the errors for a thousand cycles", () => {
    const graph = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [String(index), { class_type: "ImageInvert", inputs: { image: [String(index), 0] } }]),
    );
    expect(Object.keys(findGraphErrors(graph, undefined)?.errors ?? {})).toHaveLength(20);
  });
});

it("merges a node's errors without duplicates", () => {
  const createError = (type: string) => ({ type, message: "", details: "", extra_info: { input_name: "image" } });
  const createNodeErrors = (...types: string[]) => ({ class_type: "X", dependent_outputs: [], errors: types.map(createError) });
  const merged = mergeErrors(
    { "1": createNodeErrors("dangling_link") },
    { "1": createNodeErrors("dangling_link", "other"), "2": createNodeErrors("other") },
  );
  expect(Object.entries(merged).map(([id, { errors }]) => [id, ...errors.map(({ type }) => type)])).toEqual([
    ["1", "dangling_link", "other"],
    ["2", "other"],
  ]);
});

const hash = "ab".repeat(32);
const contentName = `${hash}.png`;

/** Mocks a service that responds with this `Content-Disposition` header and lists these assets. */
function mockService({ disposition, status = 206, assets = [] }: { disposition?: string; status?: number; assets?: object[] }) {
  const requests: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    requests.push(path);
    if (!path.startsWith("/api/view")) return Response.json({ assets, total: assets.length });
    return new Response("x", { status, headers: disposition === undefined ? {} : { "content-disposition": disposition } });
  });
  return { requests, storedName: createRunApi({ id: "c1" }).findStoredName };
}

test.each([
  [`inline; filename="h__ro.png"; filename*=UTF-8''h%C3%A9%20ro.png`, "hé ro.png"],
  [`inline; filename="hero.png"`, "hero.png"],
  [`inline; filename=hero.png`, "hero.png"],
  [`inline; filename*=UTF-8''%E0%A4%A; filename="hero.png"`, "hero.png"],
])("uses the download name (%s) as the picture's name", async (disposition, name) => {
  const { requests, storedName } = mockService({ disposition });
  expect(await storedName(contentName)).toBe(name);
  expect(requests).toEqual([`/api/view?filename=${contentName}&type=input&connection=c1`]);
});

test("names a content-addressed file by its newest asset", async () => {
  const assets = [
    { id: "1", name: "other.png", asset_hash: `blake3:${"cd".repeat(32)}` },
    { id: "2", name: "hero.png", asset_hash: `blake3:${hash}` },
  ];
  for (const disposition of [undefined, `inline; filename="${contentName}"`])
    expect(await mockService({ disposition, assets }).storedName(contentName)).toBe("hero.png");
  expect(await mockService({ assets: assets.slice(0, 1) }).storedName(contentName)).toBeUndefined();
});

test("finds no name for a missing picture and lists no assets", async () => {
  const { requests, storedName } = mockService({ status: 404 });
  expect(await storedName(contentName)).toBeUndefined();
  expect(requests).toHaveLength(1);
});

const sampleNames = [
  "01-invert",
  "02-poster-from-photo",
  "03-composite-with-mask",
  "04-four-variants",
  "05-slow",
  "06-fails-half-way",
  "08-production-sdxl",
];

describe("a workflow id", () => {
  const graph = readSampleGraph("02-poster-from-photo");

  it("is a valid UUID", () => {
    expect(getWorkflowId(graph)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("is stable when texts, numbers and pictures change", () => {
    expect(getWorkflowId(withInput(withInput(graph, "1", "image", "mine.png"), "5", "blend_factor", 0.5))).toBe(getWorkflowId(graph));
  });

  it("is stable when the node order changes", () => {
    expect(getWorkflowId(Object.fromEntries(Object.entries(graph).toReversed()))).toBe(getWorkflowId(graph));
  });

  it("changes with a link, a class or a node", () => {
    const id = getWorkflowId(graph);
    expect(getWorkflowId(withInput(graph, "6", "images", ["3", 0]))).not.toBe(id);
    expect(getWorkflowId(withInput(graph, "6", "images", ["5", 1]))).not.toBe(id);
    expect(getWorkflowId({ ...graph, "7": { class_type: "PreviewImage", inputs: { images: ["5", 0] } } })).not.toBe(id);
    expect(getWorkflowId({ ...graph, "3": { class_type: "ImageBlur", inputs: graph["3"]?.inputs ?? {} } })).not.toBe(id);
  });

  it("differs between samples and between many similar graphs", () => {
    expect(new Set(sampleNames.map((name) => getWorkflowId(readSampleGraph(name)))).size).toBe(sampleNames.length);
    const manyIds = Array.from({ length: 5000 }, (_, index) => getWorkflowId({ [String(index)]: { class_type: "A", inputs: {} } }));
    expect(new Set(manyIds).size).toBe(5000);
    // Each of the four 32-bit words alone is almost unique.
    for (const offset of [0, 9, 19, 28]) expect(new Set(manyIds.map((id) => id.slice(offset, offset + 8))).size).toBeGreaterThan(4900);
  });
});
