// Compares the OpenAPI document of an app with its real answers.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppWorld, createAppWorld, picture } from "./app-world";

let world: AppWorld;
beforeAll(async () => {
  world = await createAppWorld();
});
afterAll(() => world.dispose());
const png = async (size: number) => new File([new Uint8Array(await picture(size, size))], "photo.png", { type: "image/png" });

test("what an app's document describes is there: each of its operations answers who runs apps only", async () => {
  const app = await world.make();
  const { body: document } = await world.ask(`/api/apps/${app.id}/openapi`, { as: "runner" });
  const begun = await world.run(app, { picture: await png(9) });
  await world.ended(app, begun.body.run.id);
  const statuses: Record<string, number> = {};
  for (const [path, methods] of Object.entries<Record<string, { operationId: string; responses: object }>>(document.paths))
    for (const [method, described] of Object.entries(methods)) {
      const address = path.replace("{run}", begun.body.run.id).replace("{number}", "1");
      const form = new FormData();
      form.set(path.endsWith("/files") ? "file" : "picture", await png(10), "p.png");
      const encoded = new Response(form);
      const sent = "requestBody" in described && {
        headers: { "content-type": encoded.headers.get("content-type") ?? "" },
        body: await encoded.arrayBuffer(),
      };
      const answer = await world.harness.request(address, { as: "runner", method: method.toUpperCase(), ...sent });
      await answer.arrayBuffer();
      statuses[described.operationId] = answer.status;
      expect(Object.keys(described.responses)).toContain(String(answer.status));
    }
  expect(statuses).toEqual({ runApp: 202, listAppRuns: 200, readAppRun: 200, cancelAppRun: 200, viewAppResult: 200, addAppFile: 201 });
});
