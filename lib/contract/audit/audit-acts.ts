// Acts of the audit log that one press may do to many things, and those that go together in one press.
// Guarantees: pure. The first of a family is what a row of several of its acts is called.

const families: readonly (readonly string[])[] = [
  ["uploadAsset", "createAssetFromHash"],
  ["editAsset", "addTags", "removeTags"],
  ["cancelJobs", "manageQueue", "stopJobs", "cancelJob", "cancelOneJob"],
  ["manageHistory"],
  ["submitPrompt"],
  ["deleteAsset"],
  ["writeUserdata"],
  ["moveUserdata"],
  ["deleteUserdata"],
  ["downloadAsset"],
  ["cancelDownload"],
  ["retryDownload"],
  ["forgetDownload"],
];

/** Undefined: done to one thing at a time. */
export function familyOf(action: string): string | undefined {
  return families.find((actions) => actions.includes(action))?.[0];
}
