// Under which name bytes are handed over, and whether a page may show them (RFC 6266).

import { isServedInline } from "../assets/media-type";

export type Named = { fileName: string; mediaType: string; disposition?: "attachment" | "inline" };

/** A plain name for old readers, the real one beside it. */
export function contentDisposition(file: Named): string {
  const kind = isServedInline(file.mediaType, file.fileName) ? (file.disposition ?? "inline") : "attachment";
  // Half of a letter cannot be encoded, and a name is no path.
  const name = file.fileName.replace(/\p{Surrogate}/gu, "\ufffd").replace(/[/\\]/g, "_");
  const plain = name.replace(/[^\x20-\x7e]|["%]/g, "_");
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, toPercent)}`;
}

function toPercent(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
}
