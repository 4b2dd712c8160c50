import { embedSessionSchema } from "@/lib/contract/embed/embedding";
import { ticketRoute } from "@/lib/server/bff/ticket-route";

export const POST = ticketRoute(embedSessionSchema);
