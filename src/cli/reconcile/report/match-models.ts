/**
 * Matches the names of one day by two rules: equal text, or an undated name (an alias) when the day has exactly one
 * dated snapshot of it.
 */

/** `-2024-08-06`, `-20250514`, OpenAI's older `-0613`; `-latest` is an alias. */
const SNAPSHOT = /-(?:20\d{2}-\d{2}-\d{2}|20\d{6}|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/;
const LATEST = /-latest$/;

function readName(name: string): { readonly base: string; readonly isDated: boolean } {
  if (SNAPSHOT.test(name)) return { base: name.replace(SNAPSHOT, ''), isDated: true };
  return { base: name.replace(LATEST, ''), isDated: false };
}

export function matchModels(names: Iterable<string>): ReadonlyMap<string, string> {
  const byBase = new Map<string, string[]>();
  const all = [...new Set(names)];
  for (const name of all) {
    const { base } = readName(name);
    byBase.set(base, [...(byBase.get(base) ?? []), name]);
  }
  return new Map(
    all.map((name) => {
      const { base, isDated } = readName(name);
      const [snapshot, second] = (byBase.get(base) ?? []).filter((other) => readName(other).isDated);
      return [name, isDated || snapshot === undefined || second !== undefined ? name : snapshot];
    }),
  );
}
