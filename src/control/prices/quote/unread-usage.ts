/** Finds unread numbers of a usage object, so that a misspelt field is not a silent zero. */
import { isObject, readName } from '../../../formats/usage/read-json.ts';
import type { JsonObject, JsonValue, ReportedUsage } from '../../../vocabulary/token-usage.ts';
import { QuoteError } from './quote-input.ts';

/** More than any provider reports; each costs a reading. */
const MAX_NUMBERS = 200;
const MAX_DEPTH = 6;

/** These repeat other members, so nothing is lost with them. */
const REPEATED_NAMES =
  /^(?:total_?tokens|totalTokenCount|text_?tokens|cached_tokens|prompt_cache_miss_tokens|(?:accepted|rejected)_prediction_tokens)$/i;

type Path = readonly string[];

interface UsageNumber {
  readonly path: Path;
  readonly value: number | string;
}

/** Text, and writes of the default lifetime, are the remainder of a sum. */
function isOfText(holder: JsonValue): boolean {
  return /^(?:text|document)$/i.test(readName(holder, 'modality') ?? '') || readName(holder, 'ttl') === '5m';
}

/** Includes numbers written as text; arrays have indices for names. */
function listNumbers(value: JsonValue, path: Path): readonly UsageNumber[] {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))) return [{ path, value }];
  if (typeof value !== 'object' || value === null || path.length >= MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([name, member]) => listNumbers(member, [...path, name]));
}

/** Throws a QuoteError for an object that no provider would send as usage. */
export function checkUsageNumbers(usage: JsonObject): void {
  const numbers = listNumbers(usage, []);
  if (numbers.length > MAX_NUMBERS)
    throw new QuoteError('usage_invalid', `usage: it has more than ${MAX_NUMBERS} numbers.`);
  const wrong = numbers.find(({ value }) => Number(value) < 0 || Number(value) > Number.MAX_SAFE_INTEGER);
  if (wrong !== undefined)
    throw new QuoteError('usage_invalid', `usage: ${wrong.path.join('.')} is ${wrong.value}, which is no count.`);
}

function raise(value: JsonValue, [name, ...rest]: Path): JsonValue {
  if (name === undefined) return typeof value === 'number' ? value + 1 : String(Number(value) + 1);
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === name ? raise(item, rest) : item));
  if (!isObject(value)) return value;
  return { ...value, [name]: raise(value[name] ?? null, rest) };
}

/** What a record would say, without the copy of the provider's object. */
function withoutNative({ usage, ...rest }: ReportedUsage): string {
  return JSON.stringify({ ...rest, usage: usage === null ? null : { ...usage, native: null } });
}

/** Paths such as `prompt_tokens_details.cachd_tokens`; zeros are ignored. */
export function listUnreadUsage(usage: JsonObject, read: (usage: JsonObject) => ReportedUsage): readonly string[] {
  const before = withoutNative(read(usage));
  const isUnread = ({ path }: UsageNumber): boolean => {
    const raised = raise(usage, path);
    return isObject(raised) && withoutNative(read(raised)) === before;
  };
  const holderOf = (path: Path) =>
    path
      .slice(0, -1)
      .reduce<JsonValue>(
        (holder, name) =>
          (Array.isArray(holder) ? holder[Number(name)] : isObject(holder) ? holder[name] : null) ?? null,
        usage,
      );
  return listNumbers(usage, [])
    .filter(
      ({ path, value }) => Number(value) !== 0 && !REPEATED_NAMES.test(path.at(-1) ?? '') && !isOfText(holderOf(path)),
    )
    .filter(isUnread)
    .map(({ path }) => path.join('.'));
}
