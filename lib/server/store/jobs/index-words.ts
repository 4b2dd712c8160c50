// The search entry of a job: its folded texts, and tokens for the filters. User text never matches a filter token.
// The format must not change without a migration that rebuilds the index.

import "server-only";
import { createHash } from "node:crypto";
import { foldName } from "@/lib/shared/text";

/** The index splits texts into groups of three characters, so shorter words are padded. */
const GROUP_LENGTH = 3;
const FILLER = "\uE000";
/** Private use characters, which no language uses. */
const RESERVED_CHARACTERS = /[\uE000\u{F0000}-\u{FFFFD}\p{Surrogate}\0]/gu;
const FIRST_TOKEN_CODE_POINT = 0xf0000;
const TOKEN_CODE_POINTS = 0xfffd;
const MAX_WORDS = 12;
const unspacedScriptPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;
const shortWordPattern = /(?<![\p{L}\p{N}])[\p{L}\p{N}]{1,2}(?![\p{L}\p{N}])/gu;

export type FilterTokenKind = "state" | "member" | "workflow" | "output";

export function createFilterToken(kind: FilterTokenKind, value: string): string {
  const digest = createHash("sha256").update(`${kind}\n${value}`).digest();
  return String.fromCodePoint(...[0, 2, 4].map((index) => FIRST_TOKEN_CODE_POINT + (digest.readUInt16BE(index) % TOKEN_CODE_POINTS)));
}

export function createEntry(filterTokens: readonly string[], texts: readonly string[]): string {
  const foldedTexts = texts.map(foldText).filter((text) => text !== "");
  const shortPieces = new Set(foldedTexts.flatMap(findShortPieces));
  return [...filterTokens, ...foldedTexts, [...shortPieces].map(padPiece).join("")].join("\n");
}

/** Splits user text into words. Quoted text is one word. */
export function splitWords(text: string): string[] {
  const words = [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, quotedText, plainText]) => foldText(quotedText ?? plainText ?? ""));
  return [...new Set(words.filter((word) => /[\p{L}\p{N}]/u.test(word) || Array.from(word).length >= GROUP_LENGTH))].slice(0, MAX_WORDS);
}

export function toSearchPiece(word: string): string {
  return Array.from(word).length < GROUP_LENGTH ? padPiece(word) : word;
}

/** True for filter tokens and padded short words: three characters that are stored unchanged and never occur in a text. */
export function isIndexToken(piece: string): boolean {
  return /^[\uE000\u{F0000}-\u{FFFFD}]/u.test(piece);
}

export function findIndexTokens(body: string): string[] {
  return [...new Set(body.match(/[\u{F0000}-\u{FFFFD}]{3}|\uE000{2}.|\uE000[^\uE000]{2}/gu) ?? [])];
}

export function foldText(text: string): string {
  return foldName(text.replace(RESERVED_CHARACTERS, " ")).replace(/\s+/gu, " ").trim();
}

function findShortPieces(foldedText: string): string[] {
  const unspacedRuns = foldedText.match(unspacedScriptPattern) ?? [];
  const unspacedPieces = unspacedRuns.flatMap((run) => {
    const letters = Array.from(run);
    return letters.flatMap((letter, index) => [letter, ...(letters[index + 1] === undefined ? [] : [letter + letters[index + 1]])]);
  });
  return [...unspacedPieces, ...(foldedText.match(shortWordPattern) ?? [])];
}

function padPiece(piece: string): string {
  return FILLER.repeat(GROUP_LENGTH - Array.from(piece).length) + piece;
}
