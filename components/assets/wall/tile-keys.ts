/** The tile that a key leads to from the one at `at`. Undefined: not our key. */
export function nextTile(key: string, at: number, { count, columns, rowsInView }: { count: number; columns: number; rowsInView: number }) {
  const last = count - 1;
  if (at < 0 || last < 0) return undefined;
  const down = (rows: number) => {
    const to = at + rows * columns;
    // In a last row that is shorter, the end of it; from there a step down leads nowhere.
    return to <= last ? to : Math.floor(at / columns) < Math.floor(last / columns) ? last : at;
  };
  const up = (rows: number) => (at - rows * columns >= 0 ? at - rows * columns : at % columns);
  switch (key) {
    case "ArrowRight":
    case "j":
      return Math.min(last, at + 1);
    case "ArrowLeft":
    case "k":
      return Math.max(0, at - 1);
    case "ArrowDown":
      return down(1);
    case "ArrowUp":
      return at - columns >= 0 ? at - columns : at;
    case "PageDown":
      return down(rowsInView);
    case "PageUp":
      return up(rowsInView);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}
