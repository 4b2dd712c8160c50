// A path of user data reaches the service as it was sent. A parser of addresses takes "a/../b" for "b": a way out of the folder
// would then be some other path, or none, where it is to be refused as what it is.

const PREFIX = /^\/api\/userdata\//i;
const dots = /^(\.|%2e){1,2}$/i;

/** Dots that mean folders, and backslashes, are encoded once more than they were: no parser resolves them, and their reader refuses them. */
export function keepDots(url: string): string {
  if (!PREFIX.test(url)) return url;
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  const kept = path
    .replaceAll("\\", "%5C")
    .split("/")
    .map((segment) => (dots.test(segment) ? segment.replace(/\.|%2e/gi, "%252E") : segment));
  return kept.join("/") + (end < 0 ? "" : url.slice(end));
}
