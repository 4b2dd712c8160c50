import { redirect } from "next/navigation";
import { requireViewer } from "@/lib/server/auth/viewer";

export default async function HomePage() {
  await requireViewer();
  redirect("/jobs");
}
