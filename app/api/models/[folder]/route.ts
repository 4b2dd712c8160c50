import { operations } from "@/lib/contract/operations";
import { bffRoute } from "@/lib/server/bff/bff-route";

export const GET = bffRoute(operations.listModels);
