// Bytes that this page holds, saved as a file of the person's.
// Must never: be used for what a link to the server could stream; everything of it is in the browser's memory.

/** The browser reads it when it saves, which may be after a question to the person. */
const KEPT_MS = 60_000;

/** From the page itself, where an embedded one hears of it. */
export function saveFrom(href: string, name: string): void {
  const link = document.createElement("a");
  Object.assign(link, { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

export function saveFile(name: string, bytes: Blob): void {
  const url = URL.createObjectURL(bytes);
  saveFrom(url, name);
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
