import { operations } from "@/lib/contract/operations";
import { bffRoute } from "@/lib/server/bff/routes";

export const POST = bffRoute(operations.manageQueue);
export const GET = bffRoute(operations.listQueue);
