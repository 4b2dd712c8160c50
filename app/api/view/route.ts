import { operations } from "@/lib/contract/operations";
import { bffRoute } from "@/lib/server/bff/routes";

export const GET = bffRoute(operations.view);
