// A piece of heavy work begins in a turn of the event loop of its own, so that many pieces which come at once let others in between.
// Guarantees: one piece a turn, in the order in which they came. Must never: be used for what is light: it waits behind what is heavy.

import { setImmediate as othersTurn } from "node:timers/promises";
import { createTurns } from "./turns";

const oneByOne = createTurns(1);

export function ownTurn(): Promise<void> {
  return oneByOne(() => othersTurn());
}
