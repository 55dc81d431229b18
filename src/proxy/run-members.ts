/** The run ids in a request's JSON, by the sources' names in a key's `runs_from`. */
import { readSessionOfUserId } from '../clients/claude-code-agent.ts';
import { scanTopLevel, type TopLevelMember } from '../formats/wire/json-top-level.ts';

/**
 * Sources that are members of the body: `metadata.KEY`, `requestMetadata.KEY`, `labels.KEY`, `conversation`,
 * `previous_response_id`.
 */
const OF_BODY = /^(conversation|previous_response_id|metadata|requestMetadata|labels)(?:\.(.+))?$/;

/** The top-level members that the sources are in; empty where none is in the body. */
export function listRunMembers(sources: readonly string[]): readonly string[] {
  const members: string[] = [];
  for (const source of sources) {
    const member = OF_BODY.exec(source)?.[1];
    if (member !== undefined) members.push(member);
  }
  return members;
}

/** Null where no source has a text in this body. */
export function readRunMembers(
  json: Buffer,
  members: ReadonlyMap<string, TopLevelMember>,
  sources: readonly string[],
): ReadonlyMap<string, string> | null {
  const found = new Map<string, string>();
  for (const source of sources) {
    const [, name = '', key] = OF_BODY.exec(source) ?? [];
    const member = members.get(name);
    if (member === undefined) continue;
    const value = readValue(json, member, key ?? 'id');
    // OpenAI's `conversation` is an id, or an object with one; the others are objects.
    const text = key === undefined && typeof member.scalar === 'string' ? member.scalar : value;
    if (typeof text !== 'string' || text === '') continue;
    found.set(source, source === 'metadata.user_id' ? (readSessionOfUserId(text) ?? text) : text);
  }
  return found.size === 0 ? null : found;
}

function readValue(json: Buffer, { valueStart, valueEnd }: TopLevelMember, key: string): TopLevelMember['scalar'] {
  if (valueEnd === null) return undefined;
  return scanTopLevel(json.subarray(valueStart, valueEnd), [key]).members.get(key)?.scalar;
}
