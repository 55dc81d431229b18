/** Groups one day's lines of report and log by model. */
import type { LoggedRow } from './comparison.ts';
import { matchModels } from './match-models.ts';
import type { ReportedLine } from './provider-report.ts';

export interface DayGroup {
  readonly name: string | null;
  readonly type: 'model' | 'item' | 'all';
  readonly lines: readonly ReportedLine[];
  readonly logged: readonly LoggedRow[];
}

const NO_NAME = '(model not known)';

function loggedName({ model }: LoggedRow): string {
  if (model === null) return NO_NAME;
  return typeof model === 'string' ? model : `(${model.rest} other models)`;
}

/** Log names without a model match nothing. */
function listModelNames(lines: readonly ReportedLine[], logged: readonly LoggedRow[]): string[] {
  return [
    ...lines.flatMap(({ subject }) => (subject.type === 'model' ? [subject.name] : [])),
    ...logged.flatMap(({ model }) => (typeof model === 'string' ? [model] : [])),
  ];
}

export function groupDay(lines: readonly ReportedLine[], logged: readonly LoggedRow[]): readonly DayGroup[] {
  // A line without a model would match every model, so the whole day is one row.
  if (lines.some(({ subject }) => subject.type === 'all')) return [{ name: null, type: 'all', lines, logged }];
  const matched = matchModels(listModelNames(lines, logged));
  const groups = new Map<
    string,
    { name: string; type: 'model' | 'item'; lines: ReportedLine[]; logged: LoggedRow[] }
  >();
  function groupOf(type: 'model' | 'item', name: string) {
    const key = `${type} ${name}`;
    const group = groups.get(key) ?? { name, type, lines: [], logged: [] };
    groups.set(key, group);
    return group;
  }
  for (const line of lines) {
    const { subject } = line;
    if (subject.type === 'item') groupOf('item', subject.name).lines.push(line);
    else if (subject.type === 'model') groupOf('model', matched.get(subject.name) ?? subject.name).lines.push(line);
  }
  for (const row of logged) {
    const name = loggedName(row);
    groupOf('model', typeof row.model === 'string' ? (matched.get(name) ?? name) : name).logged.push(row);
  }
  return [...groups.values()];
}

export function otherNames(group: DayGroup): readonly string[] {
  if (group.type !== 'model') return [];
  return [...new Set(group.logged.map(loggedName))].filter((name) => name !== group.name).sort();
}
