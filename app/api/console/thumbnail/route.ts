import { thumbnailRoute } from "@/lib/server/bff/file-routes";

export const GET = thumbnailRoute();
