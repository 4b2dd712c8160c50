import { downloadRoute } from "@/lib/server/tasks/download-route";

export const POST = downloadRoute();
