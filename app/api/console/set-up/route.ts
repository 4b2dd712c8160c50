import { setUpBodySchema } from "@/lib/contract/console";
import { setUp } from "@/lib/server/auth/set-up";
import { toViewer } from "@/lib/server/auth/viewer";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { tokenRoute } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const POST = tokenRoute("setUp", setUpBodySchema, async ({ console, note }, body) => {
  const owner = await setUp(console, body);
  if (owner.ok) note({ viewer: toViewer(owner.value) });
  return owner.ok ? ok(jsonAnswer({ id: owner.value.id }, 201)) : owner;
});
