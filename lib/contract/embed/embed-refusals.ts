// Why a ticket was refused, for those who run the host and the console; strangers only learn that it was. Free of zod: browsers load it.

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
