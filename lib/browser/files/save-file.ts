// Saves bytes that this page holds. For files of the server use a link, since the browser's memory holds all of it.

/** The browser reads the bytes when it saves, perhaps only after asking the person. */
const KEPT_MS = 60_000;

/** Clicks a link in the page itself, so that an embedded page notices the download. */
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
