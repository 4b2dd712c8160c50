// Saving a mask: the PNG, references to the original and errors.
import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, it, vi } from "vitest";
import { type Coverage, createCoverage } from "@/components/mask/drawing/coverage";
import { encodeMask } from "@/components/mask/file/encode-png";
import { createMaskUploader, saveMask, type SavePorts, type SaveStep } from "@/components/mask/file/mask-session";
import { findSizeProblem, MAX_BYTES, MAX_EDGE, toAssetSource, toFileSource, toOriginalRef } from "@/components/mask/file/mask-source";
import { encodeInWorker } from "@/components/mask/file/open-mask";
import { assetSchema } from "@/lib/contract/schemas/asset";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { failed, ok } from "@/lib/shared/result";

const decode = async (file: Blob) =>
  sharp(Buffer.from(await file.arrayBuffer()))
    .raw()
    .toBuffer({ resolveWithObject: true });

describe("encoding a mask", () => {
  it("encodes alpha as 255 minus the paint at full size", async () => {
    const sizes = fc.record({ width: fc.integer({ min: 1, max: 700 }), height: fc.integer({ min: 1, max: 60 }) });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 250 }), async (size, salt) => {
        const coverage = createCoverage(size);
        coverage.data.forEach((_, index) => (coverage.data[index] = ((index * salt) >> 2) & 255));
        const { data, info } = await decode(await encodeMask(coverage));
        expect([info.width, info.height, info.channels]).toEqual([size.width, size.height, 4]);
        const expected = Buffer.alloc(data.length);
        coverage.data.forEach((value, index) => (expected[index * 4 + 3] = 255 - value));
        expect(data.equals(expected)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it.each([2, 3, 4, 5, 6, 7, 8])("matches a photo's pixels for orientation %i", async (orientation) => {
    const coverage = createCoverage({ width: 5, height: 3 });
    coverage.data.forEach((_, index) => (coverage.data[index] = index * 17));
    const file = Buffer.from(await (await encodeMask(coverage, undefined, { orientation, isRotated: true })).arrayBuffer());
    const [width, height] = orientation > 4 ? [3, 5] : [5, 3];
    expect(await sharp(file).metadata()).toMatchObject({ width, height, orientation });
    const rotated = await sharp(file).autoOrient().extractChannel(3).raw().toBuffer({ resolveWithObject: true });
    expect([rotated.info.width, rotated.info.height]).toEqual([5, 3]);
    expect([...rotated.data]).toEqual([...coverage.data].map((value) => 255 - value));
  });

  it("keeps the stored orientation and declares it", async () => {
    const coverage = createCoverage({ width: 5, height: 3 });
    coverage.data[4] = 255;
    const file = Buffer.from(await (await encodeMask(coverage, undefined, { orientation: 6, isRotated: false })).arrayBuffer());
    const { data, info } = await sharp(file).extractChannel(3).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, data[4], (await sharp(file).metadata()).orientation]).toEqual([5, 3, 0, 6]);
  });

  it("compresses a plain mask", async () => {
    const coverage = createCoverage({ width: 3000, height: 1000 });
    coverage.data.fill(255, 100_000, 900_000);
    expect((await encodeMask(coverage)).size).toBeLessThan(100_000);
  });
});

describe("references to the original", () => {
  it("returns an asset's hash, then its name, with the type from its tags", () => {
    const asset = toAssetView(assetSchema.parse({ id: "a", name: "x.png", tags: ["output", "hero"], asset_hash: "blake3:ab" }));
    expect(toAssetSource(asset, "c").files.map(toOriginalRef)).toEqual([
      '{"filename":"blake3:ab","subfolder":"","type":"output"}',
      '{"filename":"x.png","subfolder":"","type":"output"}',
    ]);
    expect(toOriginalRef({ filename: "x.png" })).toBe('{"filename":"x.png","subfolder":""}');
  });

  it("returns the file's path first for a local server", () => {
    const hash = `blake3:${"ab".repeat(32)}`;
    const file = { filename: "stored.png", subfolder: "sets", type: "input" };
    const asset = toAssetView(assetSchema.parse({ id: "a", name: "x.png", tags: ["input"], asset_hash: hash, file }));
    expect(toAssetSource(asset, "c", true).files.map(({ filename }) => filename)).toEqual(["stored.png", hash, "x.png"]);
    expect(toAssetSource(asset, "c", true).files[0]).toEqual(file);
  });

  it("returns the whole reference of a graph input", () => {
    const { files } = toFileSource({ filename: "b.png", subfolder: "clips", type: "temp" }, "b.png");
    expect(files.map(toOriginalRef)).toEqual(['{"filename":"b.png","subfolder":"clips","type":"temp"}']);
  });

  it("accepts only raster images", () => {
    const isSupported = (name: string) => toAssetSource(toAssetView(assetSchema.parse({ id: "a", name }))).facts.isPicture;
    expect([isSupported("a.svg"), isSupported("a.mp4"), isSupported("a.webp")]).toEqual([false, false, true]);
  });
});

describe("size limits", () => {
  it("checks the sizes that are available", () => {
    expect(findSizeProblem({})).toBeUndefined();
    expect(findSizeProblem({ bytes: MAX_BYTES, width: MAX_EDGE, height: 4096 })).toBeUndefined();
    expect(findSizeProblem({ bytes: MAX_BYTES + 1 })).toEqual({ reason: "bytes", bytes: MAX_BYTES + 1 });
    expect(findSizeProblem({ width: MAX_EDGE + 1, height: 1 })?.reason).toBe("edge");
    expect(findSizeProblem({ width: 8193, height: 8192 })?.reason).toBe("pixels");
  });
});

it("transfers a mask to the encoding worker without a copy", async () => {
  vi.stubGlobal("Worker", FakeEncodingWorker);
  const coverage = createCoverage({ width: 3, height: 2 });
  const file = await encodeInWorker(coverage, () => undefined);
  vi.unstubAllGlobals();
  expect([file.size, coverage.data.length]).toEqual([6, 0]);
});

/** Replaces the browser's Worker. Returns a file with one byte per pixel. */
class FakeEncodingWorker extends EventTarget {
  postMessage(task: { coverage: Coverage }, options: StructuredSerializeOptions): void {
    const { coverage } = structuredClone(task, options);
    const file = new Blob([new Uint8Array(coverage.data.length)]);
    this.dispatchEvent(new MessageEvent("message", { data: { do: "encode", file } }));
  }
  terminate(): void {}
}

describe("saving", () => {
  const coverage: Coverage = createCoverage({ width: 2, height: 2 });
  const refs = [{ filename: "blake3:ab" }, { filename: "x.png" }];
  const options = { onStep: () => undefined, signal: new AbortController().signal, servesFiles: true };
  function createPorts(...responses: Awaited<ReturnType<SavePorts["send"]>>[]) {
    const requests: string[] = [];
    const send: SavePorts["send"] = async (_, { filename }) => {
      requests.push(filename);
      return responses[requests.length - 1] ?? failed({ code: "INTERNAL", message: "", status: 500 });
    };
    return { requests, ports: { send, encode: encodeMask } };
  }

  it("tries the next reference when the service rejects the first", async () => {
    const { requests, ports: savePorts } = createPorts(
      failed({ code: "INVALID_BODY", message: "original_ref", status: 400 }),
      ok({ name: "r.png" }),
    );
    expect(await saveMask(coverage, refs, savePorts, options)).toEqual(ok({ name: "r.png" }));
    expect(requests).toEqual(["blake3:ab", "x.png"]);
  });

  it.each([
    ["INVALID_IMAGE", 400],
    ["UPSTREAM_ERROR", 502],
    ["CONSOLE_UNREACHABLE", 0],
    ["RATE_LIMITED", 429],
  ])("doesn't retry after %s", async (code, status) => {
    const { requests, ports: failingPorts } = createPorts(failed({ code, message: "", status }));
    expect(await saveMask(coverage, refs, failingPorts, options)).toEqual(
      failed({ kind: "failed", failure: { code, message: "", status } }),
    );
    expect(requests).toHaveLength(1);
  });

  it("reports packing, sending and storing of a large mask", async () => {
    const steps: SaveStep[] = [];
    const large = createCoverage({ width: 4000, height: 200 });
    const send: SavePorts["send"] = async (_, __, { onProgress }) => {
      for (const share of [0.5, 1]) onProgress(share);
      return ok({ name: "r.png" });
    };
    await saveMask(large, refs, { send, encode: encodeMask }, { ...options, onStep: (step) => steps.push(step) });
    const packingShares = steps.flatMap((step) => (step.kind === "packing" ? [step.share] : []));
    expect(packingShares.length).toBeGreaterThan(2);
    expect([packingShares.at(-1), packingShares]).toEqual([1, packingShares.toSorted((value, other) => value - other)]);
    const bytes = (await encodeMask(large)).size;
    expect(steps.slice(packingShares.length)).toEqual([
      { kind: "sending", share: 0, bytes },
      { kind: "sending", share: 0.5, bytes },
      { kind: "storing" },
    ]);
  });

  it("sends no mask that is too large or failed to encode", async () => {
    const { requests, ports: basePorts } = createPorts();
    const oversizedPorts = { ...basePorts, encode: async () => new Blob([new Uint8Array(MAX_BYTES + 1)]) };
    expect(await saveMask(coverage, refs, oversizedPorts, options)).toEqual(failed({ kind: "too-heavy", bytes: MAX_BYTES + 1 }));
    const failingPorts = { ...basePorts, encode: () => Promise.reject(new Error("no memory")) };
    expect(await saveMask(coverage, refs, failingPorts, options)).toEqual(failed({ kind: "not-packed", reason: "no memory" }));
    expect(requests).toEqual([]);
  });
});

/** Stubs the browser's XMLHttpRequest and fetch, which respond immediately. */
function stubUpload({ response, stored = 200 }: { response: object; stored?: number }) {
  const requests: string[] = [];
  const forms: FormData[] = [];
  class FakeXmlHttpRequest {
    upload = {};
    status = 200;
    responseText = JSON.stringify(response);
    onload: () => void = () => undefined;
    open = (method: string, path: string) => void requests.push(`${method} ${path}`);
    setRequestHeader = () => undefined;
    getResponseHeader = () => null;
    send = (form: FormData) => {
      forms.push(form);
      this.onload();
    };
  }
  vi.stubGlobal("XMLHttpRequest", FakeXmlHttpRequest);
  vi.stubGlobal("fetch", async (path: string, { method }: RequestInit) => {
    requests.push(`${String(method)} ${path}`);
    return new Response(null, { status: stored });
  });
  return { requests, forms };
}

const file = new Blob(["png"], { type: "image/png" });
const options = { onProgress: () => undefined, signal: new AbortController().signal, servesFiles: true };
const ref = { filename: "cat.png", subfolder: "", type: "input" };
const maskName = { name: "m.png", subfolder: "", type: "input" };
const headRequest = "HEAD /api/view?filename=m.png&type=input&connection=c";

it("sends the original's reference before the image under a mask filename", async () => {
  const { requests, forms } = stubUpload({ response: { ...maskName, metadata: { is_mask: true } } });
  expect(await createMaskUploader("c")(file, ref, options)).toEqual(ok({ ...maskName, metadata: { is_mask: true } }));
  expect(requests).toEqual(["POST /api/upload/mask?connection=c"]);
  const [form] = forms;
  expect([...(form?.keys() ?? [])]).toEqual(["original_ref", "image"]);
  expect(form?.get("original_ref")).toBe('{"filename":"cat.png","subfolder":"","type":"input"}');
  const image = form?.get("image");
  expect(image instanceof File && image.name).toMatch(/^clipspace-mask-\d+\.png$/);
});

it("verifies that a local server stored the mask", async () => {
  const upload = stubUpload({ response: maskName });
  expect(await createMaskUploader("c")(file, ref, options)).toEqual(ok(maskName));
  expect(upload.requests.at(-1)).toBe(headRequest);
  stubUpload({ response: maskName, stored: 404 });
  expect(await createMaskUploader("c")(file, ref, options)).toEqual(failed({ code: "NOT_FOUND", message: "", status: 404 }));
  stubUpload({ response: maskName, stored: 502 });
  expect(await createMaskUploader("c")(file, ref, options)).toEqual(ok(maskName));
});

it("trusts a service without file access but rejects an unnamed result", async () => {
  const { requests } = stubUpload({ response: maskName, stored: 404 });
  expect(await createMaskUploader("c")(file, ref, { ...options, servesFiles: false })).toEqual(ok(maskName));
  expect(requests).not.toContain(headRequest);
  stubUpload({ response: {} });
  expect(await createMaskUploader("c")(file, ref, options)).toMatchObject({ ok: false, failure: { code: "UPSTREAM_UNREADABLE" } });
});
