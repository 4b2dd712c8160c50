import { setUpBodySchema } from "@/lib/contract/console";
import { setUp } from "@/lib/server/auth/set-up";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { tokenRoute } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const POST = tokenRoute("setUp", setUpBodySchema, async ({ console }, body) => {
  const owner = await setUp(console, body);
  return owner.ok ? ok(jsonAnswer({ id: owner.value.id }, 201)) : owner;
});
