// Starts each piece of work in its own turn of the event loop, so that many pieces that arrive at once let other work in between.
// Guarantees: one piece a turn, in the order of arrival. Must never: be used for light work beside heavy work, which it would wait for.

import { setImmediate as othersTurn } from "node:timers/promises";
import { createTurns } from "./turns";

/** Pieces of one queue do not wait for those of another. */
export function createOwnTurn(): () => Promise<void> {
  const oneByOne = createTurns(1);
  return () => oneByOne(() => othersTurn());
}

export const ownTurn = createOwnTurn();
