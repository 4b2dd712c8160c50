import { authRoute } from "@/lib/server/bff/auth-route";

export const GET = authRoute();
export const POST = authRoute();
