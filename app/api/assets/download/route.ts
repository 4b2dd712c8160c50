import { downloadRoute } from "@/lib/server/bff/file-routes";

export const POST = downloadRoute();
