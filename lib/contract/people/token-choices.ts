// How long a personal access token lives, and how one looks. Free of zod: the settings page loads it.

/** Days. */
export const tokenLifetimes = [7, 30, 90, 365] as const;

/** The name of the events of jobs (the WebSocket) in the list of operations. */
export const EVENTS = "events";
/** The name of running apps in that list, with all that it needs. */
export const APPS = "apps";

const shape = /^ld_[0-9a-f]{64}$/;

export function looksLikeToken(text: string): boolean {
  return shape.test(text);
}
