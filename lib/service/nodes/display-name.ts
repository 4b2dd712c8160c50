// The name that users see for a file: prefix, number and extension. Folders in a prefix are dropped: content distinguishes files.

import { own } from "@/lib/contract/json/own";
import { toPlainLine } from "@/lib/contract/plain-line";
import { type Size } from "../images/raster";
import { type NodeContext } from "./definition";

type Picture = { size: Size; frame: number; extension: string };

export function displayName(prefix: string, picture: Picture, context: Pick<NodeContext, "nextNumber" | "now">): string {
  const filled = fill(prefix, picture, context.now());
  const base = toPlainLine(filled.split(/[\\/]/).at(-1) ?? "").slice(0, 150);
  const name = base === "" || base === "." || base === ".." ? "image" : base;
  return numbered(name, context.nextNumber(name), picture.extension);
}

/** The same name with this job's own number, for a file that an earlier job made. */
export function renumber(displayName: string, nextNumber: (prefix: string) => number): string {
  const parts = /^(.*)_\d{5,}_\.([a-z]+)$/.exec(displayName);
  const [, name, extension] = parts ?? [];
  return name === undefined || extension === undefined ? displayName : numbered(name, nextNumber(name), extension);
}

function numbered(name: string, number: number, extension: string): string {
  return `${name}_${String(number).padStart(5, "0")}_.${extension}`;
}

function fill(prefix: string, { size, frame }: Picture, now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const words: Record<string, string> = {
    "%width%": String(size.width),
    "%height%": String(size.height),
    "%batch_num%": String(frame),
    "%year%": String(now.getFullYear()),
    "%month%": two(now.getMonth() + 1),
    "%day%": two(now.getDate()),
    "%hour%": two(now.getHours()),
    "%minute%": two(now.getMinutes()),
    "%second%": two(now.getSeconds()),
  };
  return prefix.replace(/%[a-z_]+%/g, (word) => own(words, word) ?? word);
}
