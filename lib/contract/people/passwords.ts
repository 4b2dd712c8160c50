// What a new password has to be. Imports nothing: browsers check it before anything is sent.

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 200;
