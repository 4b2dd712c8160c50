// Lets a path of user data reach the service as it was sent. A URL parser turns "a/../b" into "b": a path that leads out of its folder
// would become some other path, or none, instead of being refused for what it is.

const PREFIX = /^\/api\/userdata\//i;
const dots = /^(\.|%2e){1,2}$/i;

/** Encodes dots that mean folders, and backslashes, once more: no parser resolves them, and their reader refuses them. */
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
