// How long a personal access token lives, and what it looks like. Free of zod: the settings page loads it.

/** In days. */
export const tokenLifetimes = [7, 30, 90, 365] as const;

/** In the list of operations, the name for the events of jobs (the WebSocket). */
export const EVENTS = "events";
/** In that list, the name for running apps, with everything that needs. */
export const APPS = "apps";

const shape = /^ld_[0-9a-f]{64}$/;

export function looksLikeToken(text: string): boolean {
  return shape.test(text);
}
