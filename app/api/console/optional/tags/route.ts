import { operations } from "@/lib/contract/operations";
import { optionalRoute } from "@/lib/server/bff/bff-route";

export const GET = optionalRoute(operations.listTags);
