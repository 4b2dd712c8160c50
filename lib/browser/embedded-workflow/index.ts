// Reads the workflow embedded in an image, video, audio file or 3D model. The first bytes determine the format.

import { asObject, isObject } from "@/lib/contract/json/json";
import { parseJson, parseLenient, TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { type ByteSource } from "../files/byte-source";
import { readFlacTexts, readId3Texts, readMatroskaTexts, readMovieTexts, readOggTexts } from "./audio-video";
import { addObject, type Bytes, createBoundedBytes, createTextCollector, createView, type TextCollector, UnreadableFile } from "./bytes";
import { readHeifTexts, readJpegTexts, readPngTexts, readWebpTexts } from "./pictures";

export type EmbeddedWorkflow =
  { kind: "workflow"; text: string } | { kind: "none"; isPicture: boolean } | { kind: "damaged" | "too_much" } | { kind: "unknown" };

type Kind = { isPicture?: true; starts: (head: string) => boolean; read: (bytes: Bytes, texts: TextCollector) => Promise<void> };

const fileKinds: readonly Kind[] = [
  { isPicture: true, starts: (head) => head.startsWith("\x89PNG\r\n\x1a\n"), read: readPngTexts },
  { isPicture: true, starts: (head) => head.startsWith("\xff\xd8\xff"), read: readJpegTexts },
  { isPicture: true, starts: (head) => head.startsWith("RIFF") && head.slice(8, 12) === "WEBP", read: readWebpTexts },
  { isPicture: true, starts: (head) => /^(\ufeff|ï»¿)?\s*<(\?xml[^]*<svg\b|svg\b)/.test(head), read: readSvgTexts },
  // The brand distinguishes AVIF and HEIC from videos.
  {
    isPicture: true,
    starts: (head) => /^ftyp(avi[fs]|hei[cxms]|hev[cxms]|mif1|msf1)$/.test(head.slice(4, 12)),
    read: readHeifTexts,
  },
  { starts: (head) => /^(ftyp|moov|mdat|wide|free|skip)$/.test(head.slice(4, 8)), read: readMovieTexts },
  { starts: (head) => head.startsWith("\x1aE\xdf\xa3"), read: readMatroskaTexts },
  { starts: (head) => head.startsWith("fLaC"), read: readFlacTexts },
  { starts: (head) => head.startsWith("OggS"), read: readOggTexts },
  { starts: (head) => head.startsWith("ID3"), read: readId3Texts },
  { starts: (head) => head.startsWith("glTF"), read: readGlbTexts },
  // Safetensors: the length of the JSON header (below 4 GiB), then the header.
  { starts: (head) => head.slice(4, 9) === "\0\0\0\0{", read: readSafetensorsTexts },
];

const HEAD_BYTES = 512;

export async function readEmbeddedWorkflow(source: ByteSource): Promise<EmbeddedWorkflow> {
  const bytes = createBoundedBytes(source);
  const head = toLatin1(await source.read(0, Math.min(HEAD_BYTES, source.size)));
  const kind = fileKinds.find(({ starts }) => starts(head));
  if (!kind) return { kind: "unknown" };
  const texts = createTextCollector();
  let reason: UnreadableFile["reason"] | undefined;
  try {
    await kind.read(bytes, texts);
  } catch (cause) {
    if (cause instanceof UnreadableFile) reason = cause.reason;
    else if (cause instanceof RangeError) reason = "damaged";
    else throw cause;
  }
  const text = combineTexts(texts);
  if (text !== undefined) return { kind: "workflow", text };
  return reason ? { kind: reason } : { kind: "none", isPicture: kind.isPicture === true };
}

/** Returns the graph with its editor file, in a form that `readWorkflow` accepts. `readWorkflow` reports invalid texts. */
function combineTexts({ prompt: graph, workflow: editorFile }: TextCollector): string | undefined {
  if (!graph || !isObjectText(graph)) return editorFile ?? graph;
  const extra = editorFile && isObjectText(editorFile) ? `,"extra_data":{"extra_pnginfo":{"workflow":${editorFile}}}` : "";
  return `{"prompt":${graph}${extra}}`;
}

/** True for a text with too many exact numbers, so that `readWorkflow` reports that error. */
function isObjectText(text: string): boolean {
  try {
    return isObject(parseLenient(text));
  } catch (error) {
    return error instanceof TooManyExactNumbers;
  }
}

/** The first chunk is JSON, and custom data is in `asset.extras`. */
async function readGlbTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  const head = createView(await bytes.at(12, 8));
  if (head.getUint32(4) !== 0x4a534f4e) throw new UnreadableFile("damaged");
  const scene = parseJson(new TextDecoder().decode(await bytes.at(20, head.getUint32(0, true))));
  if (!isObject(scene)) throw new UnreadableFile("damaged");
  addObject(texts, asObject(scene.asset)?.extras);
}

async function readSafetensorsTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  const header = parseJson(new TextDecoder().decode(await bytes.at(8, createView(await bytes.at(0, 8)).getUint32(0, true))));
  if (!isObject(header)) throw new UnreadableFile("damaged");
  addObject(texts, header.__metadata__);
}

async function readSvgTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  const text = new TextDecoder().decode(await bytes.at(0, bytes.size));
  const [start, end] = ["<![CDATA[", "]]>"];
  const from = text.indexOf(start, text.indexOf("<metadata"));
  const to = text.indexOf(end, from);
  if (from >= 0 && to >= 0) addObject(texts, parseJson(text.slice(from + start.length, to)));
}

/** TextDecoder's "latin1" is windows-1252, which differs from 128 to 159. */
function toLatin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
