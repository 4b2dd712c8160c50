import { embedSessionSchema } from "@/lib/contract/embed/embedding";
import { ticketRoute } from "@/lib/server/bff/console-route";

export const POST = ticketRoute(embedSessionSchema);
