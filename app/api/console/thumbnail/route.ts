import { thumbnailRoute } from "@/lib/server/bff/thumbnail-route";

export const GET = thumbnailRoute();
