// How the wall looks, beside what it shows: gallery or table, three sizes, pictures filled or whole, endless or in pages.
// Guarantees: every value has a default that the address leaves out; reading never throws, and names what made no sense.

import { type TileSize, tileSizes } from "./wall/wall-layout";

const looks = ["gallery", "table"] as const;
const fits = ["fill", "whole"] as const;
const ways = ["endless", "pages"] as const;

export type AssetsLook = {
  look: (typeof looks)[number];
  size: TileSize;
  fit: (typeof fits)[number];
  by: (typeof ways)[number];
};

export const usualLook: AssetsLook = { look: "gallery", size: "medium", fit: "fill", by: "endless" };

export function readLook(get: (name: string) => string | undefined): { look: AssetsLook; ignored: string[] } {
  const ignored: string[] = [];
  function read<T extends string>(name: string, values: readonly T[], usual: T): T {
    const text = get(name);
    if (text === undefined || text === "") return usual;
    const found = values.find((value) => value === text);
    if (found === undefined) ignored.push(`${name}=${text}`);
    return found ?? usual;
  }
  return {
    look: {
      look: read("look", looks, usualLook.look),
      size: read("size", tileSizes, usualLook.size),
      fit: read("fit", fits, usualLook.fit),
      by: read("by", ways, usualLook.by),
    },
    ignored,
  };
}

/** For an address: what is usual is left out. */
export function lookValues(look: AssetsLook): Partial<Record<keyof AssetsLook, string>> {
  return {
    look: look.look === usualLook.look ? undefined : look.look,
    size: look.size === usualLook.size ? undefined : look.size,
    fit: look.fit === usualLook.fit ? undefined : look.fit,
    by: look.by === usualLook.by ? undefined : look.by,
  };
}
