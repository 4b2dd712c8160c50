// Starts each piece of heavy work in its own turn of the event loop, so that many pieces that come at once let other work in between.
// Guarantees: one piece a turn, in the order they came. Must never: be used for light work, which would wait behind the heavy.

import { setImmediate as othersTurn } from "node:timers/promises";
import { createTurns } from "./turns";

const oneByOne = createTurns(1);

export function ownTurn(): Promise<void> {
  return oneByOne(() => othersTurn());
}
