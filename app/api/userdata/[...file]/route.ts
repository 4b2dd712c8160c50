import { operations } from "@/lib/contract/operations";
import { userdataPostRoute, userdataRoute } from "@/lib/server/bff/file-routes";

export const GET = userdataRoute(operations.readUserdata);
export const POST = userdataPostRoute();
export const DELETE = userdataRoute(operations.deleteUserdata);
