// The search entry of a job: folded words of its texts, and marks for the filters. User text never matches a mark.
// Must not change without a migration that rebuilds the index.

import "server-only";
import { createHash } from "node:crypto";
import { foldName } from "@/lib/shared/text";

/** The index splits texts into groups of three characters, so shorter words are padded. */
const GROUP_LENGTH = 3;
const FILLER = "\uE000";
/** Private use characters, which no language uses. */
const RESERVED = /[\uE000\u{F0000}-\u{FFFFD}\p{Surrogate}\0]/gu;
const FIRST_MARK = 0xf0000;
const MARK_LETTERS = 0xfffd;
const MAX_WORDS = 12;
const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;
const shortWord = /(?<![\p{L}\p{N}])[\p{L}\p{N}]{1,2}(?![\p{L}\p{N}])/gu;

export type MarkKind = "state" | "member" | "workflow" | "output";

export function createMark(kind: MarkKind, value: string): string {
  const digest = createHash("sha256").update(`${kind}\n${value}`).digest();
  return String.fromCodePoint(...[0, 2, 4].map((at) => FIRST_MARK + (digest.readUInt16BE(at) % MARK_LETTERS)));
}

export function createEntry(marks: readonly string[], texts: readonly string[]): string {
  const folded = texts.map(fold).filter((text) => text !== "");
  const short = new Set(folded.flatMap(findShortPieces));
  return [...marks, ...folded, [...short].map(padPiece).join("")].join("\n");
}

/** Splits user text into words. Quoted text is one word. */
export function splitWords(text: string): string[] {
  const pieces = [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, quoted, plain]) => fold(quoted ?? plain ?? ""));
  return [...new Set(pieces.filter((word) => /[\p{L}\p{N}]/u.test(word) || Array.from(word).length >= GROUP_LENGTH))].slice(0, MAX_WORDS);
}

export function toSearchPiece(word: string): string {
  return Array.from(word).length < GROUP_LENGTH ? padPiece(word) : word;
}

/** Marks and padded short words: three characters that are stored unchanged, and never occur within a text. */
export function isWholePiece(piece: string): boolean {
  return /^[\uE000\u{F0000}-\u{FFFFD}]/u.test(piece);
}

export function findWholePieces(body: string): string[] {
  return [...new Set(body.match(/[\u{F0000}-\u{FFFFD}]{3}|\uE000{2}.|\uE000[^\uE000]{2}/gu) ?? [])];
}

export function fold(text: string): string {
  return foldName(text.replace(RESERVED, " ")).replace(/\s+/gu, " ").trim();
}

function findShortPieces(folded: string): string[] {
  const runs = folded.match(unspacedScripts) ?? [];
  const inRuns = runs.flatMap((run) => {
    const letters = Array.from(run);
    return letters.flatMap((letter, at) => [letter, ...(letters[at + 1] === undefined ? [] : [letter + letters[at + 1]])]);
  });
  return [...inRuns, ...(folded.match(shortWord) ?? [])];
}

function padPiece(piece: string): string {
  return FILLER.repeat(GROUP_LENGTH - Array.from(piece).length) + piece;
}
