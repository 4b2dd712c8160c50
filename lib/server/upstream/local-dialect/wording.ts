// Translations of a local server's words to the interface's: each is a function of the server's answers and nothing else.
// Guarantees: runs unchanged in the main thread or, for large answers, in the worker thread, which finds it by name.
// Must never: keep anything, or make a request.

import "server-only";

/** `say` returns undefined if the requested thing does not exist; it throws what its schemas throw. */
export type Wording<Args, T> = { name: string; say(answers: readonly unknown[], args: Args): T };

/** The type of a wording of which only the name is known. */
export type AnyWording = Wording<never, unknown>;

export function wording<Args = undefined, T = unknown>(
  name: string,
  say: (answers: readonly unknown[], args: Args) => T,
): Wording<Args, T> {
  return { name, say };
}
