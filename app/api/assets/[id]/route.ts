import { operations } from "@/lib/contract/operations";
import { bffRoute } from "@/lib/server/bff/routes";

export const GET = bffRoute(operations.getAsset);
export const PUT = bffRoute(operations.editAsset);
export const DELETE = bffRoute(operations.deleteAsset);
