import { operations } from "@/lib/contract/operations";
import { bffRoute } from "@/lib/server/bff/bff-route";

export const POST = bffRoute(operations.freeMemory);
