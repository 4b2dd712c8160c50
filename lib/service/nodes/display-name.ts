// The name that users see for a file: prefix, number and extension. Folders in a prefix are dropped.

import { own } from "@/lib/contract/json/own";
import { toPlainLine } from "@/lib/contract/plain-line";
import { type Size } from "../images/raster";
import { type NodeContext } from "./definition";

type PictureInfo = { size: Size; frame: number; extension: string };

export function createDisplayName(prefix: string, picture: PictureInfo, context: Pick<NodeContext, "nextNumber" | "now">): string {
  const filledPrefix = fillPrefix(prefix, picture, context.now());
  const base = toPlainLine(filledPrefix.split(/[\\/]/).at(-1) ?? "").slice(0, 150);
  const name = base === "" || base === "." || base === ".." ? "image" : base;
  return formatNumberedName(name, context.nextNumber(name), picture.extension);
}

/** The same name with this job's own number, for a file of an earlier job. */
export function renumber(displayName: string, nextNumber: (prefix: string) => number): string {
  const parts = /^(.*)_\d{5,}_\.([a-z]+)$/.exec(displayName);
  const [, name, extension] = parts ?? [];
  return name === undefined || extension === undefined ? displayName : formatNumberedName(name, nextNumber(name), extension);
}

function formatNumberedName(name: string, number: number, extension: string): string {
  return `${name}_${String(number).padStart(5, "0")}_.${extension}`;
}

function fillPrefix(prefix: string, { size, frame }: PictureInfo, now: Date): string {
  const pad = (value: number) => String(value).padStart(2, "0");
  const placeholders: Record<string, string> = {
    "%width%": String(size.width),
    "%height%": String(size.height),
    "%batch_num%": String(frame),
    "%year%": String(now.getFullYear()),
    "%month%": pad(now.getMonth() + 1),
    "%day%": pad(now.getDate()),
    "%hour%": pad(now.getHours()),
    "%minute%": pad(now.getMinutes()),
    "%second%": pad(now.getSeconds()),
  };
  return prefix.replace(/%[a-z_]+%/g, (word) => own(placeholders, word) ?? word);
}
