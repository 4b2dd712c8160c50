// Masks a JSON stream of any length in bounded memory, at least as strictly as `maskSecrets`. Invalid JSON fails the stream.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { isSecretName } from "@/lib/contract/secrets/mask-secrets";
import { findWindowEnd, MASK, maskText, MAX_WINDOW_LENGTH } from "@/lib/contract/secrets/secret-texts";
import { toByteStream } from "@/lib/shared/web-stream";
import { createKeyRedactor } from "../upstream/key-redactor";

/** Deeper values are masked. The parser of masked responses has the same limit. */
const MAX_VISIBLE_DEPTH = 200;
const MAX_DEPTH = 10_000;
const MAX_NUMBER_LENGTH = 10_000;
const SLICE_BYTES = 64 * 1024;

class InvalidJsonError extends Error {}

/** An open list or object. `name` is the field that contains it. */
type Level = {
  parent: Level | undefined;
  depth: number;
  isList: boolean;
  name: string;
  isSecret: boolean;
  /** The current field, or undefined where a name is expected. */
  field?: string;
  /** For a node in the editor's format, whose `widgets_values` have no names. */
  hasInputs?: boolean;
  hasSecretInput?: boolean;
};
/** `pendingText`: the unmasked tail of the text, which may be the start of a key. */
type OpenText = { isSecret: boolean; isName: boolean; name: string; text: string; pendingText: string; raw: string; isEmpty: boolean };

function createMasker(apiKey: string | undefined) {
  const keyRedactor = createKeyRedactor(apiKey);
  let level: Level | undefined;
  let text: OpenText | undefined;
  let token = "";
  let output = "";

  function open(isList: boolean): void {
    const depth = (level?.depth ?? 0) + 1;
    if (depth > MAX_DEPTH) throw new InvalidJsonError("Response is nested too deeply");
    const isSecret = isInSecretField() || depth > MAX_VISIBLE_DEPTH;
    level = { parent: level, depth, isList, name: level?.field ?? "", isSecret };
  }

  function isInSecretField(): boolean {
    if (!level || level.isList) return level?.isSecret === true;
    const { field = "", isSecret, hasInputs, hasSecretInput } = level;
    // Values that come before the inputs could belong to any of them.
    return isSecret || isSecretName(field) || (field === "widgets_values" && (!hasInputs || hasSecretInput === true));
  }

  function startText(): void {
    const isName = level !== undefined && !level.isList && level.field === undefined;
    text = { isSecret: !isName && isInSecretField(), isName, name: "", text: "", pendingText: "", raw: "", isEmpty: true };
    output += '"';
  }

  /** `raw` is the next part of the text in JSON notation, with complete escapes only. */
  function appendText(raw: string, isLast: boolean): void {
    if (!text) return;
    if (raw !== "") {
      const unescapedText = raw.includes("\\") ? unescapeJson(raw) : raw;
      text.isEmpty = false;
      if (text.name.length <= 100) text.name += unescapedText.slice(0, 101);
      if (!text.isSecret) text.text += unescapedText;
    }
    while (text.text.length > MAX_WINDOW_LENGTH || (isLast && text.text !== "")) {
      const end = findWindowEnd(text.text, 0);
      writeMasked(maskText(text.text.slice(0, end)), isLast && end === text.text.length);
      text.text = text.text.slice(end);
    }
    if (isLast) {
      if (text.pendingText !== "") writeMasked("", true);
      endText();
    }
  }

  function writeMasked(maskedText: string, isLast: boolean): void {
    if (!text) return;
    const raw = text.pendingText + writeExactJson(maskedText).slice(1, -1);
    const end = isLast ? raw.length : raw.length - keyRedactor.getPartialKeyLength(raw);
    output += keyRedactor.redactPart(raw.slice(0, end));
    text.pendingText = raw.slice(end);
  }

  function endText(): void {
    if (!text) return;
    const { isName, isSecret, isEmpty, name } = text;
    if (isSecret && !isEmpty) output += MASK;
    output += '"';
    text = undefined;
    if (isName && level) {
      level.field = name;
      if (name === "inputs") level.hasInputs = true;
    } else if (level?.field === "name" && level.parent?.isList && level.parent.name === "inputs" && isSecretName(name)) {
      const node = level.parent.parent;
      if (node) node.hasSecretInput = true;
    }
  }

  function endToken(): void {
    if (token === "") return;
    const isValid = /^(?:true|false|null|NaN|-?Infinity|-?\d[\d.eE+-]*)$/.test(token);
    if (!isValid || token.length > MAX_NUMBER_LENGTH) throw new InvalidJsonError("Response is not valid JSON");
    // The key may be part of a number if it has digits only.
    output += keyRedactor.redactPart(token) === token ? token : `"${MASK}"`;
    token = "";
  }

  function handleDelimiter(character: string): void {
    endToken();
    if (character === '"') return startText();
    output += character;
    if (character === "{" || character === "[") open(character === "[");
    else if (character === "}" || character === "]") {
      if (!level || level.isList !== (character === "]")) throw new InvalidJsonError("Response is not valid JSON");
      level = level.parent;
    } else if (character === "," && level) level.field = undefined;
  }

  return (chunk: string, isLast: boolean): string => {
    let position = 0;
    while (position < chunk.length) {
      if (text) {
        const raw = text.raw + chunk.slice(position);
        const end = findClosingQuote(raw);
        // An escape that is split across chunks is completed by the next one.
        const completeEnd = end ?? raw.length - getIncompleteEscapeLength(raw);
        position += (end === undefined ? raw.length : end + 1) - text.raw.length;
        text.raw = end === undefined ? raw.slice(completeEnd) : "";
        appendText(raw.slice(0, completeEnd), end !== undefined);
        continue;
      }
      delimiterPattern.lastIndex = position;
      const delimiterIndex = delimiterPattern.exec(chunk)?.index ?? chunk.length;
      for (const segment of chunk.slice(position, delimiterIndex).split(/(\s+)/)) {
        if (/^\s/.test(segment)) {
          endToken();
          output += segment;
        } else token += segment;
      }
      if (token.length > MAX_NUMBER_LENGTH) throw new InvalidJsonError("Response is not valid JSON");
      if (delimiterIndex < chunk.length) handleDelimiter(chunk.charAt(delimiterIndex));
      position = delimiterIndex + 1;
    }
    if (isLast) {
      endToken();
      if (level || text) throw new InvalidJsonError("Response ends unexpectedly");
    }
    const result = output;
    output = "";
    return result;
  };
}

const delimiterPattern = /["{}[\],:]/g;

function findClosingQuote(raw: string): number | undefined {
  for (let position = raw.indexOf('"'); position >= 0; position = raw.indexOf('"', position + 1)) {
    let backslashCount = 0;
    while (raw.charAt(position - 1 - backslashCount) === "\\") backslashCount += 1;
    if (backslashCount % 2 === 0) return position;
  }
  return undefined;
}

function getIncompleteEscapeLength(raw: string): number {
  // The lookbehind keeps the search linear in a long run of backslashes.
  const tail = /(?<!\\)(\\+)(u[\da-fA-F]{0,3})?$/.exec(raw);
  if (!tail) return 0;
  const [escape, backslashes = "", code] = tail;
  if (backslashes.length % 2 === 0) return 0;
  return code === undefined ? 1 : escape.length - backslashes.length + 1;
}

function unescapeJson(raw: string): string {
  try {
    return parseExactJson<string>(`"${raw}"`);
  } catch {
    throw new InvalidJsonError("Response is not valid JSON");
  }
}

export function maskJsonStream(source: ReadableStream<Uint8Array>, apiKey: string | undefined): ReadableStream<Uint8Array> {
  const mask = createMasker(apiKey);
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  async function* maskChunks(): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of source) {
      for (let start = 0; start < chunk.byteLength; start += SLICE_BYTES) {
        const maskedPart = mask(decoder.decode(chunk.subarray(start, start + SLICE_BYTES), { stream: true }), false);
        if (maskedPart !== "") yield encoder.encode(maskedPart);
        await yieldToEventLoop();
      }
    }
    const maskedTail = mask(decoder.decode(), true);
    if (maskedTail !== "") yield encoder.encode(maskedTail);
  }
  const maskedChunks = maskChunks();
  return toByteStream(
    () => maskedChunks.next(),
    () => maskedChunks.return(),
  );
}
