// Why a ticket was not taken, for those who run the host and the console; a stranger hears that it was not. Free of zod: browsers load it.

export const embedRefusals = [
  "unreadable",
  "algorithm",
  "signature",
  "keys",
  "audience",
  "expired",
  "early",
  "lifetime",
  "claims",
  "origin",
  "replayed",
  "role",
  "pages",
  "connection",
  "member",
  "suspended",
  "guests",
] as const;
export type EmbedRefusal = (typeof embedRefusals)[number];
