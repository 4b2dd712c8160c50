// Saves bytes from memory. To download a file from the server, use a link: the browser streams it to disk.

/** The browser may read the bytes late, after a save dialog. */
const REVOKE_DELAY_MS = 60_000;

/** Clicks a link in the document, so that the click handler of an embedded page can intercept the download. */
export function saveUrl(href: string, name: string): void {
  const link = document.createElement("a");
  Object.assign(link, { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

export function saveFile(name: string, bytes: Blob): void {
  const url = URL.createObjectURL(bytes);
  saveUrl(url, name);
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_DELAY_MS);
}
