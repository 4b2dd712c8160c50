// Which acts of the audit log one press may do to many things, and which acts belong together in one press.
// Guarantees: pure. A row that holds several acts of a family is named after the family's first act.

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

/** Undefined: the act is done to one thing at a time. */
export function familyOf(action: string): string | undefined {
  return families.find((actions) => actions.includes(action))?.[0];
}
