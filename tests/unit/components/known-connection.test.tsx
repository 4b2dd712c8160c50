// @vitest-environment jsdom
// An address that names a connection which the member does not have.
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { KnownConnection } from "@/components/frame/connection/known-connection";
import { AtPage } from "@/tests/support/at-page";
import { renderInApp } from "./render";

afterEach(cleanup);

const home = { id: "home", name: "Studio", embedded: true };
const open = (pathname: string, search: string, connections = [home]) =>
  renderInApp(
    <AtPage pathname={pathname} search={new URLSearchParams(search)}>
      <ConnectionProvider currentId={connections[0]?.id} connections={connections}>
        <KnownConnection>the page</KnownConnection>
      </ConnectionProvider>
    </AtPage>,
  );

it("says that the connection does not exist or is somebody else's, and opens the same page on the one in use", async () => {
  open("/jobs", "status=failed&connection=ghost");
  expect(await screen.findByRole("heading", { name: "You have no access to this connection" })).toBeDefined();
  expect(screen.getByRole("link", { name: "Open this page on Studio" }).getAttribute("href")).toBe("/jobs?status=failed");
  expect(screen.queryByText("the page")).toBeNull();
});

it("leads to Settings where there is no connection at all", async () => {
  open("/queue", "connection=ghost", []);
  expect((await screen.findByRole("link", { name: "Open settings" })).getAttribute("href")).toBe("/settings");
});

it.each([
  ["/jobs", ""],
  ["/jobs", "connection=home"],
  ["/settings/members", "connection=ghost"],
])("shows %s?%s as it is", (pathname, search) => {
  open(pathname, search);
  expect(screen.getByText("the page")).toBeDefined();
});
