/** The tile that a key leads to from the one at `at`; `tops` are the tiles' upper edges, which tell where a row ends. Undefined: not our key. */
export function nextTile(key: string, at: number, tops: readonly number[]): number | undefined {
  const last = tops.length - 1;
  if (at < 0 || last < 0) return undefined;
  const columns = Math.max(1, tops.filter((top) => top === tops[0]).length);
  switch (key) {
    case "ArrowRight":
    case "j":
      return Math.min(last, at + 1);
    case "ArrowLeft":
    case "k":
      return Math.max(0, at - 1);
    case "ArrowDown":
      return at + columns <= last ? at + columns : at;
    case "ArrowUp":
      return at - columns >= 0 ? at - columns : at;
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}
