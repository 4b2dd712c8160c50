// Bytes that this page holds, saved as a file of the person's.
// Must never: be used for what a link to the server could stream; everything of it is in the browser's memory.

/** The browser reads it when it saves, which may be after a question to the person. */
const KEPT_MS = 60_000;

export function saveFile(name: string, bytes: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
