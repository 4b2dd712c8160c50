/**
 * The place of an asset that is not read yet. A leap draws a screen of these in one frame: no hook, and no more elements than its looks take.
 * A press gives it no focus, which would be lost with the element when its asset comes.
 */
export function WaitingTile({ index, count }: { index: number; count: number }) {
  return (
    <li aria-setsize={count} aria-posinset={index + 1} className="min-w-0">
      <a data-index={index} draggable={false} className="block rounded-sm pb-[27px] outline-offset-2">
        <span className="tile-picture block rounded-sm bg-sunken" />
      </a>
    </li>
  );
}
