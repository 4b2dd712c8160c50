// What cannot be run in a file of the graph editor, node by node. Facts only: sentences belong to the message catalogue.

/** The editor's own name for the values of a missing class: the file has them only by their place. */
export const UNNAMED = "UNKNOWN";

/** `nodeId`: as in the API graph, `outer:inner` inside a subgraph. */
export type EditorProblem =
  | { code: "not_an_editor_file" }
  | { code: "too_many_nodes"; most: number }
  /** `pack`: the node pack by its registry id or repository, if the file names it. */
  | { code: "missing_class"; nodeId: string; classType: string; title?: string; pack?: string; version?: string }
  | { code: "missing_subgraph"; nodeId: string; id: string }
  /** Several nodes have this id. Links and values use the last one. */
  | { code: "duplicate_id"; nodeId: string; count: number }
  | { code: "value_not_listed"; nodeId: string; input: string; value: unknown; nearest?: string | number | boolean }
  | { code: "default_used"; nodeId: string; input: string }
  /** The file has no value, and the class no default. */
  | { code: "value_missing"; nodeId: string; input: string }
  /** The link's node or the link itself is not in the file, or it leads back to where it came from. */
  | { code: "broken_link"; nodeId: string; input: string }
  /** The node before it is bypassed and has nothing of that type to pass on. */
  | { code: "bypass_passes_nothing"; nodeId: string; input: string }
  /** A Get node is connected to it, but no linked Set node has this name. */
  | { code: "not_set"; nodeId: string; input: string; name: string }
  /** The editor itself would round this number. */
  | { code: "digits_kept"; nodeId: string; input: string }
  /** A use of a subgraph is muted or bypassed inside another one; the editor sends its nodes all the same. */
  | { code: "inside_of_off_sent"; nodeId: string }
  /** A node pack links nodes by its own rules, which the file does not spell out. */
  | { code: "links_by_rule" };

/** Resolved automatically: an editor-only node was left out, or a Get node was replaced by its Set node's input. */
export type EditorNotice =
  { code: "left_out"; nodeId: string; classType: string; title?: string } | { code: "resolved"; nodeId: string; name: string };

export type EditorReport = { problems: readonly EditorProblem[]; notices: readonly EditorNotice[] };
