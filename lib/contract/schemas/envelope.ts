// The body of a refusal, as the embedded service and the console's own API send it.
// Other services send other shapes: those are read by failure.ts, never by this schema.

import { z } from "zod";

/** What the embedded service answers; the console's own API adds `request_id`. */
export const errorEnvelopeSchema = z.looseObject({
  code: z.string(),
  message: z.string(),
  details: z.unknown().optional(),
  request_id: z.string().optional(),
});
export type ErrorEnvelope = z.infer<typeof errorEnvelopeSchema>;
