/** The differences between a direct call and the same call through the gateway, one by one. It judges none of them. */
import type { RecordedRequest } from '../support/fake-provider.ts';
import type { RawAnswer } from '../support/read-raw-answer.ts';

export type Edit =
  | { readonly kind: 'path'; readonly before: string; readonly after: string }
  /** Null: not there. */
  | {
      readonly kind: 'request-header';
      readonly name: string;
      readonly before: string | null;
      readonly after: string | null;
    }
  | {
      readonly kind: 'answer-header';
      readonly name: string;
      readonly before: string | null;
      readonly after: string | null;
    }
  /** The body is the same but for what was inserted at one place; null when it differs otherwise. */
  | { readonly kind: 'request-body'; readonly inserted: string | null }
  | { readonly kind: 'other'; readonly what: string };

export interface Seen {
  readonly request: RecordedRequest;
  readonly answer: RawAnswer;
}

interface Header {
  readonly name: string;
  /** Name and value as on the wire. */
  readonly line: string;
  readonly value: string;
}

function headersOf(raw: readonly string[]): Header[] {
  return Array.from({ length: raw.length / 2 }, (_, index) => {
    const [name = '', value = ''] = raw.slice(index * 2, index * 2 + 2);
    return { name: name.toLowerCase(), line: `${name}: ${value}`, value };
  });
}

/** Headers of names that both sides have the same lines of, in the same places among each other, are no edit. */
function listHeaderEdits(
  kind: 'request-header' | 'answer-header',
  before: readonly string[],
  after: readonly string[],
): Edit[] {
  const [own, other] = [headersOf(before), headersOf(after)];
  const names = [...new Set([...own, ...other].map(({ name }) => name))];
  const linesOf = (headers: readonly Header[], name: string): string =>
    headers.flatMap((header) => (header.name === name ? [header.line] : [])).join('\n');
  const edited = names.filter((name) => linesOf(own, name) !== linesOf(other, name));
  const firstValue = (headers: readonly Header[], name: string): string | null =>
    headers.find((header) => header.name === name)?.value ?? null;
  const edits = edited.map(
    (name): Edit => ({ kind, name, before: firstValue(own, name), after: firstValue(other, name) }),
  );
  return [...edits, ...listMoved(kind, own, other, edited)];
}

/** Of the headers that are the same: those before which others come than in the direct call. */
function listMoved(
  kind: 'request-header' | 'answer-header',
  own: readonly Header[],
  other: readonly Header[],
  edited: readonly string[],
): Edit[] {
  // The values of a hop's headers may happen to be the same; their place is still the hop's.
  const isFixed = ({ name }: Header): boolean => !edited.includes(name) && !HOP.includes(name);
  const [expected, found] = [own.filter(isFixed), other.filter(isFixed)];
  const at = expected.findIndex(({ line }, index) => line !== found[index]?.line);
  return at === -1 ? [] : [{ kind: 'other', what: `${kind} in another place: ${expected[at]?.line}` }];
}

/** Those of whose place nothing is said here; whether they may differ is for the document to say. */
const HOP = ['host', 'connection', 'content-length', 'transfer-encoding'];

function listBodyEdits(before: Buffer, after: Buffer): Edit[] {
  if (before.equals(after)) return [];
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  // What was inserted may begin with the byte that stands behind it: any place that leaves the rest equal will do.
  for (let at = same; at >= 0 && at > same - 8; at -= 1) {
    const inserted = after.subarray(at, at + after.length - before.length);
    const isOnlyThat = after.subarray(at + inserted.length).equals(before.subarray(at));
    const text = inserted.toString();
    if (isOnlyThat && text.startsWith('"')) return [{ kind: 'request-body', inserted: text }];
  }
  return [{ kind: 'request-body', inserted: null }];
}

export function listEdits(direct: Seen, through: Seen): Edit[] {
  const edits: Edit[] = [];
  const [before, after] = [direct.request, through.request];
  if (before.target !== after.target) edits.push({ kind: 'path', before: before.target, after: after.target });
  const lineOf = (request: RecordedRequest): string => request.requestLine.replace(request.target, '');
  if (lineOf(before) !== lineOf(after)) edits.push({ kind: 'other', what: 'request line' });
  edits.push(...listHeaderEdits('request-header', before.rawHeaders, after.rawHeaders));
  edits.push(...listBodyEdits(before.body(), after.body()));

  const [plain, passed] = [direct.answer, through.answer];
  if (plain.statusLine !== passed.statusLine) edits.push({ kind: 'other', what: `status line ${passed.statusLine}` });
  edits.push(...listHeaderEdits('answer-header', plain.rawHeaders, passed.rawHeaders));
  if (!plain.body.equals(passed.body)) edits.push({ kind: 'other', what: 'answer body' });
  if (plain.end !== passed.end) edits.push({ kind: 'other', what: `answer ends ${passed.end}` });
  return edits;
}
