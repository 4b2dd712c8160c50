// @vitest-environment jsdom
// Why a run did not begin, as shown to two kinds of members.
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { RunRefusal } from "@/components/apps/run-problems";
import { MemberProvider } from "@/components/frame/member-context";
import { type AppView } from "@/lib/contract/apps/app";
import { type Role } from "@/lib/contract/people/roles";
import { renderInApp } from "../components/render";

afterEach(cleanup);

type Refused = { status: number; code: string; details?: unknown };

function show(role: Role, refused: Refused): HTMLElement {
  const app: AppView = {
    ...{
      id: "app-1",
      title: "Poster",
      text: "",
      tags: [],
      hasCover: false,
      access: "team",
      version: 1,
      updatedAt: 0,
      inputs: [],
      limits: {},
    },
    ...{ maker: { id: "ada", name: "Ada" }, isFavourite: false, canEdit: false, canRun: true, connectionId: "home" },
    canSeeWorkflow: role !== "runner",
  };
  renderInApp(
    <MemberProvider role={role}>
      <RunRefusal app={app} failure={{ message: "said so", ...refused }} onRetry={() => undefined} />
    </MemberProvider>,
  );
  return screen.getByRole("alert");
}

it.each<[string, Refused]>([
  [
    "You have run this app 3 times today, the most allowed",
    { status: 429, code: "RATE_LIMITED", details: { limit: "runsPerDay", most: 3, again: 1e12 } },
  ],
  ["You have 2 runs in progress, the most allowed at once", { status: 429, code: "RATE_LIMITED", details: { limit: "atOnce", most: 2 } }],
  ["This app does not run on this service", { status: 422, code: "UNPROCESSABLE", details: { reason: "workflow" } }],
  ["This app cannot be run at the moment", { status: 502, code: "UPSTREAM_REFUSED_KEY" }],
  ["This app cannot be run at the moment", { status: 403, code: "FORBIDDEN" }],
  ["asks for payment, or its quota is used up. Tell Ada", { status: 402, code: "PAYMENT_REQUIRED" }],
])("tells whoever runs apps only in plain words: %s", (sentence, refused) => {
  const note = show("runner", refused);
  expect(note.textContent).toContain(sentence);
  expect(note.textContent).not.toMatch(/said so|limit:|reason|Settings|Cause/);
  expect(screen.queryByRole("link")).toBeNull();
});

it("leads whoever may see the workflow to the node that the service refuses", () => {
  show("operator", { status: 422, code: "UNPROCESSABLE", details: { reason: "workflow", node: "7" } });
  expect(screen.getByRole("link", { name: "Show the node" }).getAttribute("href")).toBe("/run?app=app-1&connection=home#node-7");
});

it("says the service's own failure to whoever can mend it", () => {
  expect(show("operator", { status: 502, code: "UPSTREAM_REFUSED_KEY" }).textContent).toContain("The service refused the key");
});
