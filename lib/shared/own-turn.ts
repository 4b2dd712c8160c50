// Starts each task in its own turn of the event loop, so that a burst of tasks lets other work run in between.
// Guarantees: one task per turn, in order of arrival. Must never: be used for light work beside heavy work, which it would wait for.

import { setImmediate as othersTurn } from "node:timers/promises";
import { createTurns } from "./turns";

/** Tasks of different queues don't wait for each other. */
export function createOwnTurn(): () => Promise<void> {
  const oneByOne = createTurns(1);
  return () => oneByOne(() => othersTurn());
}

export const ownTurn = createOwnTurn();
