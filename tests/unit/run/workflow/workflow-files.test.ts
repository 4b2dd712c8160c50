import { describe, expect, it, test, vi } from "vitest";
import { withInput } from "@/components/run/form/form-model";
import { createRunApi } from "@/components/run/run-actions";
import { findGraphErrors, mergeErrors } from "@/components/run/workflow/graph-errors";
import { openFile, openWorkflow } from "@/components/run/workflow/open-workflow";
import { getWorkflowId } from "@/components/run/workflow/opened-workflow";
import { createBlobSource } from "@/lib/browser/files/byte-source";
import { type Graph } from "@/lib/contract/schemas/graph";
import { failed } from "@/lib/shared/result";
import { readSampleGraph, readSampleText } from "../workflow-fixtures";

const noCatalogue = { readCatalogue: async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }) };

it("names a workflow after its file and keeps the id and name of a submission", () => {
  const file = openWorkflow(readSampleText("02-poster-from-photo"), "02-poster-from-photo.json");
  expect(file).toMatchObject({ ok: true, value: { name: "02-poster-from-photo", order: ["1", "2", "3", "4", "5", "6"] } });
  const id = "7d9f3c1e-5b7a-4c8d-9e0f-1a2b3c4d5e6f";
  const extra_data = { extra_pnginfo: { workflow: { id, name: "hero", nodes: [] } } };
  const text = JSON.stringify({ prompt: JSON.parse(readSampleText("01-invert")), extra_data });
  expect(openWorkflow(text)).toMatchObject({ ok: true, value: { name: "hero", workflowId: id, extraData: extra_data } });
  expect(openWorkflow(text, "mine.json")).toMatchObject({ ok: true, value: { name: "mine", workflowId: id } });
});

it("rejects a picture and an oversized file before reading, and an unreadable one", async () => {
  const getReason = async (name: string, type: string, overrides: PropertyDescriptorMap = {}) => {
    const file = Object.defineProperties(new File([new Uint8Array(8)], name, { type }), overrides);
    const result = await openFile(createBlobSource(file), noCatalogue, file);
    return result.ok ? result.value : result.failure;
  };
  expect(await getReason("photo.bmp", "image/bmp")).toMatchObject({ fileName: "photo.bmp", reason: { code: "picture" } });
  expect(await getReason("film.mov", "", { size: { value: 3e9 } })).toMatchObject({
    reason: { code: "too_large", limit: "characters", found: 3e9 },
  });
  const failRead = () => Promise.reject(new DOMException("no", "NotReadableError"));
  expect(await getReason("folder", "", { size: { value: 0 }, text: { value: failRead } })).toMatchObject({
    reason: { code: "unreadable_file" },
  });
});

it("reports separate cycles, at most twenty nodes", () => {
  const createInvertNode = (from: string) => ({ class_type: "ImageInvert", inputs: { image: [from, 0] } });
  const listErrorIds = (graph: Graph) => Object.keys(findGraphErrors(graph, undefined)?.errors ?? {});
  const twoCycles = { a: createInvertNode("b"), b: createInvertNode("a"), c: createInvertNode("d"), d: createInvertNode("c") };
  expect(listErrorIds(twoCycles).toSorted()).toEqual(["a", "b", "c", "d"]);
  const manyCycles = Array.from({ length: 1000 }, (_, index) => [String(index), createInvertNode(String(index))]);
  expect(listErrorIds(Object.fromEntries(manyCycles))).toHaveLength(20);
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

describe("a workflow id", () => {
  const graph = readSampleGraph("02-poster-from-photo");
  const id = getWorkflowId(graph);

  it("is a UUID that is stable when values or the node order change", () => {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(getWorkflowId(withInput(withInput(graph, "1", "image", "mine.png"), "5", "blend_factor", 0.5))).toBe(id);
    expect(getWorkflowId(Object.fromEntries(Object.entries(graph).toReversed()))).toBe(id);
  });

  it("changes with a link, a class or a node", () => {
    for (const changedGraph of [
      withInput(graph, "6", "images", ["3", 0]),
      withInput(graph, "6", "images", ["5", 1]),
      { ...graph, "7": { class_type: "PreviewImage", inputs: { images: ["5", 0] } } },
      { ...graph, "3": { class_type: "ImageBlur", inputs: graph["3"]?.inputs ?? {} } },
    ])
      expect(getWorkflowId(changedGraph)).not.toBe(id);
  });

  it("differs between many similar graphs", () => {
    const manyIds = Array.from({ length: 5000 }, (_, index) => getWorkflowId({ [String(index)]: { class_type: "A", inputs: {} } }));
    expect(new Set(manyIds).size).toBe(5000);
    // Each of the four 32-bit words alone is almost unique.
    for (const offset of [0, 9, 19, 28]) expect(new Set(manyIds.map((id) => id.slice(offset, offset + 8))).size).toBeGreaterThan(4900);
  });
});
