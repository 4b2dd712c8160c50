import { embedSessionSchema } from "@/lib/contract/embed/embedding";
import { ticketRoute } from "@/lib/server/bff/routes";

export const POST = ticketRoute(embedSessionSchema);
