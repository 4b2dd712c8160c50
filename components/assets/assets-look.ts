// The look of the wall, apart from its content: gallery or table, three sizes, pictures cropped or whole, endless or paged.
// Guarantees: every value has a default that the address leaves out.

import { type Params, readAddress, type ValuesOf } from "@/lib/contract/params";
import { tileSizes } from "./wall/wall-layout";

export const lookParams = {
  look: { kind: "word", values: ["gallery", "table"], usual: "gallery" },
  size: { kind: "word", values: tileSizes, usual: "medium" },
  fit: { kind: "word", values: ["fill", "whole"], usual: "fill" },
  by: { kind: "word", values: ["endless", "pages"], usual: "endless" },
} as const satisfies Params;
export type AssetsLook = ValuesOf<typeof lookParams>;

export const usualLook: AssetsLook = readAddress(lookParams, new URLSearchParams()).query;
