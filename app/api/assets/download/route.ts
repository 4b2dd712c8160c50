import { downloadRoute } from "@/lib/server/bff/download-route";

export const POST = downloadRoute();
