import { operations } from "@/lib/contract/operations";
import { optionalRoute } from "@/lib/server/bff/optional-route";

export const GET = optionalRoute(operations.listTags);
