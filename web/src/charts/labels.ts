// Labels in place of items. Charts tell values apart by their texts, so two items never have the same one.

/** Returns labels by item. Items that share a label have their identifier after it. */
export function uniqueLabels(labels: [id: string, label: string][]): Map<string, string> {
  const uses = new Map<string, number>();
  for (const [, label] of labels) uses.set(label, (uses.get(label) ?? 0) + 1);
  return new Map(labels.map(([id, label]) => [id, (uses.get(label) ?? 0) > 1 ? `${label} (${id})` : label]));
}
