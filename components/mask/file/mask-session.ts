import { createMaskDocument, type MaskDocument } from "../drawing/mask-document";
import { type OpenedMask } from "./open-mask";

export type OpenSession = { opened: OpenedMask; drawing: MaskDocument };

export function sessionOf(opened: OpenedMask): OpenSession {
  const drawing = createMaskDocument(opened.coverage);
  if (opened.earlier === "layers" || opened.earlier === "alpha") void drawing.prepare();
  return { opened, drawing };
}
