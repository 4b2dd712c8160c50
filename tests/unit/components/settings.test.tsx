// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { faultyField } from "@/components/settings/faulty-field";
import { Outcome } from "@/components/settings/outcome";
import { readConnectionForm } from "@/components/settings/read-connection-form";
import { checkOutcomes } from "@/lib/contract/console";
import { renderInApp } from "./render";

afterEach(cleanup);

describe("the answer to a connection's check", () => {
  it("is another sentence and another advice for each of the four outcomes", () => {
    renderInApp(checkOutcomes.map((outcome) => <Outcome key={outcome} check={{ outcome, message: "" }} />));
    const said = screen.getAllByRole("status").map((element) => element.textContent);
    expect(said).toHaveLength(4);
    expect(new Set(said).size).toBe(4);
  });

  it("repeats what the other side said only where something is wrong", () => {
    renderInApp(
      <>
        <Outcome check={{ outcome: "active", message: "fine" }} />
        <Outcome check={{ outcome: "refused", message: "key revoked" }} />
      </>,
    );
    expect(screen.queryByText("fine")).toBeNull();
    expect(screen.getByText("key revoked")).toBeDefined();
  });
});

describe("the connection's form", () => {
  it("leaves out an empty key, so that a change keeps the stored one, and sends an empty account URL, so that it can be taken away", () => {
    const data = new FormData();
    for (const [name, value] of Object.entries({ name: " Studio ", baseUrl: "https://a.example", accountUrl: "", key: "" }))
      data.set(name, value);
    expect(readConnectionForm(data)).toEqual({ name: "Studio", baseUrl: "https://a.example", accountUrl: "" });
  });

  it("says nothing of an account URL where there is no field for one", () => {
    const data = new FormData();
    data.set("name", "Embedded");
    expect(readConnectionForm(data)).toEqual({ name: "Embedded" });
  });

  it("puts a refusal beside the field that it names, with its whole reason", () => {
    const failure = { code: "INVALID_BODY", status: 400, message: "baseUrl: must be an address that begins with http:// or https://" };
    expect(faultyField(failure)).toEqual({ name: "baseUrl", message: "must be an address that begins with http:// or https://" });
    expect(faultyField({ ...failure, message: "nonsense: is no field" })).toBeUndefined();
    expect(faultyField({ ...failure, status: 502 })).toBeUndefined();
  });
});
