// Files with an embedded workflow: ffmpeg fixtures and generated images.
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readEmbeddedWorkflow } from "@/lib/browser/embedded-workflow";
import { type ByteSource, createBlobSource, openByteSource, RangeReadError } from "@/lib/browser/files/byte-source";
import { readWorkflow } from "@/lib/contract/workflow/graph";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { openTestServer } from "@/tests/support/servers";
import {
  createAvif,
  createBox,
  createChunk,
  createCompressedTextChunk,
  createGlb,
  createInternationalTextChunk,
  createJpeg,
  createPng,
  createSafetensors,
  createTextChunk,
  createWebp,
  readCarrier,
  readEmbedded,
} from "./files";

const graph = '{"1":{"class_type":"EmptyImage","inputs":{"width":48,"height":32,"batch_size":1,"color":255}}}';
const drawing = '{"id":"3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10","nodes":[{"id":1,"type":"EmptyImage"}],"links":[],"version":0.4}';

async function readBoth(bytes: Uint8Array) {
  const result = await readEmbedded(bytes);
  const reading = result.kind === "workflow" ? readWorkflow(result.text) : undefined;
  return reading?.ok ? { graph: reading.value.graph, drawing: getDrawing(reading.value.extraData) } : result;
}

it.each(readdirSync("tests/fixtures/carriers"))("reads the executed graph and the editor's drawing from %s", async (name) => {
  expect(await readBoth(readCarrier(name))).toMatchObject({
    graph: { "1": { class_type: "EmptyImage", inputs: { width: 48 } }, "2": { inputs: { filename_prefix: "carried ☃" } } },
    drawing: { id: "3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10", nodes: { length: 3 } },
  });
});

describe("images and scenes", () => {
  const comf = (keyword: string, text: string) => createChunk("comf", Buffer.from(`${keyword}\0${text}`));
  it.each([
    ["PNG with plain texts", () => createPng(createTextChunk("prompt", graph), createTextChunk("workflow", drawing))],
    [
      "PNG with compressed texts",
      () => createPng(createCompressedTextChunk("prompt", graph), createCompressedTextChunk("Workflow", drawing)),
    ],
    [
      "PNG with international texts",
      () => createPng(createInternationalTextChunk("prompt", graph, false), createInternationalTextChunk("workflow", drawing, true)),
    ],
    ["animated PNG", () => createPng(comf("prompt", graph), comf("workflow", drawing))],
    ["WebP", () => createWebp({ Model: `prompt:${graph}`, Make: `workflow:${drawing}` })],
    ["AVIF", () => createAvif({ Model: `prompt:${graph}`, Make: `workflow:${drawing}` })],
    ["JPEG", () => createJpeg({ Model: `prompt:${graph}`, Make: `workflow:${drawing}` })],
    ["JPEG from another encoder", () => createJpeg({ Make: `Prompt:${graph}`, ImageDescription: `Workflow: ${drawing}` })],
    ["GLB", async () => createGlb(JSON.stringify({ asset: { extras: { prompt: graph, workflow: JSON.parse(drawing) } } }))],
    ["latent", async () => createSafetensors(JSON.stringify({ __metadata__: { prompt: graph, workflow: drawing }, latent_tensor: {} }))],
    [
      "SVG",
      async () =>
        Buffer.from(
          `<svg xmlns="http://www.w3.org/2000/svg"><metadata><![CDATA[{"prompt":${graph},"workflow":${drawing}}]]></metadata></svg>`,
        ),
    ],
  ])("reads a workflow from %s", async (_, make) => {
    expect(await readBoth(await make())).toMatchObject({ graph: JSON.parse(graph), drawing: JSON.parse(drawing) });
  });

  it.each(["avif", "avis", "heic", "mif1"])("finds no workflow in an image of type %s without an EXIF block", async (brand) => {
    const bytes = Buffer.concat([
      createBox("ftyp", Buffer.from(`${brand}\0\0\0\0`)),
      createBox("meta", Buffer.alloc(40)),
      createBox("mdat", Buffer.alloc(600)),
    ]);
    expect(await readEmbedded(bytes)).toEqual({ kind: "none", isPicture: true });
  });

  it("keeps letters of every script and reads NaN as null", async () => {
    const promptText =
      '{"1":{"class_type":"PreviewAny","inputs":{"text":"雪 NaN, ок","seed":18446744073709551615,"cfg":NaN},"is_changed":[NaN]}}';
    expect(await readBoth(await createPng(createTextChunk("prompt", promptText)))).toMatchObject({
      graph: { "1": { inputs: { text: "雪 NaN, ок", seed: 18446744073709551615n, cfg: null } } },
    });
  });
});

it.each([
  ["an image without texts", () => createPng(), { kind: "none", isPicture: true }],
  ["an image with unrelated texts", () => createPng(createTextChunk("Software", "a camera")), { kind: "none", isPicture: true }],
  ["an AVIF with unrelated texts", () => createAvif({ Model: "a camera" }), { kind: "none", isPicture: true }],
  ["a photograph", () => createJpeg({ Model: "a camera" }), { kind: "none", isPicture: true }],
  [
    "model weights",
    async () => createSafetensors('{"w":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}'),
    { kind: "none", isPicture: false },
  ],
  ["truncated model weights", async () => createSafetensors('{"__metadata__":{}}', 5_000), { kind: "damaged" }],
  ["model weights with an oversized header", async () => createSafetensors(`{${" ".repeat(13_000_000)}}`), { kind: "too_much" }],
  ["JSON", async () => Buffer.from(graph), { kind: "unknown" }],
  ["an empty file", async () => Buffer.alloc(0), { kind: "unknown" }],
])("finds no workflow in %s", async (_, make, response) => {
  expect(await readEmbedded(await make())).toEqual(response);
});

it("throws the read error when a part is unreadable", async () => {
  const source = {
    ...createBlobSource(new Blob([new Uint8Array(readCarrier("both.flac"))])),
    read: () => Promise.reject(new Error("read failed")),
  };
  await expect(readEmbeddedWorkflow(source)).rejects.toThrow("read failed");
});

const film = readCarrier("both.mp4");
const headerLength = film.readUInt32BE(0);
const moov = film.indexOf("moov") - 4;
/** The header of a megabyte of frames, with a 64-bit length. */
const framesHeader = Buffer.alloc(16);
framesHeader.writeUInt32BE(1);
framesHeader.write("mdat", 4);
framesHeader.writeBigUInt64BE(1_000_016n, 8);
/** A video with its index after its frames. */
const longVideo = Buffer.concat([film.subarray(0, headerLength), framesHeader, Buffer.alloc(1_000_000), film.subarray(moov)]);
let sentBytes = 0;
let isMissing = false;
const server = await openTestServer((request, response) => {
  const [from = 0, to = 0] =
    /bytes=(\d+)-(\d+)/
      .exec(request.headers.range ?? "")
      ?.slice(1)
      .map(Number) ?? [];
  if (isMissing) return void response.writeHead(404).end();
  if (request.url?.includes("plain")) return void response.writeHead(200).end(longVideo);
  const part = longVideo.subarray(from, to + 1);
  sentBytes += part.length;
  response.writeHead(206, { "content-range": `bytes ${from}-${from + part.length - 1}/${longVideo.length}` }).end(part);
});

async function createSource(path: string): Promise<ByteSource> {
  isMissing = false;
  const source = await openByteSource(`${server.url}/${path}`);
  if (!source.ok) throw new Error(source.failure.code);
  return source.value;
}

it("reads a long file only up to its metadata", async () => {
  expect((await readEmbeddedWorkflow(await createSource("video"))).kind).toBe("workflow");
  expect(sentBytes).toBeLessThan(400_000);
});

it("reads a whole file from a service without range support", async () => {
  expect((await readEmbeddedWorkflow(await createSource("plain"))).kind).toBe("workflow");
});

it("reports an unreadable part and a missing file as service failures", async () => {
  const source = await createSource("video");
  isMissing = true;
  await expect(readEmbeddedWorkflow(source)).rejects.toBeInstanceOf(RangeReadError);
  expect(await openByteSource(`${server.url}/video`)).toMatchObject({ ok: false, failure: { status: 404 } });
});
