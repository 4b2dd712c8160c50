import { operations } from "@/lib/contract/operations";
import { optionalRoute } from "@/lib/server/bff/routes";

export const GET = optionalRoute(operations.getFeatures);
