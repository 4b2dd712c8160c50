import { userdataListRoute } from "@/lib/server/bff/userdata-route";

export const GET = userdataListRoute();
