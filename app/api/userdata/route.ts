import { userdataListRoute } from "@/lib/server/bff/file-routes";

export const GET = userdataListRoute();
