import { userdataListRoute } from "@/lib/server/files/userdata-route";

export const GET = userdataListRoute();
