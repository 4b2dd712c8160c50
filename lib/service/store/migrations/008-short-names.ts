// The search index also has pieces of one and two letters of a name. It is filled anew once, at the next start: with a million assets that
// takes a minute or two.

export const shortNames = {
  name: "008-short-names",
  sql: `
INSERT INTO asset_search (asset_search) VALUES ('delete-all');
DELETE FROM asset_tag_codes;
DELETE FROM assets_unsearched;
INSERT INTO assets_unsearched (asset_seq) SELECT seq FROM assets;
`,
};
