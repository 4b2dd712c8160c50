// A local server's words put into the interface's: each a function of what the server said and of nothing else.
// Guarantees: runs as it is, on the event loop or, for what is large, in a thread, where it is found by its name.
// Must never: keep anything, or make a request.

import "server-only";

/** `say` makes undefined of what was looked for and is not there; it throws what its schemas throw. */
export type Wording<Args, T> = { name: string; say(said: readonly unknown[], args: Args): T };

/** What is known of it where only its name is. */
export type AnyWording = Wording<never, unknown>;

export function wording<Args = undefined, T = unknown>(name: string, say: (said: readonly unknown[], args: Args) => T): Wording<Args, T> {
  return { name, say };
}
