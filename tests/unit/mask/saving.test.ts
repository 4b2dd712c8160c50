// Saving a mask: bytes of the PNG, names of the original, refusals.
import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, it, vi } from "vitest";
import { type Coverage, emptyCoverage } from "@/components/mask/drawing/coverage";
import { encodeMask } from "@/components/mask/file/encode-png";
import { saveMask, type SavePorts, type SaveStep, sendMask } from "@/components/mask/file/mask-session";
import { encodeInWorker } from "@/components/mask/file/open-mask";
import { findSizeProblem, MAX_BYTES, MAX_EDGE, originalRef, toAssetSource, toFileSource } from "@/components/mask/file/picture-file";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { failed, ok } from "@/lib/shared/result";

const decode = async (file: Blob) =>
  sharp(Buffer.from(await file.arrayBuffer()))
    .raw()
    .toBuffer({ resolveWithObject: true });

describe("the PNG of a mask", () => {
  it("has alpha of 255 minus the paint at full size", async () => {
    const sizes = fc.record({ width: fc.integer({ min: 1, max: 700 }), height: fc.integer({ min: 1, max: 60 }) });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 250 }), async (size, salt) => {
        const coverage = emptyCoverage(size);
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

  it.each([2, 3, 4, 5, 6, 7, 8])("matches a photo's pixels when stored as %i", async (orientation) => {
    const coverage = emptyCoverage({ width: 5, height: 3 });
    coverage.data.forEach((_, index) => (coverage.data[index] = index * 17));
    const file = Buffer.from(await (await encodeMask(coverage, undefined, { orientation, isTurned: true })).arrayBuffer());
    const lying = await sharp(file).metadata();
    expect([lying.width, lying.height, lying.orientation]).toEqual([orientation > 4 ? 3 : 5, orientation > 4 ? 5 : 3, orientation]);
    const turned = await sharp(file).autoOrient().extractChannel(3).raw().toBuffer({ resolveWithObject: true });
    expect([turned.info.width, turned.info.height]).toEqual([5, 3]);
    expect([...turned.data]).toEqual([...coverage.data].map((value) => 255 - value));
  });

  it("keeps the stored orientation and declares it", async () => {
    const coverage = emptyCoverage({ width: 5, height: 3 });
    coverage.data[4] = 255;
    const file = Buffer.from(await (await encodeMask(coverage, undefined, { orientation: 6, isTurned: false })).arrayBuffer());
    const { data, info } = await sharp(file).extractChannel(3).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, data[4], (await sharp(file).metadata()).orientation]).toEqual([5, 3, 0, 6]);
  });

  it("is small for a plain mask of 24 megapixels", async () => {
    const coverage = emptyCoverage({ width: 6000, height: 4000 });
    coverage.data.fill(255, 1_000_000, 9_000_000);
    const file = await encodeMask(coverage);
    expect(file.size).toBeLessThan(400_000);
    expect((await sharp(Buffer.from(await file.arrayBuffer())).metadata()).width).toBe(6000);
  });
});

describe("the name of the original", () => {
  it("is an asset's hash, then its name, with the kind from its tags", () => {
    const asset = toAssetView({ id: "a", name: "x.png", tags: ["output", "hero"], asset_hash: "blake3:ab", prompt_id: undefined });
    expect(toAssetSource(asset, "c").files.map(originalRef)).toEqual([
      '{"filename":"blake3:ab","subfolder":"","type":"output"}',
      '{"filename":"x.png","subfolder":"","type":"output"}',
    ]);
    expect(originalRef({ filename: "x.png" })).toBe('{"filename":"x.png","subfolder":""}');
  });

  it("is the file's path for a local server, before ambiguous names", () => {
    const hash = `blake3:${"ab".repeat(32)}`;
    const file = { filename: "stored.png", subfolder: "sets", type: "input" };
    const asset = toAssetView({ id: "a", name: "x.png", tags: ["input"], asset_hash: hash, prompt_id: undefined, file });
    expect(toAssetSource(asset, "c", true).files.map(({ filename }) => filename)).toEqual(["stored.png", hash, "x.png"]);
    expect(toAssetSource(asset, "c", true).files[0]).toEqual(file);
  });

  it("is the graph's whole value for an input", () => {
    const { files } = toFileSource({ filename: "b.png", subfolder: "clips", type: "temp" }, "b.png");
    expect(files.map(originalRef)).toEqual(['{"filename":"b.png","subfolder":"clips","type":"temp"}']);
  });

  it("is not requested for a line drawing", () => {
    const of = (name: string) =>
      toAssetSource(toAssetView({ id: "a", name, tags: [], asset_hash: undefined, prompt_id: undefined })).facts.isPicture;
    expect([of("a.svg"), of("a.mp4"), of("a.webp")]).toEqual([false, false, true]);
  });
});

describe("size limits", () => {
  it("is judged by whatever information is available", () => {
    expect(findSizeProblem({})).toBeUndefined();
    expect(findSizeProblem({ bytes: MAX_BYTES, width: MAX_EDGE, height: 4096 })).toBeUndefined();
    expect(findSizeProblem({ bytes: MAX_BYTES + 1 })).toEqual({ reason: "bytes", bytes: MAX_BYTES + 1 });
    expect(findSizeProblem({ width: MAX_EDGE + 1, height: 1 })?.reason).toBe("edge");
    expect(findSizeProblem({ width: 8193, height: 8192 })?.reason).toBe("pixels");
  });
});

it("transfers a mask to the packing worker without a copy", async () => {
  vi.stubGlobal("Worker", PackingWorker);
  const coverage = emptyCoverage({ width: 3, height: 2 });
  const file = await encodeInWorker(coverage, () => undefined);
  vi.unstubAllGlobals();
  expect([file.size, coverage.data.length]).toEqual([6, 0]);
});

/** Replaces the browser's Worker, which Node lacks: returns a file of as many bytes. */
class PackingWorker extends EventTarget {
  postMessage(task: { coverage: Coverage }, options: StructuredSerializeOptions): void {
    const { coverage } = structuredClone(task, options);
    const file = new Blob([new Uint8Array(coverage.data.length)]);
    this.dispatchEvent(new MessageEvent("message", { data: { do: "encode", file } }));
  }
  terminate(): void {}
}

describe("saving", () => {
  const coverage: Coverage = emptyCoverage({ width: 2, height: 2 });
  const refs = [{ filename: "blake3:ab" }, { filename: "x.png" }];
  const options = { onStep: () => undefined, signal: new AbortController().signal, servesFiles: true };
  function ports(...answers: Awaited<ReturnType<SavePorts["send"]>>[]) {
    const requests: string[] = [];
    const send: SavePorts["send"] = async (_, { filename }) => {
      requests.push(filename);
      return answers[requests.length - 1] ?? failed({ code: "INTERNAL", message: "", status: 500 });
    };
    return { requests, ports: { send, encode: encodeMask } };
  }

  it("tries the next name when the service doesn't know the first", async () => {
    const { requests, ports: both } = ports(failed({ code: "INVALID_BODY", message: "original_ref", status: 400 }), ok({ name: "r.png" }));
    expect(await saveMask(coverage, refs, both, options)).toEqual(ok({ name: "r.png" }));
    expect(requests).toEqual(["blake3:ab", "x.png"]);
  });

  it.each([
    ["INVALID_IMAGE", 400],
    ["UPSTREAM_ERROR", 502],
    ["CONSOLE_UNREACHABLE", 0],
    ["RATE_LIMITED", 429],
  ])("sends nothing again after %s", async (code, status) => {
    const { requests, ports: failingPorts } = ports(failed({ code, message: "", status }));
    expect(await saveMask(coverage, refs, failingPorts, options)).toEqual(
      failed({ kind: "failed", failure: { code, message: "", status } }),
    );
    expect(requests).toHaveLength(1);
  });

  it("reports packing, sending and storing of a large mask", async () => {
    const steps: SaveStep[] = [];
    const large = emptyCoverage({ width: 4000, height: 200 });
    const send: SavePorts["send"] = async (_, __, { onProgress }) => {
      for (const share of [0.5, 1]) onProgress(share);
      return ok({ name: "r.png" });
    };
    await saveMask(large, refs, { send, encode: encodeMask }, { ...options, onStep: (step) => steps.push(step) });
    const packed = steps.flatMap((step) => (step.kind === "packing" ? [step.share] : []));
    expect(packed.length).toBeGreaterThan(2);
    expect([packed.at(-1), packed]).toEqual([1, packed.toSorted((value, other) => value - other)]);
    const bytes = (await encodeMask(large)).size;
    expect(steps.slice(packed.length)).toEqual([
      { kind: "sending", share: 0, bytes },
      { kind: "sending", share: 0.5, bytes },
      { kind: "storing" },
    ]);
  });

  it("sends nothing too large or unpacked", async () => {
    const { requests, ports: none } = ports();
    const heavy = { ...none, encode: async () => new Blob([new Uint8Array(MAX_BYTES + 1)]) };
    expect(await saveMask(coverage, refs, heavy, options)).toEqual(failed({ kind: "too-heavy", bytes: MAX_BYTES + 1 }));
    const broken = { ...none, encode: () => Promise.reject(new Error("no memory")) };
    expect(await saveMask(coverage, refs, broken, options)).toEqual(failed({ kind: "not-packed", reason: "no memory" }));
    expect(requests).toEqual([]);
  });
});

/** Replaces the browser's XMLHttpRequest and responds at once. */
function browser({ answer, stored = 200 }: { answer: object; stored?: number }) {
  const requests: string[] = [];
  const forms: FormData[] = [];
  class Answering {
    upload = {};
    status = 200;
    responseText = JSON.stringify(answer);
    onload: () => void = () => undefined;
    open = (method: string, path: string) => void requests.push(`${method} ${path}`);
    setRequestHeader = () => undefined;
    getResponseHeader = () => null;
    send = (form: FormData) => {
      forms.push(form);
      this.onload();
    };
  }
  vi.stubGlobal("XMLHttpRequest", Answering);
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
const head = "HEAD /api/view?filename=m.png&type=input&connection=c";

it("describes the original before its bytes, under a mask's usual name", async () => {
  const { requests, forms } = browser({ answer: { ...maskName, metadata: { is_mask: true } } });
  expect(await sendMask("c")(file, ref, options)).toEqual(ok({ ...maskName, metadata: { is_mask: true } }));
  expect(requests).toEqual(["POST /api/upload/mask?connection=c"]);
  const [form] = forms;
  expect([...(form?.keys() ?? [])]).toEqual(["original_ref", "image"]);
  expect(form?.get("original_ref")).toBe('{"filename":"cat.png","subfolder":"","type":"input"}');
  const image = form?.get("image");
  expect(image instanceof File && image.name).toMatch(/^clipspace-mask-\d+\.png$/);
});

it("verifies what a local server reports as stored", async () => {
  const ports = browser({ answer: maskName });
  expect(await sendMask("c")(file, ref, options)).toEqual(ok(maskName));
  expect(ports.requests.at(-1)).toBe(head);
  browser({ answer: maskName, stored: 404 });
  expect(await sendMask("c")(file, ref, options)).toEqual(failed({ code: "NOT_FOUND", message: "", status: 404 }));
  browser({ answer: maskName, stored: 502 });
  expect(await sendMask("c")(file, ref, options)).toEqual(ok(maskName));
});

it("trusts a service without file access, but no unnamed result", async () => {
  const { requests } = browser({ answer: maskName, stored: 404 });
  expect(await sendMask("c")(file, ref, { ...options, servesFiles: false })).toEqual(ok(maskName));
  expect(requests).not.toContain(head);
  browser({ answer: {} });
  expect(await sendMask("c")(file, ref, options)).toMatchObject({ ok: false, failure: { code: "UPSTREAM_UNREADABLE" } });
});
